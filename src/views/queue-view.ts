import { isJsonObject, type Json } from '../core/json.ts'
import type { UserPart } from '../core/message.ts'
import { parseQueue } from '../core/queue.ts'
import type { InputMode, InputQueue } from '../core/queued-input.ts'
import { withDefined } from '../core/with-defined.ts'
import { toIsoDate } from './iso-date.ts'
import { userTextOf } from './user-content.ts'

/** A waiting input, as threads, pages and frames show it (IN2). */
export interface ShownInput {
  /** The id that its message gets. */
  readonly id: string
  /** The text of its parts. */
  readonly text: string
  readonly parts: readonly UserPart[]
  readonly mode: InputMode
  /** Held by a stop until a person releases it (IN5). */
  readonly held: boolean
  /** When it was stored. */
  readonly at: string
  readonly metadata?: Json
  readonly choices?: Json
}

/** The waiting inputs of a thread, in the order in which they are answered. */
export const projectQueue = (queue: InputQueue): readonly ShownInput[] =>
  queue.map((input) => {
    const { id, mode, parts, held, at, metadata, choices } = input
    return withDefined(
      { id, text: userTextOf(input), parts, mode, held, at: toIsoDate(at) },
      { metadata, choices },
    )
  })

/** Parses them again, for a client that folds events on top of it. */
export const parseShownQueue = (value: unknown): InputQueue =>
  parseQueue(
    Array.isArray(value)
      ? (value as readonly unknown[]).map((input) =>
          isJsonObject(input)
            ? { ...input, at: typeof input.at === 'string' ? Date.parse(input.at) : Number.NaN }
            : input,
        )
      : [],
  )
