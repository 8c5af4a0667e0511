import type { MessageId, ThreadId } from '../core/ids.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import { wait } from './clock.ts'
import type { Engine } from './engine.ts'

export type StopResult = { readonly kind: 'stopped' | 'idle' | 'no-thread' }

/**
 * Stops the run of a thread, wherever it runs (ST1). The holder ends it, so that everything it had
 * received is kept; one that does not answer within its lease is taken for dead and ended from here.
 */
export async function stopRun(engine: Engine, threadId: ThreadId): Promise<StopResult> {
  const { store, clock, options } = engine
  const first = await store.requestStop(threadId)
  if (first.kind !== 'requested') return { kind: first.kind }
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
    if (left?.role !== 'assistant' || left.progress.status !== 'running') break
    // Whoever took the run over meanwhile was not the one that was asked.
    const again = await store.requestStop(threadId)
    if (again.kind !== 'requested' || again.turnId !== turnId) break
    if (again.fence !== fence) asked = clock.now()
    else if (clock.now() - asked >= options.leaseMs) {
      if (await endFromHere(engine, threadId, turnId, fence)) break
    }
    fence = again.fence
  }
  return { kind: 'stopped' }
}

/** Follows the thread until the turn no longer runs, for a part of a lease at most. */
async function untilOver(engine: Engine, threadId: ThreadId, turnId: MessageId): Promise<void> {
  const patience = new AbortController()
  const thread = await engine.store.readThread(threadId)
  const isOver = async () => {
    const turn = await engine.store.readMessage(threadId, turnId)
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
  while (true) {
    const found = await store.findTurn(turnId)
    if (found === null || found.threadId !== threadId) return true
    const { turn, seq: expectedSeq } = found
    const isRunning = turn.progress.status === 'running'
    const ended = await engine.append({
      threadId,
      events: isRunning ? planTurnEnd(turn, { kind: 'stopped' }, clock.now()) : [],
      expectedSeq,
      turns: [turn],
      lease: { kind: 'release', fence: taken.fence },
    })
    if (ended.kind !== 'stale') return ended.kind === 'appended'
  }
}
