import { foldOn } from '../core/fold-turn.ts'
import type { ThreadId } from '../core/ids.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import type { AbandonedRun } from '../store/store.ts'
import type { Engine } from './engine.ts'
import { planRecovery } from './plan-recovery.ts'
import { planBegun } from './recorder.ts'

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
  const canCarryOn = turn.recorded !== true && engine.model !== undefined
  if (isRunning && options.recovery === 'continue' && canCarryOn) {
    const result = await engine.begin({ ...place, turnId, how: 'taken-over', events: [] })
    return result.kind === 'appended'
  }
  const at = clock.now()
  const lease = { kind: 'acquire', holder: engine.holder, ttlMs: 1_000, turnId } as const
  const taken = await engine.append({ ...place, events: [], lease })
  if (taken.kind !== 'appended' || taken.fence === undefined) return false
  const begun = isRunning && turn.recorded === true ? planBegun(turn, at) : []
  const known = foldOn(turn, begun)
  const closing = isRunning ? planRecovery(known, toolbox, at) : []
  const closed = foldOn(known, closing)
  const ending = isRunning ? planTurnEnd(closed, { kind: 'interrupted' }, at) : []
  const ended = await engine.append({
    ...place,
    events: [...begun, ...closing, ...ending],
    lease: { kind: 'release', fence: taken.fence },
  })
  return ended.kind === 'appended'
}
