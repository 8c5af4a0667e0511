import type { NewTurnEvent } from '../core/event.ts'
import { foldOn } from '../core/fold-turn.ts'
import type { ThreadId } from '../core/ids.ts'
import type { TurnEnding } from '../core/message.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import type { AbandonedRun } from '../store/store.ts'
import { endFromOutside } from './end-from-outside.ts'
import type { Engine } from './engine.ts'
import { createRunHooks } from './hooks.ts'
import { noToolbox } from './tool-policy.ts'
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
  const { store, options, clock, agents } = engine
  const { threadId, turnId } = dead
  const found = await store.findTurn(turnId)
  if (found === null || found.threadId !== threadId) return false
  const { turn, seq, ownerId, queue } = found
  const place = { threadId, expectedSeq: seq, turns: [turn], queue }
  const isRunning = turn.progress.status === 'running'
  const at = clock.now()
  const takenOver: NewTurnEvent = { type: 'turn-resumed', turnId, at, from: 'takeover' }
  const takeovers = foldOn(turn, [takenOver]).takeovers?.count ?? 0
  const canCarryOn =
    isRunning && turn.recorded !== true && agents.canAnswer && options.recovery === 'continue'
  const isLooping = canCarryOn && takeovers > options.maxTakeovers
  if (canCarryOn && !isLooping) {
    const events = [takenOver]
    const result = await engine.begin({ ...place, ownerId, turnId, how: 'taken-over', events })
    return result.kind === 'appended'
  }
  const how: TurnEnding = isLooping ? crashLoop(options.maxTakeovers) : { kind: 'interrupted' }
  const lease = { kind: 'acquire', holder: engine.holder, ttlMs: 1_000, turnId } as const
  const taken = await engine.append({ ...place, events: [], lease })
  if (taken.kind !== 'appended' || taken.fence === undefined) return false
  const begun = isRunning && turn.recorded === true ? planBegun(turn, at) : []
  const known = foldOn(turn, begun)
  // A call that had started ends as unknown whether or not its tool is repeatable: nobody runs it again.
  const closing = isRunning ? planRecovery(known, noToolbox, at) : []
  const closed = foldOn(known, closing)
  const ending = isRunning ? planTurnEnd(closed, how, at) : []
  const { fence } = taken
  const events = [...begun, ...closing, ...ending]
  const ended = isRunning
    ? await endFromOutside(engine, { ...place, ownerId, fence }, events, how.kind)
    : await engine.append({ ...place, events, lease: { kind: 'release', fence } })
  if (ended.kind !== 'appended') return false
  if (isLooping) {
    const hooks = createRunHooks({ ownerId, threadId, turnId }, engine.emit, clock.now)
    hooks.turnEnded(how, foldOn(closed, ending))
  }
  return true
}

/** One poisonous turn must not bring down server after server; a person may try it again (AG7). */
const crashLoop = (most: number): TurnEnding => ({
  kind: 'failed',
  error: {
    code: 'crash-loop',
    message: `The server broke off ${most + 1} times while it made this answer, and does not try again by itself.`,
  },
})
