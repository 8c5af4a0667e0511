import {
  type Call,
  type CallCause,
  type CallState,
  type Decision,
  isOpenCall,
} from '../core/call.ts'
import type { Json } from '../core/json.ts'
import type { Turn } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { projectArguments } from './call-arguments.ts'
import { type ChatStatus, chatStatusOf, type Validated, validatedOf } from './call-status.ts'
import { commentaryOf } from './commentary.ts'
import { toIsoDate } from './iso-date.ts'
import { toKnownCall } from './known-call.ts'
import { type LazyOptions, projectOutput } from './lazy-output.ts'
import { partialResultOf } from './result-value.ts'
import { errorTextOf } from './call-error-text.ts'

/** A call by itself, with all its data (CL8). */
export interface ToolCallRecord {
  /** Made by the server, and globally unique. */
  readonly id: string
  /** The provider's id of the call; not unique. */
  readonly providerCallId: string
  readonly messageId: string
  readonly threadId: string
  /** The name of the tool. */
  readonly name: string
  /** The arguments that the tool was or will be called with; while they stream in, the part that can be parsed. */
  readonly arguments: Json
  /** Present exactly when `state` is `succeeded`; `null` is a result. */
  readonly result?: Json
  /** Why there is no result, for people. Only on a call that ended without one. */
  readonly error?: string
  /** The partial output of a call that was broken off, where it was kept. */
  readonly partialResult?: Json
  /** The state of the call. */
  readonly state: CallState
  /** Why the call ended without a result. */
  readonly cause?: CallCause
  /** Whether it is open: its state can still change. */
  readonly isPartial: boolean
  /** The state as the chat view names it. */
  readonly status: ChatStatus
  /** The approval as the AI SDK 4 view names it. */
  readonly validated: Validated
  /** The text of the model before the call (CO1). */
  readonly commentary?: string
  /** The model call that it belongs to, from 0. */
  readonly step: number
  /** When its first event was stored, as an ISO date. */
  readonly createdAt: string
  /** When its tool began. */
  readonly startedAt?: string
  /** When it ended. */
  readonly completedAt?: string
  /** Who decided on it, when and why, where it waited for approval. */
  readonly decision?: Omit<Decision, 'at'> & { readonly at: string }
}

/** The calls of one message. */
export interface ToolCallList {
  /** In call order. */
  readonly toolCalls: readonly ToolCallRecord[]
  /** Whether the turn has ended: nothing here will change, and nothing will be added. */
  readonly isComplete: boolean
}

export function projectToolCall(
  call: Call,
  turn: Turn,
  threadId: string,
  options: LazyOptions = {},
): ToolCallRecord {
  const step = turn.steps.find(({ parts }) =>
    parts.some((part) => part.type === 'call' && part.id === call.id),
  )
  const commentary = step === undefined ? undefined : commentaryOf(step).get(call.id)
  return toRecord(call, commentary, turn, threadId, options)
}

/** In call order: the calls that are open or succeeded, or with `include: 'all'` every call (CL9). */
export function projectToolCalls(
  turn: Turn,
  threadId: string,
  options: LazyOptions & { readonly include?: 'all' } = {},
): ToolCallList {
  const records = turn.steps.flatMap((step) => {
    const commentary = commentaryOf(step)
    return step.parts.flatMap((part) =>
      part.type === 'call'
        ? [toRecord(part, commentary.get(part.id), turn, threadId, options)]
        : [],
    )
  })
  return {
    toolCalls: records.filter(
      (record) => options.include === 'all' || record.isPartial || record.state === 'succeeded',
    ),
    isComplete: turn.progress.status === 'ended',
  }
}

function toRecord(
  stored: Call,
  commentary: string | undefined,
  turn: Turn,
  threadId: string,
  { lazyHref }: LazyOptions,
): ToolCallRecord {
  const call = toKnownCall(stored, turn)
  const ended = isOpenCall(call) ? undefined : call
  return withDefined(
    {
      id: call.id,
      providerCallId: call.providerCallId,
      messageId: turn.id,
      threadId,
      name: call.name,
      arguments: projectArguments(call.input),
      state: call.state,
      isPartial: ended === undefined,
      status: chatStatusOf(call),
      validated: validatedOf(call),
      step: call.step,
      createdAt: toIsoDate(call.createdAt),
    },
    {
      result:
        ended?.state === 'succeeded' ? projectOutput(ended.output, lazyHref?.(ended)) : undefined,
      error: ended === undefined || ended.state === 'succeeded' ? undefined : errorTextOf(ended),
      partialResult: partialResultOf(call),
      cause: ended === undefined || ended.state === 'succeeded' ? undefined : ended.cause,
      commentary,
      startedAt: call.startedAt === undefined ? undefined : toIsoDate(call.startedAt),
      completedAt: ended === undefined ? undefined : toIsoDate(ended.endedAt),
      decision:
        call.decision === undefined
          ? undefined
          : { ...call.decision, at: toIsoDate(call.decision.at) },
    },
  )
}
