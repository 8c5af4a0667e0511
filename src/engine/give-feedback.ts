import type { NewTurnEvent } from '../core/event.ts'
import {
  type Feedback,
  type FeedbackRating,
  foldFeedback,
  isRating,
  longestComment,
} from '../core/feedback.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import {
  type MessageId,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Seq,
} from '../core/ids.ts'
import { withDefined } from '../core/with-defined.ts'
import { retryWhileStale } from '../store/retry-while-stale.ts'
import type { FoundTurn } from '../store/store.ts'
import { checkNames } from './check-names.ts'
import { pauseOf } from './clock.ts'
import type { Engine } from './engine.ts'
import { takeOver } from './recover.ts'
import type { ThreadScope } from './thread-scope.ts'

/** What a person says of an answer. */
export interface FeedbackToGive extends ThreadScope {
  /** Who says it: an id of 1 to 200 characters. */
  readonly by: string
  /** Null takes back what this person said before. */
  readonly rating: FeedbackRating | null
  /** In their own words, at most 2,000 characters. @default none */
  readonly comment?: string
  /** The thread of the message, by which one of a person can be told from one that is not there. @default not known */
  readonly threadId?: string
}

/** What became of it. */
export type FeedbackResult =
  | {
      readonly kind: 'given'
      readonly messageId: MessageId
      /** What this person says of it now; null: nothing. */
      readonly feedback: Feedback | null
      /** The thread's seq by then. */
      readonly seq: Seq
    }
  /** The answer is being made. Nothing was stored. */
  | { readonly kind: 'run-active'; readonly turnId: MessageId }
  /** A person's message, and no answer. */
  | { readonly kind: 'not-an-answer' }
  | { readonly kind: 'no-message' }

/**
 * Stores what a person thinks of an answer, as an event of its turn (FK4). On a turn that has ended this writes its snapshot anew:
 * it costs what the text of that turn is long, without the inputs and results of its calls, whatever the thread is.
 */
export async function giveFeedback(
  engine: Engine,
  message: string,
  given: FeedbackToGive,
): Promise<FeedbackResult> {
  checkNames('giveFeedback', given, ['ownerId', 'by', 'rating', 'comment', 'threadId'])
  const messageId = parseMessageId(message)
  const by: string = parseOwnerId(given.by)
  const { rating } = given
  const comment = parseComment(given.comment)
  if (!isRating(rating)) throw badRequest('"rating" is up, down or null.')
  if (rating === null && comment !== undefined) {
    throw badRequest('A comment goes with a rating, up or down.')
  }
  return retryWhileStale(pauseOf(engine.clock), async (): Promise<FeedbackResult | 'stale'> => {
    const found = await findAnswer(engine, messageId, given)
    if (!('turn' in found)) return found
    const { turn, threadId, ownerId, seq: expectedSeq } = found
    if (turn.progress.status === 'running') {
      // Its process may be dead. Then the turn is carried on, and is over some time.
      await takeOver(engine, threadId)
      return { kind: 'run-active', turnId: turn.id }
    }
    const at = engine.clock.now()
    const said = withDefined({ by, rating, at }, { comment })
    const before = turn.feedback?.find((each) => each.by === by) ?? null
    // The same again is the same, and nobody is told twice.
    if (before?.rating === (rating ?? undefined) && before?.comment === comment) {
      return { kind: 'given', messageId, feedback: before, seq: expectedSeq }
    }
    const event: NewTurnEvent = { ...said, type: 'feedback-given', turnId: turn.id }
    const result = await engine.append({ threadId, events: [event], expectedSeq, turns: [turn] })
    switch (result.kind) {
      case 'appended': {
        const told = {
          type: 'feedback-given',
          ownerId,
          threadId,
          turnId: turn.id,
          by,
          rating,
        } as const
        engine.emit(Object.defineProperty(told, 'comment', { value: () => comment }))
        const feedback = foldFeedback(turn.feedback, said)?.find((each) => each.by === by) ?? null
        return { kind: 'given', messageId, feedback, seq: result.seq }
      }
      case 'no-thread':
        return { kind: 'no-message' }
      // Whoever else was quicker: what is there now is looked at again.
      case 'stale':
      case 'illegal':
        return 'stale'
      default:
        throw new HoldfastError('store-failed', `The feedback could not be stored: ${result.kind}.`)
    }
  })
}

async function findAnswer(
  { store }: Engine,
  messageId: MessageId,
  { ownerId, threadId }: FeedbackToGive,
): Promise<FoundTurn | Extract<FeedbackResult, { kind: 'no-message' | 'not-an-answer' }>> {
  const owner = ownerId === undefined ? undefined : parseOwnerId(ownerId)
  const isTheirs = (thread: { readonly ownerId: string } | null) =>
    thread !== null && (owner === undefined || thread.ownerId === owner)
  // As followers are given it: what this process tells them must not lack results that they have.
  const found = await store.findTurn(messageId, 'bounded')
  if (found !== null && isTheirs(found)) {
    const isThere = threadId === undefined || found.threadId === parseThreadId(threadId)
    return isThere ? found : { kind: 'no-message' }
  }
  if (threadId === undefined) return { kind: 'no-message' }
  const thread = await store.readThread(parseThreadId(threadId))
  if (thread === null || !isTheirs(thread)) return { kind: 'no-message' }
  const other = await store.readMessage(thread.id, messageId, 'lazy')
  return { kind: other === null ? 'no-message' : 'not-an-answer' }
}

function parseComment(value: unknown): string | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string' || value.length > longestComment) {
    throw badRequest(`"comment" is a text of at most ${longestComment} characters.`)
  }
  return value.toWellFormed()
}

const badRequest = (message: string): HoldfastError => new HoldfastError('bad-request', message)
