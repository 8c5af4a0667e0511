import type { NewTurnEvent } from '../../core/event.ts'
import { foldOn } from '../../core/fold-turn.ts'
import type { ThreadId } from '../../core/ids.ts'
import type { Turn, TurnEnding } from '../../core/message.ts'
import { planTurnEnd } from '../../core/plan-turn-end.ts'
import type { AbandonedRun, FoundTurn } from '../../store/store.ts'
import { takeOverToEnd } from './end-from-outside.ts'
import type { CommitResult } from './committer.ts'
import type { Engine } from '../engine.ts'
import { createRunHooks } from '../telemetry/hooks.ts'
import { noToolbox } from '../agent/tool-policy.ts'
import { planRecovery } from './plan-recovery.ts'
import { planBegun } from '../record/recorder.ts'

const atOnce = 100

/**
 * Takes over the runs whose process died, unless another process acquires their lease first, and the runs that this
 * process gave up (CR2, CR5). A run that cannot be acquired now, for a lock on its rows perhaps, does not delay the
 * others.
 *
 * A process without a model leaves turns of the engine's loop alone: it could only end them, while another server
 * can continue them (CR5a). `isBlocking`: such a turn blocks the host application's own loop from its thread, and
 * is ended.
 */
export async function recoverAbandoned(
  engine: Engine,
  only?: ThreadId,
  isBlocking = false,
): Promise<number> {
  const dead = await engine.store.findAbandonedRuns(atOnce, only)
  const found = new Set(dead.map(({ threadId }) => threadId))
  const own = [...engine.givenUp]
    .filter(([threadId]) => !found.has(threadId) && (only === undefined || threadId === only))
    .map(([threadId, run]) => ({ ...run, threadId, overFence: run.fence }))
  // A run of this process whose lease has expired is late, not dead: its next write decides whether it still holds
  // the lease.
  const isOurs = ({ threadId, fence }: RecoverableRun) =>
    engine.runs.get(threadId)?.ledger.fence === fence
  const runs: readonly RecoverableRun[] = [...dead, ...own].filter((run) => !isOurs(run))
  const results = await Promise.allSettled(runs.map((run) => recoverRun(engine, run, isBlocking)))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return results.filter((result) => result.status === 'fulfilled' && result.value).length
}

/** `overFence`: set for a run of this process, which knows that nothing works on it any more. */
type RecoverableRun = Pick<AbandonedRun, 'threadId' | 'turnId' | 'fence'> & {
  readonly overFence?: number
}

/** Recovers the run of one thread now, for a caller that needs the thread. */
export async function takeOver(
  engine: Engine,
  threadId: ThreadId,
  isBlocking = false,
): Promise<boolean> {
  return (await recoverAbandoned(engine, threadId, isBlocking)) > 0
}

/**
 * A run that was only late may have renewed its lease meanwhile: then acquiring the lease fails, and nothing
 * changes.
 */
async function recoverRun(
  engine: Engine,
  dead: RecoverableRun,
  isBlocking: boolean,
): Promise<boolean> {
  const { store, givenUp } = engine
  const { threadId, turnId, fence } = dead
  const found = await store.findTurn(turnId)
  const isThere = found?.threadId === threadId && (isBlocking || !isForOthers(engine, found.turn))
  const result = isThere ? await takeRun(engine, dead, found) : 'gone'
  if (result !== 'again' && givenUp.get(threadId)?.fence === fence) givenUp.delete(threadId)
  return result === 'taken'
}

/** The turn has to be continued by a process that has a model. */
const isForOthers = ({ agents, options }: Engine, { progress, recorded }: Turn): boolean =>
  progress.status === 'running' &&
  recorded !== true &&
  !agents.canAnswer &&
  options.recovery === 'continue'

/**
 * `again`: another writer appended meanwhile; `gone`: the run belongs to another process, or there is none any
 * more.
 */
async function takeRun(
  engine: Engine,
  { threadId, turnId, fence: deadFence, overFence }: RecoverableRun,
  found: FoundTurn,
): Promise<'taken' | 'again' | 'gone'> {
  const { options, clock, agents } = engine
  const { turn, seq, incarnation, ownerId, queue } = found
  const place = { threadId, expectedSeq: seq, incarnation, turns: [turn], queue }
  if (turn.progress.status !== 'running') {
    // This process gave up its own lease without seeing an end of the turn. The turn has ended meanwhile, and its
    // lease was released with it.
    if (overFence !== undefined) return 'gone'
    // Released by the fence of the dead run: by now the lease may belong to the next turn, whose process died too.
    // Released without that comparison, no server would find that turn again (CR1).
    const lease = { kind: 'release', fence: deadFence } as const
    return toTaken(await engine.append({ ...place, events: [], lease }))
  }
  const over = overFence === undefined ? {} : { overFence }
  const at = clock.now()
  const takenOver: NewTurnEvent = { type: 'turn-resumed', turnId, at, from: 'takeover' }
  const takeovers = foldOn(turn, [takenOver]).takeovers?.count ?? 0
  const canCarryOn = turn.recorded !== true && agents.canAnswer && options.recovery === 'continue'
  const isLooping = canCarryOn && takeovers > options.maxTakeovers
  if (canCarryOn && !isLooping) {
    const begin = { ...place, ...over, ownerId, turnId, events: [takenOver] }
    return toTaken(await engine.begin({ ...begin, how: 'taken-over' }))
  }
  const how: TurnEnding = isLooping ? crashLoop(options.maxTakeovers) : { kind: 'interrupted' }
  const ended = await takeOverToEnd(engine, found, {
    ending: how.kind,
    plan: (turn) => planAbandonedEnd(turn, how, at),
    overFence,
  })
  if (ended.kind !== 'ended') return ended.kind === 'stale' ? 'again' : 'gone'
  if (isLooping) {
    const hooks = createRunHooks({ ownerId, threadId, turnId }, engine.emit, clock.now)
    hooks.turnEnded(how, ended.turn)
  }
  return 'taken'
}

/** A started call ends as unknown whether or not its tool is repeatable, because it is not run again. */
function planAbandonedEnd(turn: Turn, how: TurnEnding, at: number): readonly NewTurnEvent[] {
  const begun = turn.recorded === true ? planBegun(turn, at) : []
  const known = foldOn(turn, begun)
  const closing = planRecovery(known, noToolbox, at)
  return [...begun, ...closing, ...planTurnEnd(foldOn(known, closing), how, at)]
}

const toTaken = ({ kind }: CommitResult): 'taken' | 'again' | 'gone' =>
  kind === 'appended' ? 'taken' : kind === 'stale' ? 'again' : 'gone'

/** One turn that crashes its process must not bring down server after server; a person may continue it (AG7). */
const crashLoop = (most: number): TurnEnding => ({
  kind: 'failed',
  error: {
    code: 'crash-loop',
    message: `The server crashed ${most + 1} times while it produced this answer, and does not try again by itself.`,
  },
})
