import type { MessageId, OwnerId, ThreadId } from '../../core/ids.ts'
import type { Turn } from '../../core/message.ts'
import { planTurnEnd } from '../../core/plan-turn-end.ts'
import type { FoundTurn, StopRequest, Store } from '../../store/store.ts'
import { elapsedMs, wait, pauseOf } from '../clock.ts'
import { endFromOutside, takeOverToEnd } from './end-from-outside.ts'
import type { Engine } from '../engine.ts'
import { createRunHooks } from '../telemetry/hooks.ts'
import { type Latest, readLatest } from '../threads/read-latest.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import { isOther } from '../thread-scope.ts'

/** The result of `stop`. `idle`: nothing ran or waited. */
export type StopResult =
  | {
      readonly kind: 'stopped' | 'idle'
      /** The number of inputs that are held back until a person sends them on (IN5). */
      readonly held: number
    }
  | { readonly kind: 'no-thread' }

/**
 * Stops what a thread does, in whichever process it runs (ST1). The lease holder ends its run, so that everything
 * it had received is kept; a holder that does not react within its lease is considered dead, and its run is ended
 * from here. A turn that waits for a person or a client has no run, and is ended from here too.
 */
export async function stopRun(
  engine: Engine,
  threadId: ThreadId,
  ownedBy?: OwnerId,
): Promise<StopResult> {
  const { store, clock } = engine
  let asked: MessageId | undefined
  let isStopped = false
  let leaseless: MessageId | undefined
  return retryWhileStale(pauseOf(clock), async (): Promise<StopResult | 'stale'> => {
    const latest = await readLatest(store, threadId, 'lazy')
    const isThere = latest !== null && !isOther(latest.ownerId, ownedBy)
    if (!isThere) return asked === undefined ? { kind: 'no-thread' } : { kind: 'stopped', held: 0 }
    const held = countHeld(latest)
    const turn = latest.last?.role === 'assistant' ? latest.last : null
    // Once the turn has ended, a new one may have begun: that one was not asked to stop.
    const isIt = turn !== null && turn.id === (asked ?? turn.id)
    if (isIt && turn.progress.status === 'waiting') {
      // Another writer appended a decision or a message first, so there may be something else to stop now.
      isStopped = await endWaiting(engine, threadId, turn, latest)
      if (!isStopped) return 'stale'
      // The commit held the inputs that were queued, or began the turn of one.
      const isQueued = latest.queue.length > 0
      return {
        kind: 'stopped',
        held: isQueued ? countHeld(await store.readThread(threadId)) : held,
      }
    }
    // One that is stored as running twice in a row, without a lease, has no run.
    const isRunning = isIt && turn.progress.status === 'running' && turn.id !== leaseless
    if (isStopped) return { kind: asked === undefined ? 'idle' : 'stopped', held }
    // Where the last turn does not run, the lease decides: the host may have written a message of its own behind the one
    // that does (CL11).
    const { incarnation } = latest
    const only = { turnId: isRunning ? turn.id : undefined, incarnation }
    const request = await store.requestStop(threadId, only)
    if (request.kind === 'requested') {
      await stopLive(engine, threadId, request)
      asked = request.turnId
      isStopped = true
      return 'stale'
    }
    if (!isRunning) return { kind: 'idle', held }
    leaseless = turn.id
    return 'stale'
  })
}

const countHeld = (thread: Pick<Latest, 'queue'> | null): number =>
  thread?.queue.filter(({ held }) => held).length ?? 0

async function endWaiting(
  engine: Engine,
  threadId: ThreadId,
  turn: Turn,
  { seq, incarnation, ownerId, queue }: Latest,
): Promise<boolean> {
  const { clock, emit } = engine
  const ending = { kind: 'stopped' } as const
  const events = planTurnEnd(turn, ending, clock.now())
  const place = { threadId, ownerId, expectedSeq: seq, incarnation, turns: [turn], queue }
  const result = await endFromOutside(engine, place, events, ending.kind)
  if (result.kind !== 'appended') return false
  createRunHooks({ ownerId, threadId, turnId: turn.id }, emit, clock.now).turnEnded(ending, turn)
  return true
}

/** Resolves when the run that was asked to stop, and any run that took it over meanwhile, has ended. */
async function stopLive(
  engine: Engine,
  threadId: ThreadId,
  first: Extract<StopRequest, { readonly kind: 'requested' }>,
): Promise<void> {
  const { store, clock, options } = engine
  const { turnId } = first
  let { fence } = first
  let requestedAt = elapsedMs(clock)
  while (true) {
    const mine = engine.runs.get(threadId)
    if (mine !== undefined && mine.turnId === turnId) {
      mine.run.interrupt({ kind: 'stop' })
      await mine.run.done
    } else {
      await untilOver(engine, threadId, turnId)
    }
    if ((await findRunning(store, threadId, turnId)) === null) return
    // A process that took the run over meanwhile has not received the stop request.
    const again = await store.requestStop(threadId, { turnId })
    if (again.kind !== 'requested' || again.turnId !== turnId) return
    if (again.fence !== fence) requestedAt = elapsedMs(clock)
    else if (elapsedMs(clock) - requestedAt >= options.leaseMs) {
      if (await endFromHere(engine, threadId, turnId, fence)) return
    }
    fence = again.fence
  }
}

/** Null: the turn does not run any more. */
async function findRunning(
  store: Store,
  threadId: ThreadId,
  turnId: MessageId,
): Promise<FoundTurn | null> {
  const found = await store.findTurn(turnId, 'lazy')
  const isRunning = found?.threadId === threadId && found.turn.progress.status === 'running'
  return isRunning ? found : null
}

/** Follows the thread until the turn no longer runs, for at most a third of a lease. */
async function untilOver(engine: Engine, threadId: ThreadId, turnId: MessageId): Promise<void> {
  const patience = new AbortController()
  const find = () => findRunning(engine.store, threadId, turnId)
  const over = async () => {
    const found = await find()
    if (found === null) return
    const place = { seq: found.seq, incarnation: found.incarnation ?? '' }
    for await (const _ of engine.hub.follow(threadId, place, patience.signal)) {
      if ((await find()) === null) return
    }
  }
  await Promise.race([
    over(),
    wait(engine.clock, Math.ceil(engine.options.leaseMs / 3), patience.signal),
  ])
  patience.abort()
}

/** False if another process acquired the lease first. */
async function endFromHere(
  engine: Engine,
  threadId: ThreadId,
  turnId: MessageId,
  overFence: number,
): Promise<boolean> {
  const { clock, store } = engine
  const ending = { kind: 'stopped' } as const
  return retryWhileStale(pauseOf(clock), async () => {
    const found = await store.findTurn(turnId)
    // The turn of this thread, and of no other that has its id by now (OP6).
    if (found?.threadId !== threadId || found.turn.progress.status !== 'running') return true
    // What the run left open was stopped, whatever became of its process (ST1).
    const plan = (turn: Turn) => planTurnEnd(turn, ending, clock.now())
    const { kind } = await takeOverToEnd(engine, found, { ending: ending.kind, plan, overFence })
    return kind === 'stale' ? kind : kind === 'ended'
  })
}
