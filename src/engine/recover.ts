import type { NewTurnEvent, TurnEvent } from '../core/event.ts'
import { foldTurn } from '../core/fold-turn.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import type { AbandonedRun } from '../store/store.ts'
import type { Engine } from './engine.ts'
import { planRecovery } from './plan-recovery.ts'

const atOnce = 100

/** Takes over the runs whose process died, as far as nobody else is quicker (CR2, CR5). */
export async function recoverAbandoned(engine: Engine, only?: ThreadId): Promise<number> {
  let taken = 0
  for (const run of await engine.store.findAbandonedRuns(atOnce, only)) {
    // What this process runs itself is late, not dead: its own next write settles who holds it.
    if (engine.runs.get(run.threadId)?.ledger.fence === run.fence) continue
    if (await recoverRun(engine, run)) taken++
  }
  return taken
}

/** For one thread, now: where somebody waits for it. */
export async function takeOver(engine: Engine, threadId: ThreadId): Promise<boolean> {
  return (await recoverAbandoned(engine, threadId)) > 0
}

/** One that was only late may have renewed its lease meanwhile: then nothing is taken from it. */
async function recoverRun(engine: Engine, dead: AbandonedRun): Promise<boolean> {
  const { store, options, clock, toolbox } = engine
  const { threadId, turnId } = dead
  const found = await store.findTurn(turnId)
  if (found === null || found.threadId !== threadId) return false
  const { turn, seq } = found
  const place = { threadId, expectedSeq: seq, turns: [turn] }
  const isRunning = turn.progress.status === 'running'
  if (isRunning && options.recovery === 'continue' && turn.recorded !== true) {
    const result = await engine.begin({ ...place, turnId, how: 'taken-over', events: [] })
    return result.kind === 'appended'
  }
  const at = clock.now()
  const lease = { kind: 'acquire', holder: engine.holder, ttlMs: 1_000, turnId } as const
  const taken = await engine.append({ ...place, events: [], lease })
  if (taken.kind !== 'appended' || taken.fence === undefined) return false
  const closing = isRunning ? planRecovery(turn, toolbox.isRepeatable, at) : []
  const closed = foldTurn(turn, numberFrom(turn.lastSeq + 1, closing))
  const ending = isRunning ? planTurnEnd(closed, { kind: 'interrupted' }, at) : []
  const ended = await engine.append({
    ...place,
    events: [...closing, ...ending],
    lease: { kind: 'release', fence: taken.fence },
  })
  return ended.kind === 'appended'
}

const numberFrom = (first: Seq, events: readonly NewTurnEvent[]): readonly TurnEvent[] =>
  events.map((event, index) => ({ ...event, seq: first + index }))
