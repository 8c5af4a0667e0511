import type { MessageId, ThreadId } from '../core/ids.ts'
import type { Turn } from '../core/message.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import type { StopRequest } from '../store/store.ts'
import { wait, pauseOf } from './clock.ts'
import { endFromOutside } from './end-from-outside.ts'
import type { Engine } from './engine.ts'
import { createRunHooks } from './hooks.ts'
import { type Latest, readLatest } from './read-latest.ts'
import { retryWhileStale } from '../store/retry-while-stale.ts'

export type StopResult =
  | {
      readonly kind: 'stopped' | 'idle'
      /** How many inputs are held back until a person sends them on (IN5). */
      readonly held: number
    }
  | { readonly kind: 'no-thread' }

/**
 * Stops what a thread does, wherever it runs (ST1). The holder of a run ends it, so that everything it had
 * received is kept; one that does not answer within its lease is taken for dead and ended from here. A
 * turn that waits for a person or a client is run by nobody, and is ended from here too.
 */
export async function stopRun(engine: Engine, threadId: ThreadId): Promise<StopResult> {
  const kind = await stopThread(engine, threadId)
  if (kind === 'no-thread') return { kind }
  const { queue = [] } = (await engine.store.readThread(threadId)) ?? {}
  return { kind, held: queue.filter(({ held }) => held).length }
}

async function stopThread(
  engine: Engine,
  threadId: ThreadId,
): Promise<'stopped' | 'idle' | 'no-thread'> {
  let stopped: MessageId | undefined
  let running: MessageId | undefined
  while (true) {
    // Once it is over another may have begun: that one nobody asked to stop.
    const request = await engine.store.requestStop(threadId, stopped)
    if (request.kind === 'no-thread') return 'no-thread'
    if (request.kind === 'requested') {
      if (stopped !== undefined && request.turnId !== stopped) return 'stopped'
      await stopLive(engine, threadId, request)
      stopped = request.turnId
    }
    const latest = await readLatest(engine.store, threadId, 'lazy')
    const turn = latest?.last?.role === 'assistant' ? latest.last : null
    const isIt = turn !== null && (stopped === undefined || turn.id === stopped)
    if (latest !== null && isIt && turn.progress.status === 'waiting') {
      if (await endWaiting(engine, threadId, turn, latest)) return 'stopped'
      // Somebody was quicker, with a decision or a message: what there is to stop now is another thing.
      continue
    }
    if (stopped !== undefined) return 'stopped'
    // It may have gone on between the two looks. One that seems to run twice without a lease is nobody's.
    if (turn?.progress.status !== 'running' || running === turn.id) return 'idle'
    running = turn.id
  }
}

async function endWaiting(
  engine: Engine,
  threadId: ThreadId,
  turn: Turn,
  { seq, ownerId, queue }: Latest,
): Promise<boolean> {
  const { clock, emit } = engine
  const ending = { kind: 'stopped' } as const
  const events = planTurnEnd(turn, ending, clock.now())
  const place = { threadId, ownerId, expectedSeq: seq, turns: [turn], queue }
  const result = await endFromOutside(engine, place, events, ending.kind)
  if (result.kind !== 'appended') return false
  createRunHooks({ ownerId, threadId, turnId: turn.id }, emit, clock.now).turnEnded(ending, turn)
  return true
}

/** Until the run that was asked to stop, and whoever took it over meanwhile, no longer runs. */
async function stopLive(
  engine: Engine,
  threadId: ThreadId,
  first: Extract<StopRequest, { readonly kind: 'requested' }>,
): Promise<void> {
  const { store, clock, options } = engine
  const { turnId } = first
  let { fence } = first
  let asked = clock.now()
  while (true) {
    const mine = engine.runs.get(threadId)
    if (mine !== undefined && mine.turnId === turnId) {
      mine.run.interrupt({ kind: 'stop' })
      await mine.run.done
    } else {
      await untilOver(engine, threadId, turnId)
    }
    const left = await store.readMessage(threadId, turnId)
    if (left?.role !== 'assistant' || left.progress.status !== 'running') return
    // Whoever took the run over meanwhile was not the one that was asked.
    const again = await store.requestStop(threadId, turnId)
    if (again.kind !== 'requested' || again.turnId !== turnId) return
    if (again.fence !== fence) asked = clock.now()
    else if (clock.now() - asked >= options.leaseMs) {
      if (await endFromHere(engine, threadId, turnId, fence)) return
    }
    fence = again.fence
  }
}

/** Follows the thread until the turn no longer runs, for a part of a lease at most. */
async function untilOver(engine: Engine, threadId: ThreadId, turnId: MessageId): Promise<void> {
  const patience = new AbortController()
  const thread = await engine.store.readThread(threadId)
  const isOver = async () => {
    const turn = await engine.store.readMessage(threadId, turnId, 'lazy')
    return turn?.role !== 'assistant' || turn.progress.status !== 'running'
  }
  const over = async () => {
    if (thread === null || (await isOver())) return
    for await (const _ of engine.hub.follow(threadId, thread.seq, patience.signal)) {
      if (await isOver()) return
    }
  }
  await Promise.race([
    over(),
    wait(engine.clock, Math.ceil(engine.options.leaseMs / 3), patience.signal),
  ])
  patience.abort()
}

/** False if somebody was quicker to take the run. */
async function endFromHere(
  engine: Engine,
  threadId: ThreadId,
  turnId: MessageId,
  fence: number,
): Promise<boolean> {
  const { clock, holder, store } = engine
  const lease = { kind: 'acquire', holder, ttlMs: 1_000, turnId, overFence: fence } as const
  const taken = await engine.append({ threadId, events: [], lease })
  if (taken.kind !== 'appended' || taken.fence === undefined) return false
  const { fence: newFence } = taken
  const release = { kind: 'release', fence: newFence } as const
  return retryWhileStale(pauseOf(clock), async () => {
    const found = await store.findTurn(turnId)
    if (found === null || found.threadId !== threadId) return true
    const { turn, ownerId, queue, seq: expectedSeq } = found
    const place = { threadId, expectedSeq, turns: [turn], queue }
    const events = planTurnEnd(turn, { kind: 'stopped' }, clock.now())
    const ended =
      turn.progress.status === 'running'
        ? await endFromOutside(engine, { ...place, ownerId, fence: newFence }, events, 'stopped')
        : await engine.append({ ...place, events: [], lease: release })
    return ended.kind === 'stale' ? ended.kind : ended.kind === 'appended'
  })
}
