import type { ReadGate } from '../engine/follow/hub.ts'
import { ApiError } from '../protocol/api-error.ts'
import { createFairReads } from './fair-reads.ts'
import type { Limits } from './handler-options.ts'

/**
 * Counts the bytes of request bodies from their arrival until the request is answered, for each owner and for the
 * process: a client that never finishes its bodies, or sends many at once, would otherwise fill the memory (OP7).
 */
export interface BodyBytes {
  open(ownerId: string): BodyMeter
  readonly bytes: number
}

/** Counts one body. */
export interface BodyMeter {
  /** Refuses with 429 what is over a limit, and does not count it. */
  hold(this: void, bytes: number): void
  /**
   * Parses one that takes long, one after the other for each owner: a hundred connections of one person that each bring
   * one at once would otherwise block the event loop for seconds.
   */
  readonly inLine: ReadGate
  /** The request is answered, or its client has gone. */
  release(this: void): void
}

export function createBodyBytes(
  limits: Pick<Limits, 'bodyBytes' | 'unreadBytesPerOwner' | 'unreadBytes'>,
): BodyBytes {
  const owners = new Map<string, number>()
  const lines = createFairReads(() => true)
  let all = 0
  const check = (own: number, total: number) => {
    // One body fits in any case: an owner without another one is refused neither by a small limit nor because others
    // have filled the process.
    if (own <= limits.bodyBytes) return
    if (own > limits.unreadBytesPerOwner) {
      throw new ApiError(429, 'too-many', 'You have too many bytes of unanswered requests.')
    }
    if (total > limits.unreadBytes) {
      throw new ApiError(429, 'too-many', 'This server has too many bytes of unanswered requests.')
    }
  }
  return {
    get bytes() {
      return all
    },
    open(ownerId) {
      let held = 0
      return {
        inLine: lines.gateOf(ownerId),
        hold(bytes) {
          const own = (owners.get(ownerId) ?? 0) + bytes
          check(own, all + bytes)
          owners.set(ownerId, own)
          all += bytes
          held += bytes
        },
        release() {
          const left = (owners.get(ownerId) ?? 0) - held
          if (left > 0) owners.set(ownerId, left)
          else owners.delete(ownerId)
          all -= held
          held = 0
        },
      }
    },
  }
}
