import { createFairGate, type Leave } from '../core/fair-gate.ts'
import { type Clock, elapsedMs, wait } from '../engine/clock.ts'
import { ApiError } from '../protocol/api-error.ts'

/**
 * Large imports, two at once in a process and one of each owner, from the moment that the body is large until it is stored:
 * the body is in memory, and what is read from it takes some times as much as a message. The others wait, and nothing more
 * of their bodies is read (OP7).
 */
export interface LargeImports {
  /** `client` aborts when nobody waits for the import any more. */
  open(ownerId: string, client: AbortSignal): LargeImport
}

/** One import. */
export interface LargeImport {
  /** Waits for a place, once; refused with 429 if it takes too long. */
  enter(this: void): Promise<void>
  /** The body is complete: from now on only the server decides how long it takes. */
  hasArrived(): void
  /** May be called more than once. */
  leave(): void
  /** Aborts with a 429 when the body has taken too long while another owner waited for a place. */
  readonly signal: AbortSignal
}

const largeAtOnce = 2
/**
 * A body may arrive as slowly as it likes until another owner waits for its place. Otherwise two that are never finished
 * would keep all others out for as long as their connections last.
 */
const arrivalMs = 60_000
/** Node gives up a request that has not arrived after 300 s: ours is answered before. */
const longestWaits = 4

export function createLargeImports(clock: Clock): LargeImports {
  const enterGate = createFairGate(largeAtOnce)
  /** In the order in which they have entered. */
  const arriving = new Set<Arriving>()
  /** Each owner has one place, and nobody else's is of use to an owner who has that. */
  const inside = new Set<string>()
  /** Of those that have had their time, the oldest. */
  const giveUpFor = (ownerId: string) => {
    if (inside.has(ownerId)) return
    const oldest = arriving.values().find((each) => each.ownerId !== ownerId)
    if (oldest === undefined || elapsedMs(clock) - oldest.since < arrivalMs) return
    arriving.delete(oldest)
    oldest.giveUp()
  }
  return {
    open(ownerId, client) {
      const given = new AbortController()
      const self: Arriving = {
        ownerId,
        since: 0,
        giveUp: () => given.abort(tooMany('This import arrives too slowly while another waits.')),
      }
      let entering: Promise<void> | undefined
      let leaveGate: Leave | undefined
      let hasLeft = false

      const enter = async () => {
        const entered = new AbortController()
        void enterGate(ownerId).then((leave) => {
          if (hasLeft) {
            leave()
            return
          }
          inside.add(ownerId)
          leaveGate = () => {
            inside.delete(ownerId)
            leave()
          }
          entered.abort()
        })
        const over = AbortSignal.any([client, entered.signal])
        for (let waits = 0; waits < longestWaits; waits++) {
          await wait(clock, arrivalMs, over)
          if (entered.signal.aborted) {
            self.since = elapsedMs(clock)
            arriving.add(self)
            return
          }
          if (client.aborted) break
          giveUpFor(ownerId)
        }
        throw tooMany('Too many large imports are being stored here.')
      }

      return {
        signal: given.signal,
        enter: () => (entering ??= enter()),
        hasArrived: () => void arriving.delete(self),
        leave() {
          hasLeft = true
          arriving.delete(self)
          leaveGate?.()
          leaveGate = undefined
        },
      }
    },
  }
}

interface Arriving {
  readonly ownerId: string
  since: number
  readonly giveUp: () => void
}

const tooMany = (message: string): ApiError => new ApiError(429, 'too-many', message)
