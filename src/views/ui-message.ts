import { appendAll } from '../core/append-all.ts'
import type { Json } from '../core/json.ts'
import { isTurn, type Message, type Turn, type UserPart } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { toClientJson } from './client-json.ts'
import { shownMetadata } from './shown-metadata.ts'
import { shownPartsOf } from './shown-parts.ts'
import { type UiNotePart, projectNotePart } from './ui-note-part.ts'
import { type UiOptions, type UiPart, projectUiPart } from './ui-part.ts'

/** The JSON of an AI SDK `UIMessage`. */
export interface UiMessage {
  readonly id: string
  readonly role: 'user' | 'system' | 'assistant'
  readonly metadata?: Json
  readonly parts: readonly (UserPart | UiPart | UiNotePart)[]
}

/**
 * The message that a client which followed it live has built (FD1), or null if there is nothing to show. A
 * step appears with its first part: an empty one would be an empty bubble.
 */
export function projectUiMessage(message: Message, options: UiOptions = {}): UiMessage | null {
  const parts = isTurn(message) ? turnParts(message, options) : message.parts
  if (parts.length === 0) return null
  const shown = withDefined(
    { id: message.id, role: message.role, parts },
    { metadata: shownMetadata(message) },
  )
  return options.keys === 'all' ? shown : toClientJson(shown)
}

function turnParts(turn: Turn, options: UiOptions): readonly (UiPart | UiNotePart)[] {
  const parts: (UiPart | UiNotePart)[] = []
  const note = projectNotePart(turn)
  const place = turn.continuedAfter ?? turn.steps.length
  for (const [index, step] of turn.steps.entries()) {
    if (note !== null && index === place) parts.push(note)
    const shown = shownPartsOf(step).flatMap((part) => projectUiPart(part, turn, options) ?? [])
    if (shown.length > 0) parts.push({ type: 'step-start' })
    appendAll(parts, shown)
  }
  if (note !== null && place >= turn.steps.length) parts.push(note)
  return parts
}
