import type { ByteMeter } from '../engine/follow/byte-stream.ts'
import { ApiError } from '../protocol/api-error.ts'
import type { Limits } from './handler-options.ts'

/**
 * Counts the bytes that were produced for clients and not yet consumed by their sockets, for each owner and for the
 * process. Bytes that several streams share count once, because they are in memory once (OP7a).
 */
export interface InFlight {
  /**
   * Whether another read may be made for the owner now: not while they have too many unread bytes, nor while the process
   * has and some are theirs.
   */
  hasRoom(this: void, ownerId: string): boolean
  /** Refuses a new request with 429 where `hasRoom` is false: its reads would only wait. */
  admit(ownerId: string): void
  meterOf(ownerId: string): ByteMeter
  readonly bytes: number
}

export function createInFlight(
  limits: Pick<Limits, 'unreadBytesPerOwner' | 'unreadBytes'>,
  onRelease: () => void,
): InFlight {
  const all = createByteCounter()
  const owners = new Map<string, ByteCounter>()
  const bytesOf = (ownerId: string) => owners.get(ownerId)?.bytes ?? 0
  const isOwnerFull = (ownerId: string) => bytesOf(ownerId) >= limits.unreadBytesPerOwner
  // An owner who reads what they are sent goes on even while others have filled the process: one read at a time, because
  // the next one waits until this is true again.
  const hasRoom = (ownerId: string) =>
    !isOwnerFull(ownerId) && (all.bytes < limits.unreadBytes || bytesOf(ownerId) === 0)
  return {
    get bytes() {
      return all.bytes
    },
    admit(ownerId) {
      if (hasRoom(ownerId)) return
      const who = isOwnerFull(ownerId) ? 'You have' : 'This server has'
      throw new ApiError(429, 'too-many', `${who} too many unread response bytes.`)
    },
    hasRoom,
    meterOf: (ownerId) => ({
      hold(piece) {
        const own = owners.get(ownerId) ?? createByteCounter()
        owners.set(ownerId, own)
        own.hold(piece)
        all.hold(piece)
      },
      release(piece) {
        const own = owners.get(ownerId)
        own?.release(piece)
        if (own?.bytes === 0) owners.delete(ownerId)
        all.release(piece)
        onRelease()
      },
    }),
  }
}

interface ByteCounter extends ByteMeter {
  readonly bytes: number
}

function createByteCounter(): ByteCounter {
  const pieces = new Map<Uint8Array, number>()
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    hold(piece) {
      const count = pieces.get(piece) ?? 0
      if (count === 0) bytes += piece.byteLength
      pieces.set(piece, count + 1)
    },
    release(piece) {
      const count = pieces.get(piece) ?? 0
      if (count > 1) pieces.set(piece, count - 1)
      else if (pieces.delete(piece)) bytes -= piece.byteLength
    },
  }
}
