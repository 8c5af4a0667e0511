import { isOpenCall } from '../../core/call.ts'
import type { NewTurnEvent } from '../../core/event.ts'
import { foldOn } from '../../core/fold-turn.ts'
import type { ThreadId } from '../../core/ids.ts'
import { callsOf, hasOmittedOutput, type Turn } from '../../core/message.ts'
import { planTurnEnd } from '../../core/plan-turn-end.ts'
import type { CommitResult } from '../run/committer.ts'
import type { TurnPlace } from '../call-scope.ts'
import { pauseOf } from '../clock.ts'
import type { Engine } from '../engine.ts'
import type { FindTurn } from './answer-reads.ts'
import { nextOptionsOutside } from '../agent/known-tools.ts'
import { planNext } from '../run/plan-next.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import type { FoundTurn } from '../../store/store.ts'
import { resumeRecorded } from '../record/resume-recorded.ts'

export interface PlannedAnswer<Answer> {
  readonly events: readonly NewTurnEvent[]
  /** The result to return once the events are stored. */
  readonly answer: Answer
}

/**
 * Applies input from outside the run of a turn (a decision, a tool output, a resolution), and resumes the turn in the
 * same commit if that was all it waited for (AP5). In two commits, a crash between them would leave a waiting turn that
 * nothing resumes. Planned on the stored turn, and planned again if it has changed; null if there is no such turn.
 */
export async function applyInput<Answer>(
  engine: Engine,
  threadId: ThreadId,
  find: FindTurn,
  plan: (turn: Turn, place: TurnPlace) => PlannedAnswer<Answer> | Promise<PlannedAnswer<Answer>>,
): Promise<Answer | null> {
  let results: 'bounded' | 'full' = 'bounded'
  return retryWhileStale(pauseOf(engine.clock), async () => {
    const found = await find(results)
    if (found === null) return null
    const { turn, ownerId } = found
    const place = { ownerId, threadId, turnId: turn.id }
    const { events, answer } = await plan(turn, place)
    if (events.length === 0) return answer
    if (results === 'bounded' && hasOmittedOutput(turn)) {
      results = 'full'
      return 'stale'
    }
    const { kind } = await write(engine, place, found, events)
    if (kind === 'appended') {
      if (turn.recorded === true) await resumeRecorded(engine, threadId, turn.id)
      return answer
    }
    // Another writer appended or acquired the lease first: the input is planned again.
    return kind === 'no-thread' ? null : 'stale'
  })
}

function write(
  engine: Engine,
  { threadId, ownerId }: TurnPlace,
  { turn, seq: expectedSeq, incarnation, queue }: FoundTurn,
  events: readonly NewTurnEvent[],
): Promise<CommitResult> {
  const { id: turnId, progress } = turn
  const at = engine.clock.now()
  const resumed: NewTurnEvent = { type: 'turn-resumed', turnId, at }
  const read = { threadId, expectedSeq, incarnation, turns: [turn] }
  // The turn was produced by the host application's own loop, and only that can continue it.
  if (turn.recorded === true) {
    if (progress.status !== 'ended') return engine.append({ ...read, events })
    const after = foldOn(turn, [resumed, ...events])
    const waits = [...callsOf(after)].some(isOpenCall)
    const closing: readonly NewTurnEvent[] = waits
      ? [{ type: 'turn-paused', turnId, at, waitingFor: 'client' }]
      : planTurnEnd(after, progress.ending, at)
    const all = [resumed, ...events, ...closing]
    return engine.append({ ...read, events: all })
  }
  const place = { ...read, ownerId, turnId, queue, how: 'resumed' } as const
  // Late input reopens a turn that had ended.
  if (progress.status === 'ended') return engine.begin({ ...place, events: [resumed, ...events] })
  const isReady = progress.status === 'waiting' && hasMoreToDo(engine, turn, events)
  return isReady
    ? engine.begin({ ...place, events: [...events, resumed] })
    : engine.append({ ...read, events })
}

function hasMoreToDo(engine: Engine, turn: Turn, events: readonly NewTurnEvent[]): boolean {
  return planNext(foldOn(turn, events), nextOptionsOutside(engine)).kind !== 'wait'
}
