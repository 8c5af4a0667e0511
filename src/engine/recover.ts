import type { ThreadId } from '../core/ids.ts'
import { foldTurn } from '../core/fold-turn.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import type { AbandonedRun } from '../store/store.ts'
import type { Engine } from './engine.ts'
import { planRecovery } from './plan-recovery.ts'
import { planBegun } from './recorder.ts'

const atOnce = 100

/** Takes over the runs whose process died, as far as nobody else is quicker (CR2, CR5). */
export async function recoverAbandoned(engine: Engine, only?: ThreadId): Promise<number> {
  let taken = 0
  for (const run of await engine.store.findAbandonedRuns(atOnce)) {
    if (only !== undefined && run.threadId !== only) continue
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
  const [thread, turn] = await Promise.all([
    store.readThread(threadId),
    store.readMessage(threadId, turnId),
  ])
  if (thread === null || turn?.role !== 'assistant') return false
  const place = { threadId, turnId, expectedSeq: thread.seq }
  const canCarryOn = turn.recorded !== true && engine.model !== undefined
  const carriesOn = options.recovery === 'continue' && canCarryOn
  if (turn.progress.status === 'running' && carriesOn) {
    const result = await engine.begin({ ...place, how: 'taken-over', events: [] })
    return result.kind === 'appended'
  }
  const at = clock.now()
  const isRunning = turn.progress.status === 'running'
  const begun = turn.recorded === true ? planBegun(turn, at) : []
  const known = foldTurn(
    turn,
    begun.map((event, index) => ({ ...event, seq: turn.lastSeq + 1 + index })),
  )
  const closing = isRunning ? [...begun, ...planRecovery(known, toolbox, at)] : []
  const lease = {
    kind: 'acquire',
    holder: engine.holder,
    ttlMs: 0,
    turnId,
  } as const
  const taken = await engine.append({ threadId, events: closing, expectedSeq: thread.seq, lease })
  if (taken.kind !== 'appended' || taken.fence === undefined) return false
  const left = await store.readMessage(threadId, turnId)
  const ending =
    isRunning && left?.role === 'assistant' ? planTurnEnd(left, { kind: 'interrupted' }, at) : []
  const ended = await engine.append({
    threadId,
    events: ending,
    lease: { kind: 'release', fence: taken.fence },
    ...(isRunning ? { seal: [turnId] } : {}),
  })
  return ended.kind === 'appended'
}
