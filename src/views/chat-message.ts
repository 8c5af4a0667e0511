import type { Json } from '../core/json.ts'
import { isTurn, type Message, type Turn, type UserMessage } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { answerOf } from './commentary.ts'
import { toIsoDate } from './iso-date.ts'
import type { LazyOptions } from './lazy-output.ts'
import { projectToolCalls, type ToolCallRecord } from './tool-call-record.ts'
import { type UserFile, userFilesOf, userTextOf } from './user-content.ts'

/** FD6: the final response, and beside it what was done to get there. */
export interface ChatMessage {
  readonly id: string
  readonly role: 'user' | 'system' | 'assistant'
  readonly content: string
  readonly toolCalls: readonly ChatToolCall[]
  readonly createdAt: string
  /** `null` where no tool was called. */
  readonly toolActivity: ToolActivity | null
  /** What a person attached; only where there is something. */
  readonly files?: readonly UserFile[]
}

/** The record of a call without what the message around it says; `args` is this format's word. */
export type ChatToolCall = Omit<
  ToolCallRecord,
  'messageId' | 'threadId' | 'providerCallId' | 'isPartial' | 'decision' | 'arguments'
> & { readonly args: Json }

/** One line about the calls of a turn. */
export interface ToolActivity {
  readonly total: number
  /** Open and not waiting for a person. */
  readonly running: number
  readonly waiting: number
  readonly succeeded: number
  readonly failed: number
  /** The tool that is at work; the last one, where several are. */
  readonly current?: string
  readonly startedAt: string
  /** Only when no call is open. */
  readonly endedAt?: string
}

/** `null` where there is nothing to show and nothing will come: never an empty bubble. */
export function projectChatMessage(
  message: Message,
  options: LazyOptions = {},
): ChatMessage | null {
  return isTurn(message) ? projectTurn(message, options) : projectUserMessage(message)
}

function projectUserMessage(message: UserMessage): ChatMessage {
  const files = userFilesOf(message)
  return withDefined(
    {
      id: message.id,
      role: message.role,
      content: userTextOf(message),
      toolCalls: [],
      createdAt: toIsoDate(message.createdAt),
      toolActivity: null,
    },
    { files: files.length === 0 ? undefined : files },
  )
}

function projectTurn(turn: Turn, options: LazyOptions): ChatMessage | null {
  const content = answerOf(turn)
  const { toolCalls, isComplete } = projectToolCalls(turn, '', { ...options, include: 'all' })
  if (isComplete && content === '' && toolCalls.length === 0) return null
  return {
    id: turn.id,
    role: 'assistant',
    content,
    toolCalls: toolCalls.map(toChatToolCall),
    createdAt: toIsoDate(turn.createdAt),
    toolActivity: toActivity(toolCalls),
  }
}

function toChatToolCall(record: ToolCallRecord): ChatToolCall {
  const { messageId, threadId, providerCallId, isPartial, decision, ...rest } = record
  const { id, name, arguments: args, ...call } = rest
  return { id, name, args, ...call }
}

function toActivity(calls: readonly ToolCallRecord[]): ToolActivity | null {
  const [first] = calls
  if (first === undefined) return null
  const open = calls.filter((call) => call.isPartial)
  const working = open.filter((call) => call.state !== 'awaiting-approval')
  const succeeded = calls.filter((call) => call.state === 'succeeded').length
  const ends = calls.flatMap((call) => call.completedAt ?? []).toSorted()
  return withDefined(
    {
      total: calls.length,
      running: working.length,
      waiting: open.length - working.length,
      succeeded,
      failed: calls.length - open.length - succeeded,
      startedAt: first.createdAt,
    },
    { current: working.at(-1)?.name, endedAt: open.length === 0 ? ends.at(-1) : undefined },
  )
}
