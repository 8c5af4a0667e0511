import type { NewTurnEvent } from '../../core/event.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import { canContinue, hasOmittedOutput, type Turn } from '../../core/message.ts'
import { pauseOf } from '../clock.ts'
import type { Begin, Engine } from '../engine.ts'
import { type Latest, readLatest } from '../threads/read-latest.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import type { FoundTurn } from '../../store/store.ts'
import type { AnswerReads } from '../calls/answer-reads.ts'
import type { ReadGate } from '../follow/hub.ts'
import { isOther } from '../thread-scope.ts'
import { noModel } from '../agent/no-model.ts'

/** The result of `continue`. `after`: following from this seq shows what is added to the turn. */
export type ContinueResult =
  | { readonly kind: 'continued'; readonly turnId: MessageId; readonly after: Seq }
  | { readonly kind: 'run-active'; readonly turnId: MessageId }
  | { readonly kind: 'nothing-to-continue' }
  | { readonly kind: 'no-thread' }

/**
 * Continues a turn that ran out of steps, was stopped, cut off, interrupted or failed, as the same message. `found`: the
 * last turn of the thread, where it has just been read.
 */
export async function continueTurn(
  engine: Engine,
  threadId: ThreadId,
  ownedBy?: OwnerId,
  { found, gate = (read) => read() }: AnswerReads = {},
): Promise<ContinueResult> {
  if (!engine.agents.canAnswer) throw noModel()
  engine.assertOpen()
  const begun = await beginLastAgain(engine, threadId, {
    force: true,
    gate,
    known: found?.threadId === threadId ? toLatest(found) : undefined,
    find({ last, ownerId }): Turn | { readonly kind: 'no-thread' | 'nothing-to-continue' } {
      if (isOther(ownerId, ownedBy)) return { kind: 'no-thread' }
      if (last?.role !== 'assistant') return { kind: 'nothing-to-continue' }
      const { progress } = last
      const isOver = progress.status === 'ended' && !canContinue(progress.ending)
      return isOver || progress.status === 'waiting' ? { kind: 'nothing-to-continue' } : last
    },
  })
  if (begun.kind !== 'begun') return begun
  const { turnId, after } = begun
  return { kind: 'continued', turnId, after }
}

const toLatest = ({ turn: last, incarnation, ...place }: FoundTurn): Latest => ({
  ...place,
  incarnation,
  last,
})

/** How the last turn of a thread is continued. */
interface LastTurn<Refusal> extends Pick<Begin, 'force' | 'work'> {
  /** The thread as it was read before; where that is stale it is read again. @default it is read */
  readonly known?: Latest | undefined
  /** Around each read. @default none */
  readonly gate?: ReadGate
  /** The turn to continue, or why there is none. */
  readonly find: (latest: Latest) => Turn | Refusal
}

/** `after`: the seq at which the turn was continued. */
type BegunAgain =
  | {
      readonly kind: 'begun'
      readonly turnId: MessageId
      readonly after: Seq
      readonly incarnation: string | undefined
    }
  | { readonly kind: 'run-active'; readonly turnId: MessageId }
  | { readonly kind: 'no-thread' }

/** Acquires the lease for the last turn of a thread, which does not run, and begins its run as the same message. */
export async function beginLastAgain<Refusal extends { readonly kind: string }>(
  engine: Engine,
  threadId: ThreadId,
  { known, gate = (read) => read(), find, ...work }: LastTurn<Refusal>,
): Promise<BegunAgain | Refusal> {
  let first = known
  return retryWhileStale(
    pauseOf(engine.clock),
    async (): Promise<BegunAgain | Refusal | 'stale'> => {
      const latest = first ?? (await gate(() => readLatest(engine.store, threadId, 'full')))
      first = undefined
      if (latest === null) return { kind: 'no-thread' }
      const turn = find(latest)
      if ('kind' in turn) return turn
      const { id: turnId, progress } = turn
      if (progress.status === 'running') return { kind: 'run-active', turnId }
      // Without its large results it can be judged; its run would send the model a prompt without them.
      if (latest === known && hasOmittedOutput(turn)) return 'stale'
      const { seq, incarnation, ownerId, queue } = latest
      const resumed: NewTurnEvent = { type: 'turn-resumed', turnId, at: engine.clock.now() }
      const read = { threadId, ownerId, expectedSeq: seq, incarnation, turns: [turn], queue }
      const begin = { ...read, ...work, turnId, how: 'continued', events: [resumed] } as const
      const result = await engine.begin(begin)
      switch (result.kind) {
        case 'appended':
          return { kind: 'begun', turnId, after: seq, incarnation: result.incarnation }
        case 'leased':
          return { kind: 'run-active', turnId: result.turnId }
        case 'no-thread':
          return { kind: 'no-thread' }
        case 'stale':
          return 'stale'
        default:
          throw new HoldfastError(
            'store-failed',
            `The turn could not be continued: ${result.kind}.`,
          )
      }
    },
  )
}
