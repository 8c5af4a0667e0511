import type { NewTurnEvent } from '../../core/event.ts'
import {
  type Feedback,
  type FeedbackRating,
  foldFeedback,
  isRating,
  longestComment,
} from '../../core/feedback.ts'
import { badRequestFault, HoldfastError } from '../../core/holdfast-error.ts'
import {
  type MessageId,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Seq,
} from '../../core/ids.ts'
import { withDefined } from '../../core/with-defined.ts'
import { retryInLine } from './writers-in-line.ts'
import type { FoundTurn } from '../../store/store.ts'
import { checkNames } from '../options/check-names.ts'
import type { Engine } from '../engine.ts'
import { takeOver } from '../run/recover.ts'
import type { ThreadScope } from '../thread-scope.ts'

/** The feedback of a person on an answer. */
export interface FeedbackToGive extends ThreadScope {
  /** The id of the person: 1 to 200 characters. */
  readonly by: string
  /** Null withdraws this person's earlier feedback. */
  readonly rating: FeedbackRating | null
  /** A comment of at most 2,000 characters. @default none */
  readonly comment?: string
  /**
   * The thread of the message; with it, a person's message can be distinguished from one that does not exist.
   * @default not known
   */
  readonly threadId?: string
}

/** The result of `giveFeedback`. */
export type FeedbackResult =
  | {
      readonly kind: 'given'
      readonly messageId: MessageId
      /** The person's current feedback; null: none. */
      readonly feedback: Feedback | null
      /** The thread's seq after it. */
      readonly seq: Seq
    }
  /** The answer is being produced. Nothing was stored. */
  | { readonly kind: 'run-active'; readonly turnId: MessageId }
  /** The message is a person's, not an answer. */
  | { readonly kind: 'not-an-answer' }
  | { readonly kind: 'no-message' }

/**
 * Stores a person's feedback on an answer, as an event of its turn (FK4). For a turn that has ended this rewrites its
 * snapshot: the cost grows with the text of that turn, not with the inputs and results of its calls or with the thread.
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
  if (!isRating(rating)) throw badRequestFault('"rating" is up, down or null.')
  if (rating === null && comment !== undefined) {
    throw badRequestFault('A comment needs a rating, up or down.')
  }
  return retryInLine(engine, messageId, async (): Promise<FeedbackResult | 'stale'> => {
    const found = await findAnswer(engine, messageId, given)
    if (!('turn' in found)) return found
    const { turn, threadId, ownerId, seq: expectedSeq, incarnation } = found
    if (turn.progress.status === 'running') {
      // Its process may be dead. Then the turn is taken over, and ends at some point.
      await takeOver(engine, threadId)
      return { kind: 'run-active', turnId: turn.id }
    }
    const at = engine.clock.now()
    const entry = withDefined({ by, rating, at }, { comment })
    const before = turn.feedback?.find((each) => each.by === by) ?? null
    // Repeated feedback is not stored or reported again.
    if (before?.rating === (rating ?? undefined) && before?.comment === comment) {
      return { kind: 'given', messageId, feedback: before, seq: expectedSeq }
    }
    const event: NewTurnEvent = { ...entry, type: 'feedback-given', turnId: turn.id }
    const place = { threadId, expectedSeq, incarnation, turns: [turn] }
    const result = await engine.append({ ...place, events: [event] })
    switch (result.kind) {
      case 'appended': {
        const reported = {
          type: 'feedback-given',
          ownerId,
          threadId,
          turnId: turn.id,
          by,
          rating,
        } as const
        engine.emit(Object.defineProperty(reported, 'comment', { value: () => comment }))
        const feedback = foldFeedback(turn.feedback, entry)?.find((each) => each.by === by) ?? null
        return { kind: 'given', messageId, feedback, seq: result.seq }
      }
      case 'no-thread':
        return { kind: 'no-message' }
      // Another writer was first: the turn is read again.
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
  // Read as followers get it: the frame that this process delivers must not lack results that they have.
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
    throw badRequestFault(`"comment" is a text of at most ${longestComment} characters.`)
  }
  return value.toWellFormed()
}
