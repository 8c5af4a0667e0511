import { appendAll } from '../core/append-all.ts'
import { type Call, isOpenCall } from '../core/call.ts'
import type { Json } from '../core/json.ts'
import {
  isTurn,
  type Message,
  type SteeringPart,
  type Turn,
  type UserMessage,
} from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { projectArguments } from './call-arguments.ts'
import { isCallComplete, type Validated, validatedOf } from './call-status.ts'
import { hasCalls, stepTextOf } from './commentary.ts'
import { toIsoDate } from './iso-date.ts'
import { toKnownCall } from './known-call.ts'
import type { LazyOptions } from './lazy-output.ts'
import { errorMarkOf, projectResultValue } from './result-value.ts'
import { type UserFile, userFilesOf, userTextOf } from './user-content.ts'
import { isWholeStep } from './whole-step.ts'

/** AI_TOOL: the text of a step, and its calls. TOOL: the result of one call. AI_MESSAGE: a step without calls. */
export const entityKinds = ['USER', 'SYSTEM', 'AI_TOOL', 'TOOL', 'AI_MESSAGE'] as const
/** The kind of an entity row. */
export type EntityKind = (typeof entityKinds)[number]

/** One row of the entity view (FD5). */
export interface EntityRow {
  readonly id: string
  readonly messageId: string
  readonly entity: EntityKind
  readonly content:
    | string
    | {
        readonly toolCallId: string
        readonly result: Json
        /** Only on a success whose result looks like an error. */
        readonly isError?: false
      }
  readonly toolCalls: readonly EntityToolCall[]
  readonly isComplete: boolean
  readonly creationDate: string
  /** The files of a person's message; absent if there are none. */
  readonly files?: readonly UserFile[]
}

/** A call in an `AI_TOOL` row. */
export interface EntityToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: Json
  readonly validated: Validated
}

/** A row and its position in its message, which no later row changes. */
export interface PlacedRow {
  readonly row: EntityRow
  /** The index of its step. */
  readonly step: number
  /**
   * Its position in its step: 0 for the step's text, then one for each of its calls, then the inputs that
   * joined after it.
   */
  readonly place: number
}

/** FD5: a message as rows, oldest first. */
export const projectEntityRows = (
  message: Message,
  options: LazyOptions = {},
): readonly EntityRow[] => placeEntityRows(message, options).map(({ row }) => row)

/** The same rows, each with its position. */
export const placeEntityRows = (
  message: Message,
  options: LazyOptions = {},
): readonly PlacedRow[] =>
  isTurn(message)
    ? projectTurn(message, options)
    : [{ row: projectUserMessage(message), step: 0, place: 0 }]

/** The kinds of rows that a message consists of. A turn that has only reasoning so far counts as an answer. */
export function entityKindsOf(message: Message): ReadonlySet<EntityKind> {
  const kinds = new Set(projectEntityRows(message).map(({ entity }) => entity))
  return kinds.size > 0 ? kinds : new Set(['AI_MESSAGE'])
}

function projectUserMessage(message: UserMessage): EntityRow {
  const files = userFilesOf(message)
  return withDefined(
    {
      id: message.id,
      messageId: message.id,
      entity: message.role === 'user' ? 'USER' : 'SYSTEM',
      content: userTextOf(message),
      toolCalls: [],
      isComplete: true,
      creationDate: toIsoDate(message.createdAt),
    } as const,
    { files: files.length === 0 ? undefined : files },
  )
}

function projectTurn(turn: Turn, { lazyHref }: LazyOptions): readonly PlacedRow[] {
  const rows: PlacedRow[] = []
  // Only the last step of a turn can still become a row, so earlier numbers do not change.
  let number = 0
  for (const [index, step] of turn.steps.entries()) {
    const content = stepTextOf(step)
    const calls = step.parts.flatMap((part) =>
      part.type === 'call' ? [toKnownCall(part, turn)] : [],
    )
    const joined = step.parts
      .filter((part) => part.type === 'steering')
      .map((part, at) => ({
        row: projectSteering(part, turn),
        step: index,
        place: 1 + calls.length + at,
      }))
    if (content === '' && !hasCalls(step)) {
      appendAll(rows, joined)
      continue
    }
    const textRow: EntityRow = {
      id: `${turn.id}:${number++}`,
      messageId: turn.id,
      entity: calls.length > 0 ? 'AI_TOOL' : 'AI_MESSAGE',
      content,
      toolCalls: calls.map(projectCall),
      isComplete: isWholeStep(step),
      creationDate: toIsoDate(step.startedAt),
    }
    rows.push({ row: textRow, step: index, place: 0 })
    for (const [at, call] of calls.entries()) {
      if (isOpenCall(call)) continue
      const result: EntityRow = {
        id: `${call.id}:result`,
        messageId: turn.id,
        entity: 'TOOL',
        content: {
          toolCallId: call.id,
          result: projectResultValue(call, lazyHref),
          ...errorMarkOf(call),
        },
        toolCalls: [],
        isComplete: isCallComplete(call),
        creationDate: toIsoDate(call.endedAt),
      }
      rows.push({ row: result, step: index, place: 1 + at })
    }
    appendAll(rows, joined)
  }
  return rows
}

function projectSteering(part: SteeringPart, turn: Turn): EntityRow {
  const files = userFilesOf(part)
  return withDefined(
    {
      id: part.id,
      messageId: turn.id,
      entity: 'USER',
      content: userTextOf(part),
      toolCalls: [],
      isComplete: true,
      creationDate: toIsoDate(part.at),
    } as const,
    { files: files.length === 0 ? undefined : files },
  )
}

const projectCall = (call: Call): EntityToolCall => ({
  id: call.id,
  name: call.name,
  arguments: projectArguments(call.input),
  validated: validatedOf(call),
})
