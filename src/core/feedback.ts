import { isJsonObject, type Json } from './json.ts'
import { withDefined } from './with-defined.ts'

/** A person's rating of an answer. */
export type FeedbackRating = 'up' | 'down'

const ratings: readonly FeedbackRating[] = ['up', 'down']

/** Whether a value is a rating, or null, which takes one back. */
export const isRating = (value: unknown): value is FeedbackRating | null =>
  value === null || ratings.some((word) => word === value)

/** One person's feedback on an answer (FK4). It is never sent to a model. */
export interface Feedback {
  /** The authenticated id of the person. */
  readonly by: string
  readonly rating: FeedbackRating
  /** Free text. */
  readonly comment?: string
  /** When, in milliseconds since 1970. */
  readonly at: number
}

/** The longest comment, in characters: every page with the answer contains its comments too (OP7a). */
export const longestComment = 2_000

/** The event without its position: a rating of null takes back the person's feedback. */
export interface FeedbackGiven {
  readonly by: string
  readonly rating: FeedbackRating | null
  readonly comment?: string
  readonly at: number
}

/**
 * At most one entry per person, in the order of giving: a new one replaces the person's last. Undefined: none
 * is left.
 */
export function foldFeedback(
  earlier: readonly Feedback[] | undefined,
  { by, rating, comment, at }: FeedbackGiven,
): readonly Feedback[] | undefined {
  const others = (earlier ?? []).filter((each) => each.by !== by)
  const all = rating === null ? others : [...others, withDefined({ by, rating, at }, { comment })]
  return all.length === 0 ? undefined : all
}

/**
 * Splits metadata that a view wrote into the feedback in it and the rest; what does not have the shape of
 * feedback is the host's own.
 */
export function splitFeedback(metadata: Json | undefined): {
  readonly metadata: Json | undefined
  readonly feedback: readonly Feedback[] | undefined
} {
  const none = { metadata, feedback: undefined }
  if (!isJsonObject(metadata) || !Array.isArray(metadata.feedback)) return none
  const { feedback, ...rest } = metadata
  const read = (feedback as readonly Json[]).map(readFeedback)
  if (!read.every((each) => each !== null)) return none
  return { metadata: Object.keys(rest).length === 0 ? undefined : rest, feedback: read }
}

function readFeedback(value: Json): Feedback | null {
  if (!isJsonObject(value)) return null
  const { by, comment } = value
  const at = typeof value.at === 'string' ? Date.parse(value.at) : Number.NaN
  const rating = ratings.find((word) => word === value.rating)
  if (typeof by !== 'string' || by === '' || by.length > 200) return null
  if (rating === undefined) return null
  if (!Number.isSafeInteger(at)) return null
  const words = typeof comment === 'string' ? comment.slice(0, longestComment) : undefined
  return withDefined({ by, rating, at }, { comment: words })
}
