import type { Json } from '../core/json.ts'
import {
  isTurn,
  type Message,
  type SteeringPart,
  type Turn,
  type UserMessage,
} from '../core/message.ts'
import { type ShownVersions, versionsOf } from '../core/versions.ts'
import { withDefined } from '../core/with-defined.ts'
import { answersOf, stepTextOf } from './commentary.ts'
import { toIsoDate } from './iso-date.ts'
import type { LazyOptions } from './lazy-output.ts'
import { type Attempt, isBrokenAttempt } from './shown-parts.ts'
import { projectToolCalls, type ToolCallRecord } from './tool-call-record.ts'
import { type UserFile, userFilesOf, userTextOf } from './user-content.ts'

/** FD6: the final response, and beside it the calls that led to it. */
export interface ChatMessage {
  readonly id: string
  readonly role: 'user' | 'system' | 'assistant'
  /** The final response, or the person's text. */
  readonly content: string
  /** Every call, in call order; empty on a person's message. */
  readonly toolCalls: readonly ChatToolCall[]
  readonly createdAt: string
  /** `null` on a person's message. */
  readonly toolActivity: ToolActivity | null
  /** The files of a person's message; absent if there are none. */
  readonly files?: readonly UserFile[]
  /** All versions of it, and which one this is; absent unless there are several (VR1). */
  readonly versions?: ShownVersions
  /**
   * Text that was shown and is not part of the answer: attempts that were broken off and run again (AG8).
   * Absent if there are none.
   */
  readonly drafts?: readonly ChatDraft[]
  /** What was answered before a person's input joined the turn (IN3). Absent if nothing was. */
  readonly replies?: readonly ChatReply[]
  /** Inputs that joined the turn while it ran (IN3). Absent if there are none. */
  readonly steering?: readonly ChatSteering[]
}

/** An input that joined a turn while it ran. */
export interface ChatSteering {
  readonly id: string
  readonly text: string
  /** The index of the step after which it joined, as in the calls. */
  readonly step: number
  readonly createdAt: string
  readonly files?: readonly UserFile[]
}

/** An answer that was given before an input joined the turn, which was then answered in its turn. */
export interface ChatReply {
  readonly text: string
  /** The index of its step, as in the calls. */
  readonly step: number
}

/** The text of an attempt that was broken off. */
export interface ChatDraft {
  readonly text: string
  readonly attempt: Attempt
  /** The index of its step, as in the calls. */
  readonly step: number
}

/** The record of a call without the fields of its message; `args` is this format's name for the arguments. */
export type ChatToolCall = Omit<
  ToolCallRecord,
  'messageId' | 'threadId' | 'providerCallId' | 'isPartial' | 'decision' | 'arguments'
> & { readonly args: Json }

/** What a turn is doing, and the counts of its calls. */
export interface ToolActivity {
  /**
   * Whether the turn runs: from the question to its end, also while the model thinks and between two steps.
   * False when it has ended, and while it waits for a person or a client.
   */
  readonly isActive: boolean
  /** The name of the running tool; the last one, where several run. */
  readonly currentStep?: string
  /** How many calls there are. */
  readonly total: number
  /** Calls that are open and do not wait for a person. */
  readonly running: number
  /** Calls that wait for a person. */
  readonly waiting: number
  /** Calls that ended with a result. */
  readonly succeeded: number
  /** Calls that ended without a result. */
  readonly failed: number
  /** When the first call was created; absent if there is none. */
  readonly startedAt?: string
  /** When the last call ended; absent while a call is open or another may follow. */
  readonly endedAt?: string
}

/** `null` where there is nothing to show and nothing will follow: a client never gets an empty bubble. */
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
    { files: files.length === 0 ? undefined : files, versions: versionsOf(message) },
  )
}

function projectTurn(turn: Turn, options: LazyOptions): ChatMessage | null {
  const answers = answersOf(turn)
  const content = answers.at(-1)?.text ?? ''
  const replies = answers
    .slice(0, -1)
    .flatMap(({ text, lastStep }): readonly ChatReply[] =>
      lastStep === undefined ? [] : [{ text, step: lastStep.index }],
    )
  const { toolCalls, isComplete } = projectToolCalls(turn, '', { ...options, include: 'all' })
  const drafts = turn.steps.flatMap((step): readonly ChatDraft[] => {
    const text = isBrokenAttempt(step) ? stepTextOf(step) : ''
    return text === '' ? [] : [{ text, attempt: 'abandoned', step: step.index }]
  })
  const steering = turn.steps.flatMap((step) =>
    step.parts.flatMap((part) => (part.type === 'steering' ? [toSteering(part, step.index)] : [])),
  )
  const isEmpty = drafts.length + steering.length + toolCalls.length === 0
  if (isComplete && content === '' && isEmpty) return null
  return withDefined(
    {
      id: turn.id,
      role: 'assistant',
      content,
      toolCalls: toolCalls.map(toChatToolCall),
      createdAt: toIsoDate(turn.createdAt),
      toolActivity: toActivity(turn, toolCalls),
    } as const,
    {
      drafts: drafts.length === 0 ? undefined : drafts,
      replies: replies.length === 0 ? undefined : replies,
      steering: steering.length === 0 ? undefined : steering,
      versions: versionsOf(turn),
    },
  )
}

function toSteering(part: SteeringPart, step: number): ChatSteering {
  const files = userFilesOf(part)
  return withDefined(
    { id: part.id, text: userTextOf(part), step, createdAt: toIsoDate(part.at) },
    { files: files.length === 0 ? undefined : files },
  )
}

function toChatToolCall(record: ToolCallRecord): ChatToolCall {
  const { messageId, threadId, providerCallId, isPartial, decision, ...rest } = record
  const { id, name, arguments: args, ...call } = rest
  return { id, name, args, ...call }
}

function toActivity(turn: Turn, calls: readonly ToolCallRecord[]): ToolActivity {
  const isActive = turn.progress.status === 'running'
  const open = calls.filter((call) => call.isPartial)
  const working = open.filter((call) => call.state !== 'awaiting-approval')
  const succeeded = calls.filter((call) => call.state === 'succeeded').length
  const ends = calls.flatMap((call) => call.completedAt ?? []).toSorted()
  return withDefined(
    {
      isActive,
      total: calls.length,
      running: working.length,
      waiting: open.length - working.length,
      succeeded,
      failed: calls.length - open.length - succeeded,
    },
    {
      currentStep: isActive ? working.findLast(isRunning)?.name : undefined,
      startedAt: calls[0]?.createdAt,
      endedAt: isActive || open.length > 0 ? undefined : ends.at(-1),
    },
  )
}

const isRunning = ({ status }: ToolCallRecord): boolean => status === 'running'
