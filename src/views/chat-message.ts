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
import { answerOf, stepTextOf } from './commentary.ts'
import { toIsoDate } from './iso-date.ts'
import type { LazyOptions } from './lazy-output.ts'
import { type Attempt, isBrokenAttempt } from './shown-parts.ts'
import { projectToolCalls, type ToolCallRecord } from './tool-call-record.ts'
import { type UserFile, userFilesOf, userTextOf } from './user-content.ts'

/** FD6: the final response, and beside it what was done to get there. */
export interface ChatMessage {
  readonly id: string
  readonly role: 'user' | 'system' | 'assistant'
  /** The final response, or what a person wrote. */
  readonly content: string
  /** Every call, in call order; empty on what a person wrote. */
  readonly toolCalls: readonly ChatToolCall[]
  readonly createdAt: string
  /** `null` on what a person wrote. */
  readonly toolActivity: ToolActivity | null
  /** What a person attached; only where there is something. */
  readonly files?: readonly UserFile[]
  /** The versions of it and which this one is; only where there are several (VR1). */
  readonly versions?: ShownVersions
  /** What was shown and is not the answer: attempts that were broken off and made again (AG8). Only where there are any. */
  readonly drafts?: readonly ChatDraft[]
  /** What a person said while it was made, and joined it (IN3). Only where there is any. */
  readonly steering?: readonly ChatSteering[]
}

/** What a person said while a turn ran. */
export interface ChatSteering {
  readonly id: string
  readonly text: string
  /** The index of the step behind which it joined, as calls have it. */
  readonly step: number
  readonly createdAt: string
  readonly files?: readonly UserFile[]
}

/** The text of an attempt that was broken off. */
export interface ChatDraft {
  readonly text: string
  readonly attempt: Attempt
  /** The index of its step, as calls have it. */
  readonly step: number
}

/** The record of a call without what the message around it says; `args` is this format's word. */
export type ChatToolCall = Omit<
  ToolCallRecord,
  'messageId' | 'threadId' | 'providerCallId' | 'isPartial' | 'decision' | 'arguments'
> & { readonly args: Json }

/** What a turn is doing, and one line about its calls. */
export interface ToolActivity {
  /**
   * It is being produced: from the question to its end, also while the model thinks and between two
   * steps. False when it has ended, and while it waits for a person or a client, since nothing goes on then.
   */
  readonly isActive: boolean
  /** The name of the tool that runs; the last one, where several do. */
  readonly currentStep?: string
  /** How many calls there are. */
  readonly total: number
  /** Open and not waiting for a person. */
  readonly running: number
  /** Waiting for a person. */
  readonly waiting: number
  /** Ended with a result. */
  readonly succeeded: number
  /** Ended without one. */
  readonly failed: number
  /** When the first call came; only where there is one. */
  readonly startedAt?: string
  /** When the last call ended; only when no call is open and none can follow. */
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
    { files: files.length === 0 ? undefined : files, versions: versionsOf(message) },
  )
}

function projectTurn(turn: Turn, options: LazyOptions): ChatMessage | null {
  const content = answerOf(turn)
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
