import type { MessageId, ThreadId } from '../core/ids.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import { wait } from './clock.ts'
import type { Engine } from './engine.ts'
import { FencedError } from './run-ledger.ts'

export type StopResult = { readonly kind: 'stopped' | 'idle' | 'no-thread' }

/**
 * Stops the run of a thread, wherever it runs (ST1). The holder ends it, so that everything it had
 * received is kept; one that does not answer within its lease is taken for dead and ended from here.
 */
export async function stopRun(engine: Engine, threadId: ThreadId): Promise<StopResult> {
  const request = await engine.store.requestStop(threadId)
  if (request.kind === 'no-thread' || request.kind === 'idle') return { kind: request.kind }
  const { turnId, fence } = request
  const mine = engine.runs.get(threadId)
  if (mine !== undefined && mine.turnId === turnId) {
    mine.run.interrupt({ kind: 'stop' })
    await mine.run.done
  } else {
    await untilOver(engine, threadId, turnId)
  }
  const left = await engine.store.readMessage(threadId, turnId)
  if (left?.role === 'assistant' && left.progress.status === 'running') {
    await endFromHere(engine, threadId, turnId, fence)
  }
  return { kind: 'stopped' }
}

/** Follows the thread until the turn no longer runs, at most for the length of a lease. */
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
  await Promise.race([over(), wait(engine.clock, engine.options.leaseMs, patience.signal)])
  patience.abort()
}

async function endFromHere(
  engine: Engine,
  threadId: ThreadId,
  turnId: MessageId,
  fence: number,
): Promise<void> {
  const { clock, holder, store } = engine
  const lease = { kind: 'acquire', holder, ttlMs: 1_000, turnId, overFence: fence } as const
  const taken = await engine.append({ threadId, events: [], lease })
  if (taken.kind !== 'appended' || taken.fence === undefined) return
  while (true) {
    const thread = await store.readThread(threadId)
    const turn = await store.readMessage(threadId, turnId)
    if (thread === null || turn?.role !== 'assistant') return
    const ended = await engine.append({
      threadId,
      events: planTurnEnd(turn, { kind: 'stopped' }, clock.now()),
      expectedSeq: thread.seq,
      lease: { kind: 'release', fence: taken.fence },
      seal: [turnId],
    })
    if (ended.kind === 'fenced') throw new FencedError('Another run has taken over this turn.')
    if (ended.kind !== 'stale') return
  }
}
