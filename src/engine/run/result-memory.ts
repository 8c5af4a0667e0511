import type { OwnerId } from '../../core/ids.ts'

/** How much memory the results of one owner's running turns, and of all running turns, may take together, in bytes. */
export interface ResultLimits {
  readonly ofOwner: number
  readonly ofAll: number
  /** An owner with no more than this is never refused, however much others hold. */
  readonly ofEach: number
}

const mebi = 1_048_576

export const toResultLimits = (maxTurnChars: number): ResultLimits => {
  const ofOwner = Math.max(256 * mebi, 4 * maxTurnChars)
  return { ofOwner, ofAll: 2 * ofOwner, ofEach: ofOwner / 8 }
}

/**
 * The memory of results. A running turn has those of all its calls in memory, for its next prompt: one person who starts many
 * turns with large ones would otherwise end the process, and with it the turns of all others (OP7).
 */
export interface ResultMemory {
  open(ownerId: OwnerId): RunResults
}

export interface RunResults {
  /** The turn has at least so much by now: it may have been begun by another run. */
  count(bytes: number): void
  /** Holds one result more. False: it would be too much, and nothing is held. */
  hold(bytes: number): boolean
  release(): void
}

export function createResultMemory(limits: ResultLimits): ResultMemory {
  const held = new Map<OwnerId, number>()
  let total = 0
  const grow = (ownerId: OwnerId, bytes: number) => {
    const ofOwner = (held.get(ownerId) ?? 0) + bytes
    if (ofOwner > 0) held.set(ownerId, ofOwner)
    else held.delete(ownerId)
    total += bytes
  }
  return {
    open(ownerId) {
      let own = 0
      let isReleased = false
      const resize = (bytes: number) => {
        grow(ownerId, bytes - own)
        own = bytes
      }
      return {
        count(bytes) {
          if (!isReleased && bytes > own) resize(bytes)
        },
        hold(bytes) {
          // The run has ended, but not the tool: its result is dropped, and must not be held for ever.
          if (isReleased) return true
          const ofOwner = (held.get(ownerId) ?? 0) + bytes
          const isRefused = ofOwner > limits.ofOwner || total + bytes > limits.ofAll
          if (isRefused && ofOwner > limits.ofEach) return false
          resize(own + bytes)
          return true
        },
        release() {
          resize(0)
          isReleased = true
        },
      }
    },
  }
}
