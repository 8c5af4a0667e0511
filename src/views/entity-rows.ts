import { type Call, isOpenCall } from '../core/call.ts'
import type { Json } from '../core/json.ts'
import { isTurn, type Message, type Turn, type UserMessage } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { projectArguments } from './call-arguments.ts'
import { isCallComplete, type Validated, validatedOf } from './call-words.ts'
import { hasCalls, stepTextOf } from './commentary.ts'
import { toIsoDate } from './iso-date.ts'
import { toKnownCall } from './known-call.ts'
import type { LazyOptions } from './lazy-output.ts'
import { errorMarkOf, projectResultValue } from './result-value.ts'
import { type UserFile, userFilesOf, userTextOf } from './user-content.ts'
import { isWholeStep } from './whole-step.ts'

/** AI_TOOL: what a step said, and its calls. TOOL: what one call gave. AI_MESSAGE: a step without calls. */
export type EntityKind = 'USER' | 'SYSTEM' | 'AI_TOOL' | 'TOOL' | 'AI_MESSAGE'

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
  /** What a person attached; only where there is something. */
  readonly files?: readonly UserFile[]
}

export interface EntityToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: Json
  readonly validated: Validated
}

/** FD5: a message as rows, oldest first. */
export function projectEntityRows(
  message: Message,
  options: LazyOptions = {},
): readonly EntityRow[] {
  return isTurn(message) ? projectTurn(message, options) : [projectUserMessage(message)]
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

function projectTurn(turn: Turn, { lazyHref }: LazyOptions): readonly EntityRow[] {
  const rows: EntityRow[] = []
  // Only the last step of a turn can still become a row, so the numbers before it stand.
  let place = 0
  for (const step of turn.steps) {
    const content = stepTextOf(step)
    if (content === '' && !hasCalls(step)) continue
    const calls = step.parts.flatMap((part) =>
      part.type === 'call' ? [toKnownCall(part, turn)] : [],
    )
    rows.push({
      id: `${turn.id}:${place++}`,
      messageId: turn.id,
      entity: calls.length > 0 ? 'AI_TOOL' : 'AI_MESSAGE',
      content,
      toolCalls: calls.map(projectCall),
      isComplete: isWholeStep(step),
      creationDate: toIsoDate(step.startedAt),
    })
    for (const call of calls) {
      if (isOpenCall(call)) continue
      rows.push({
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
      })
    }
  }
  return rows
}

const projectCall = (call: Call): EntityToolCall => ({
  id: call.id,
  name: call.name,
  arguments: projectArguments(call.input),
  validated: validatedOf(call),
})
