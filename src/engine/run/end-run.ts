import type { NewTurnEvent } from '../../core/event.ts'
import type { Turn, TurnEnding } from '../../core/message.ts'
import type { InputQueue } from '../../core/queued-input.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import { pauseOf } from '../clock.ts'
import { planEnd } from './plan-end.ts'
import type { EndableRun } from './run-context.ts'

interface RunEnd {
  readonly ending: TurnEnding
  /** The events that end the turn, planned against the turn at commit time. */
  readonly plan: (turn: Turn) => readonly NewTurnEvent[]
  /** Returns true if the run has to go on instead: then nothing is written. @default never */
  readonly unless?: (turn: Turn, queue: InputQueue) => boolean
}

/**
 * Commits the end of the turn and releases the lease with it, or begins the turn of the first queued input (IN2). A
 * concurrent write, such as a decision or an input, makes it plan again. False: `unless` held, and the run goes on.
 */
export async function endRun(
  { ledger, clock, hooks }: EndableRun,
  { ending, plan, unless }: RunEnd,
): Promise<boolean> {
  const { successor } = ledger
  return retryWhileStale(pauseOf(clock), async () => {
    let isOver = true
    const stored = await ledger.commitIfCurrent((turn, queue) => {
      isOver = unless?.(turn, queue) !== true
      if (!isOver) return null
      return planEnd(plan(turn), queue, ending.kind, clock.now(), () => successor.prepare())
    }, 'release')
    if (!isOver) {
      successor.discard()
      return false
    }
    if (stored === null) return 'stale'
    hooks.turnEnded(ending, ledger.turn)
    if (stored.next === null) successor.discard()
    else successor.launch(stored.next)
    return true
  })
}
