import type { NewTurnEvent } from '../core/event.ts'
import { foldOn } from '../core/fold-turn.ts'
import type { ThreadId } from '../core/ids.ts'
import type { Turn, TurnEnding } from '../core/message.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import type { AbandonedRun } from '../store/store.ts'
import { endFromOutside } from './end-from-outside.ts'
import type { CommitResult } from './committer.ts'
import type { Engine } from './engine.ts'
import { createRunHooks } from './hooks.ts'
import { noToolbox } from './tool-policy.ts'
import { planRecovery } from './plan-recovery.ts'
import { planBegun } from './recorder.ts'

const atOnce = 100

/**
 * Takes over the runs whose process died, as far as nobody else is quicker, and those that this process gave up (CR2,
 * CR5). One that cannot be taken now, for a lock on its rows perhaps, keeps no other waiting.
 *
 * A process without a model leaves the turns of the engine's loop alone: it could only end them, and some server can
 * carry them on (CR5a). `isInTheWay`: one of them keeps a loop of the host's own from its thread, and is ended.
 */
export async function recoverAbandoned(
  engine: Engine,
  only?: ThreadId,
  isInTheWay = false,
): Promise<number> {
  const dead = await engine.store.findAbandonedRuns(atOnce, only)
  const found = new Set(dead.map(({ threadId }) => threadId))
  const own = [...engine.givenUp]
    .filter(([threadId]) => !found.has(threadId) && (only === undefined || threadId === only))
    .map(([threadId, run]) => ({ ...run, threadId, overFence: run.fence }))
  // What this process runs itself is late, not dead: its own next write settles who holds it.
  const isOurs = ({ threadId, fence }: TakenRun) =>
    engine.runs.get(threadId)?.ledger.fence === fence
  const runs: readonly TakenRun[] = [...dead, ...own].filter((run) => !isOurs(run))
  const results = await Promise.allSettled(runs.map((run) => recoverRun(engine, run, isInTheWay)))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return results.filter((result) => result.status === 'fulfilled' && result.value).length
}

/** `overFence`: by its own process, which knows that nobody is at it. */
type TakenRun = Pick<AbandonedRun, 'threadId' | 'turnId' | 'fence'> & {
  readonly overFence?: number
}

/** For one thread, now: where somebody waits for it. */
export async function takeOver(
  engine: Engine,
  threadId: ThreadId,
  isInTheWay = false,
): Promise<boolean> {
  return (await recoverAbandoned(engine, threadId, isInTheWay)) > 0
}

/** One that was only late may have renewed its lease meanwhile: then nothing is taken from it. */
async function recoverRun(engine: Engine, dead: TakenRun, isInTheWay: boolean): Promise<boolean> {
  const { store, givenUp } = engine
  const { threadId, turnId, fence } = dead
  const found = await store.findTurn(turnId)
  const isThere = found?.threadId === threadId && (isInTheWay || !isForOthers(engine, found.turn))
  const result = isThere ? await takeRun(engine, dead, found) : 'gone'
  if (result !== 'again' && givenUp.get(threadId)?.fence === fence) givenUp.delete(threadId)
  return result === 'taken'
}

/** It waits for a process that has a model. */
const isForOthers = ({ agents, options }: Engine, { progress, recorded }: Turn): boolean =>
  progress.status === 'running' &&
  recorded !== true &&
  !agents.canAnswer &&
  options.recovery === 'continue'

/** `again`: somebody wrote meanwhile; `gone`: it is somebody else's now, or nobody's. */
async function takeRun(
  engine: Engine,
  { threadId, turnId, overFence }: TakenRun,
  { turn, seq, ownerId, queue }: FoundTurn,
): Promise<'taken' | 'again' | 'gone'> {
  const { options, clock, agents } = engine
  const place = { threadId, expectedSeq: seq, turns: [turn], queue }
  const isRunning = turn.progress.status === 'running'
  // Whoever gives up a lease of its own has seen no end of the turn: there is one, and the lease went with it.
  if (!isRunning && overFence !== undefined) return 'gone'
  const over = overFence === undefined ? {} : { overFence }
  const at = clock.now()
  const takenOver: NewTurnEvent = { type: 'turn-resumed', turnId, at, from: 'takeover' }
  const takeovers = foldOn(turn, [takenOver]).takeovers?.count ?? 0
  const canCarryOn =
    isRunning && turn.recorded !== true && agents.canAnswer && options.recovery === 'continue'
  const isLooping = canCarryOn && takeovers > options.maxTakeovers
  if (canCarryOn && !isLooping) {
    const begin = { ...place, ...over, ownerId, turnId, events: [takenOver] }
    return toTaken(await engine.begin({ ...begin, how: 'taken-over' }))
  }
  const how: TurnEnding = isLooping ? crashLoop(options.maxTakeovers) : { kind: 'interrupted' }
  const lease = { kind: 'acquire', holder: engine.holder, ttlMs: 1_000, turnId, ...over } as const
  const taken = await engine.append({ ...place, events: [], lease })
  if (taken.kind !== 'appended' || taken.fence === undefined) return toTaken(taken)
  // Until it has been given back: should that fail, nobody else may be able to tell that nobody is at it.
  engine.givenUp.set(threadId, { turnId, fence: taken.fence })
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
  if (ended.kind !== 'appended') return toTaken(ended)
  engine.givenUp.delete(threadId)
  if (isLooping) {
    const hooks = createRunHooks({ ownerId, threadId, turnId }, engine.emit, clock.now)
    hooks.turnEnded(how, foldOn(closed, ending))
  }
  return 'taken'
}

const toTaken = ({ kind }: CommitResult): 'taken' | 'again' | 'gone' =>
  kind === 'appended' ? 'taken' : kind === 'stale' ? 'again' : 'gone'

type FoundTurn = NonNullable<Awaited<ReturnType<Engine['store']['findTurn']>>>

/** One poisonous turn must not bring down server after server; a person may try it again (AG7). */
const crashLoop = (most: number): TurnEnding => ({
  kind: 'failed',
  error: {
    code: 'crash-loop',
    message: `The server broke off ${most + 1} times while it made this answer, and does not try again by itself.`,
  },
})
