import type { NewTurnEvent } from '../../core/event.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import { canContinue } from '../../core/message.ts'
import { pauseOf } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { readLatest } from '../threads/read-latest.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import { isOther } from '../thread-scope.ts'
import { noModel } from '../agent/no-model.ts'

/** The result of `continue`. `after`: following from this seq shows what is added to the turn. */
export type ContinueResult =
  | { readonly kind: 'continued'; readonly turnId: MessageId; readonly after: Seq }
  | { readonly kind: 'run-active'; readonly turnId: MessageId }
  | { readonly kind: 'nothing-to-continue' }
  | { readonly kind: 'no-thread' }

/** Continues a turn that ran out of steps, was stopped, cut off, interrupted or failed, as the same message. */
export async function continueTurn(
  engine: Engine,
  threadId: ThreadId,
  ownedBy?: OwnerId,
): Promise<ContinueResult> {
  if (!engine.agents.canAnswer) throw noModel()
  return retryWhileStale(pauseOf(engine.clock), async () => {
    const latest = await readLatest(engine.store, threadId, 'full')
    if (latest === null || isOther(latest.ownerId, ownedBy)) return { kind: 'no-thread' }
    const { last, seq, incarnation, ownerId, queue } = latest
    if (last?.role !== 'assistant') return { kind: 'nothing-to-continue' }
    const { progress, id: turnId } = last
    if (progress.status === 'running') return { kind: 'run-active', turnId }
    if (progress.status === 'waiting' || !canContinue(progress.ending)) {
      return { kind: 'nothing-to-continue' }
    }
    const events = [resumed(engine, turnId)]
    const read = { threadId, ownerId, expectedSeq: seq, incarnation, turns: [last], queue }
    const begin = { ...read, turnId, how: 'continued', events, force: true } as const
    const result = await engine.begin(begin)
    if (result.kind === 'appended') return { kind: 'continued', turnId, after: seq }
    if (result.kind === 'leased') return { kind: 'run-active', turnId: result.turnId }
    if (result.kind === 'no-thread') return { kind: 'no-thread' }
    if (result.kind === 'stale') return result.kind
    throw new HoldfastError('store-failed', `The turn could not be continued: ${result.kind}.`)
  })
}

const resumed = (engine: Engine, turnId: MessageId): NewTurnEvent => ({
  type: 'turn-resumed',
  turnId,
  at: engine.clock.now(),
})
