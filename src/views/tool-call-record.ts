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
import { type ChatStatus, chatStatusOf, type Validated, validatedOf } from './call-words.ts'
import { commentaryOf } from './commentary.ts'
import { toIsoDate } from './iso-date.ts'
import { toKnownCall } from './known-call.ts'
import { type LazyOptions, projectOutput } from './lazy-output.ts'
import { partialResultOf } from './result-value.ts'
import { errorTextOf } from './wording.ts'

/** A call by itself, with all that is known of it (CL8). */
export interface ToolCallRecord {
  readonly id: string
  readonly providerCallId: string
  readonly messageId: string
  readonly threadId: string
  readonly name: string
  readonly arguments: Json
  readonly result?: Json
  readonly error?: string
  /** What the call had given when it was broken off, where that was kept. */
  readonly partialResult?: Json
  readonly state: CallState
  readonly cause?: CallCause
  readonly isPartial: boolean
  readonly status: ChatStatus
  readonly validated: Validated
  readonly commentary?: string
  readonly step: number
  readonly createdAt: string
  readonly startedAt?: string
  readonly completedAt?: string
  readonly decision?: Omit<Decision, 'at'> & { readonly at: string }
}

export interface ToolCallList {
  readonly toolCalls: readonly ToolCallRecord[]
  /** The turn is over: nothing here will change, and nothing will be added. */
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

/** In call order: what is open or succeeded, or with `include: 'all'` every call (CL9). */
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
