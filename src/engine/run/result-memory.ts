import type { OwnerId } from '../../core/ids.ts'

/** How many characters the results of one owner's running turns, and of all running turns, may have together. */
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
  /** How large the turn is by now: it may have been begun by another run. */
  count(chars: number): void
  /** Holds one result more. False: it would be too much, and nothing is held. */
  hold(chars: number): boolean
  release(): void
}

export function createResultMemory(limits: ResultLimits): ResultMemory {
  const held = new Map<OwnerId, number>()
  let total = 0
  const grow = (ownerId: OwnerId, chars: number) => {
    const ofOwner = (held.get(ownerId) ?? 0) + chars
    if (ofOwner > 0) held.set(ownerId, ofOwner)
    else held.delete(ownerId)
    total += chars
  }
  return {
    open(ownerId) {
      let own = 0
      let isReleased = false
      const resize = (chars: number) => {
        grow(ownerId, chars - own)
        own = chars
      }
      return {
        count(chars) {
          if (!isReleased) resize(chars)
        },
        hold(chars) {
          // The run has ended, but not the tool: its result is dropped, and must not be held for ever.
          if (isReleased) return true
          const ofOwner = (held.get(ownerId) ?? 0) + chars
          const isRefused = ofOwner > limits.ofOwner || total + chars > limits.ofAll
          if (isRefused && ofOwner > limits.ofEach) return false
          resize(own + chars)
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
