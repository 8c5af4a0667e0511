import { admitEvents } from '../../core/admit-events.ts'
import { type Call, isOpenCall } from '../../core/call.ts'
import type { NewTurnEvent, TurnEventBody } from '../../core/event.ts'
import { type CallId, type MessageId, parseCallId, type ThreadId } from '../../core/ids.ts'
import { countJsonChars } from '../../core/json-size.ts'
import { isCallEvent } from '../../core/lifecycle.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { findEventFault } from '../../core/parse-event.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { Engine } from '../engine.ts'
import { hashInput } from '../calls/hash-input.ts'
import type { FailureTexts } from '../run/failure-texts.ts'
import type { RunHooks } from '../telemetry/hooks.ts'
import type { RecordedPart } from './recorded-parts.ts'
import type { RunLedger } from '../run/run-ledger.ts'
import { toJson } from '../to-json.ts'
import {
  createPartTranslator,
  messageOf,
  type SdkCall,
  toFinishReason,
  toModelId,
  toUsage,
} from '../model/translate-part.ts'

/** Converts the parts of a host application's loop into events, in whatever order and however often they arrive. */
export interface Recorder {
  /**
   * Pushes the events of a part. Returns what is to be passed on, with our ids: not what was ignored or is held back.
   */
  record(part: RecordedPart): Promise<readonly RecordedPart[]>
  /** The stream is over: pushes what was held back. */
  end(): readonly RecordedPart[]
}

export interface RecorderParts {
  readonly engine: Pick<Engine, 'clock' | 'store' | 'options'>
  readonly newCallId: () => CallId
  readonly threadId: ThreadId
  readonly turnId: MessageId
  readonly ledger: RunLedger
  readonly hooks: RunHooks
  readonly failureTexts: FailureTexts
  /** Stored as the decider of calls that the host application's loop decided on. */
  readonly by: string
}

type Result = Extract<RecordedPart, { readonly type: 'tool-result' }>
type ToolError = Extract<RecordedPart, { readonly type: 'tool-error' }>
type Answer = Extract<RecordedPart, { readonly type: 'tool-approval-response' }>
type Question = Extract<RecordedPart, { readonly type: 'tool-approval-request' }>
type Denial = Extract<RecordedPart, { readonly type: 'tool-output-denied' }>
/** A part about a call that exists. */
type CallPart = Result | ToolError | Answer | Question | Denial

export function createRecorder(parts: RecorderParts): Recorder {
  const { engine, ledger, hooks, turnId } = parts
  const { now } = engine.clock
  /** Ids of the stream that do not occur in the thread, and are kept. */
  const free = new Set<string>()
  const seen = new Set<string>()
  /** Calls whose arguments are arriving, by the stream's id. */
  const streaming = new Map<string, CallId>()
  /** Calls that were recorded as failed: the stream repeats the error in a part of its own. */
  const shownFailed = new Set<CallId>()
  /**
   * For calls that the provider executes, the last result of a step is final: the SDK does not mark the preliminary
   * ones.
   */
  const provisional = new Map<CallId, Result>()
  /** Parts about calls whose arguments were not complete yet. */
  const early = new Map<string, CallPart[]>()
  /** The characters of parts that may still be kept there: their calls may never come. */
  let earlyCharsLeft = engine.options.maxTurnChars
  /** Answers that arrived before their approval request. */
  const answers = new Map<CallId, Answer>()
  /**
   * The end of a step that arrived while arguments were still streaming: once a new step has begun, clients take the
   * remaining arguments for another call, so the step stays open until they are complete.
   */
  let stepEnd: NewTurnEvent | null = null

  const translator = createPartTranslator({
    turnId,
    step: ledger.expected.steps.length,
    now,
    turn: () => ledger.expected,
    ends: 'all',
    toErrorOutcome: (part, call) =>
      isWorded(part)
        ? { state: 'failed', cause: 'tool-error', error: messageOf(part.error) }
        : parts.failureTexts.ofTool(call, part.error),
    maxResultChars: engine.options.maxResultChars,
    onUnmatched: (id) => hooks.endIgnored(id),
    newCallId: (id) => (free.delete(id) ? parseCallId(id) : parts.newCallId()),
  })

  const toEvent = (event: TurnEventBody): NewTurnEvent => ({ ...event, turnId, at: now() })

  /** Pushes the events that are allowed. False if none is. */
  const push = (events: readonly NewTurnEvent[]): boolean => {
    const sound = events.filter((event) => findEventFault(event) === undefined)
    const { admitted, ignored } = sound.some(isCallEvent)
      ? admitEvents(ledger.expected, sound, () => true)
      : { admitted: sound, ignored: [] }
    for (const { type, callId } of ignored) if (type === 'call-settled') hooks.endIgnored(callId)
    for (const event of admitted) ledger.push(event)
    return events.length === 0 || admitted.length > 0
  }

  /**
   * Keeps the stream's id as ours if it is free: then a reader of the host application's own stream has the stored ids.
   */
  const reserve = async (id: string): Promise<void> => {
    if (seen.has(id) || !isId(id)) return
    seen.add(id)
    const isTaken = [...callsOf(ledger.expected)].some((call) => call.id === id)
    if (isTaken) return
    // Without results: it is asked for each call, and the running turn is read where no row has the id.
    const stored = await engine.store.readCall(parts.threadId, parseCallId(id), 'none')
    if (stored === null) free.add(id)
  }

  const endStep = (): void => {
    if (stepEnd === null) return
    translator.endStep()
    if (ledger.expected.steps.at(-1)?.status === 'open') push([stepEnd])
    stepEnd = null
  }

  const startStep = (): readonly NewTurnEvent[] => {
    const { steps } = ledger.expected
    const last = steps.at(-1)
    if (last?.status !== 'open') return [toEvent({ type: 'step-started', step: steps.length })]
    if (last.parts.length === 0) return []
    // A loop that does not report how a step ended did not break it off.
    return [
      toEvent({ type: 'step-ended', finishReason: 'other' }),
      toEvent({ type: 'step-started', step: steps.length }),
    ]
  }

  const decide = (
    call: Call,
    kind: 'accepted' | 'rejected',
    by: string,
    more: { readonly automatic?: true; readonly feedback?: string } = {},
  ): NewTurnEvent => {
    const at = now()
    const input = call.input.kind === 'complete' ? call.input.value : null
    const decision = { kind, by, at, inputHash: hashInput(input), ...more }
    return toEvent({ type: 'call-decided', callId: call.id, decision })
  }

  const recordCallOf = (part: SdkCall): readonly RecordedPart[] => {
    const known = translator.find(part.toolCallId)
    const isSame =
      known !== undefined &&
      isOpenCall(known) &&
      known.input.kind === 'complete' &&
      known.name === part.toolName &&
      JSON.stringify(known.input.value) === JSON.stringify(inputOf(part))
    if (isSame) return []
    const call = translator.originOf(part)
    const callId = call.id
    streaming.delete(part.toolCallId)
    const input = inputOf(part)
    const recorded = {
      type: 'call-recorded',
      callId,
      call,
      input,
      approval: 'not-required',
    } as const
    const events = [toEvent(recorded)]
    if (part.invalid === true && part.providerExecuted !== true) {
      const outcome = parts.failureTexts.ofInvalid(call, part.error)
      events.push(toEvent({ type: 'call-settled', callId, outcome }))
      shownFailed.add(callId)
    }
    return push(events) ? [{ ...part, toolCallId: callId }] : []
  }

  const recordCallPart = async (part: CallPart): Promise<readonly RecordedPart[]> => {
    const id = 'toolCall' in part ? part.toolCall.toolCallId : part.toolCallId
    const call = translator.find(id)
    if (call === undefined || call.state === 'streaming') {
      earlyCharsLeft -= countJsonChars(part, earlyCharsLeft)
      const waiting = early.get(id)
      if (earlyCharsLeft < 0) hooks.endIgnored(id)
      else if (waiting === undefined) early.set(id, [part])
      else waiting.push(part)
      return []
    }
    switch (part.type) {
      case 'tool-approval-request':
        return recordApprovalRequest(part, call)
      case 'tool-approval-response':
        return recordApprovalAnswer(part, call)
      case 'tool-output-denied':
        return recordDenial(part, call)
      default:
        return recordResult(part, call)
    }
  }

  const recordResult = async (
    part: Result | ToolError,
    call: Call,
  ): Promise<readonly RecordedPart[]> => {
    const given: Result | ToolError = { ...part, toolCallId: call.id }
    // The stream repeats the error that its call was recorded with.
    if (part.type === 'tool-error' && shownFailed.delete(call.id)) return [given]
    const decided = call.state === 'awaiting-approval' ? [decide(call, 'accepted', parts.by)] : []
    if (given.type === 'tool-error') provisional.delete(call.id)
    else if (call.providerExecuted === true && given.preliminary !== true && isOpenCall(call)) {
      provisional.set(call.id, given)
      push([...decided, ...translator.translate({ ...given, preliminary: true })])
      return [given]
    }
    return push([...decided, ...translator.translate(given)]) ? [given] : []
  }

  const settleProvisional = (): void => {
    const results = [...provisional.values()]
    provisional.clear()
    for (const part of results) push(translator.translate(part))
  }

  const recordApprovalRequest = async (
    part: Question,
    call: Call,
  ): Promise<readonly RecordedPart[]> => {
    const requested = translator.translate(part)
    if (requested.length === 0 || !push(requested)) return []
    const answer = answers.get(call.id)
    const current = translator.find(part.toolCall.toolCallId)
    const more =
      answer === undefined || current === undefined
        ? []
        : await recordApprovalAnswer(answer, current)
    return [withCall(part, call.id), ...more]
  }

  const recordApprovalAnswer = async (
    part: Answer,
    call: Call,
  ): Promise<readonly RecordedPart[]> => {
    if (call.state === 'ready') {
      answers.set(call.id, part)
      return []
    }
    const feedback = typeof part.reason === 'string' ? { feedback: part.reason } : {}
    // A host application may send anything: only `true` lets a tool run.
    const kind = (part.approved as unknown) === true ? 'accepted' : 'rejected'
    // An answer in the stream comes from the host application's policy: a person's arrives with the next request.
    const decided = decide(call, kind, 'policy', { automatic: true, ...feedback })
    return push([decided]) ? [withCall(part, call.id)] : []
  }

  const recordDenial = async (part: Denial, call: Call): Promise<readonly RecordedPart[]> => {
    if (call.state === 'awaiting-approval') push([decide(call, 'rejected', parts.by)])
    else if (isOpenCall(call)) {
      const outcome = { state: 'denied', cause: 'denied' } as const
      push([toEvent({ type: 'call-settled', callId: call.id, outcome })])
    }
    return [{ ...part, toolCallId: call.id }]
  }

  const record = async (part: RecordedPart): Promise<readonly RecordedPart[]> => {
    switch (part.type) {
      case 'start-step':
        if (streaming.size > 0) return [part]
        endStep()
        translator.endStep()
        push(startStep())
        return [part]
      case 'finish-step': {
        settleProvisional()
        const { usage, response, finishReason } = part as Partial<typeof part>
        const step = {
          type: 'step-ended',
          finishReason: toFinishReason(finishReason ?? ''),
        } as const
        const more = {
          usage: usage == null ? undefined : toUsage(usage),
          model: toModelId(response?.modelId),
        }
        stepEnd = toEvent(withDefined(step, more))
        if (streaming.size === 0) endStep()
        return [part]
      }
      case 'tool-input-start': {
        const known = translator.find(part.id)
        if (known !== undefined && isOpenCall(known)) return []
        await reserve(part.id)
        const [begun, ...rest] = translator.translate(part)
        if (begun?.type !== 'call-announced' || !push([begun, ...rest])) return []
        streaming.set(part.id, begun.callId)
        return [{ ...part, id: begun.callId }]
      }
      case 'tool-input-delta':
      case 'tool-input-end': {
        const callId = streaming.get(part.id)
        if (callId === undefined) return []
        if (part.type === 'tool-input-delta') push(translator.translate(part))
        return [{ ...part, id: callId }]
      }
      case 'tool-call': {
        await reserve(part.toolCallId)
        const given = [...recordCallOf(part)]
        const waiting = early.get(part.toolCallId) ?? []
        early.delete(part.toolCallId)
        for (const each of waiting) given.push(...(await recordCallPart(each)))
        if (streaming.size === 0) endStep()
        return given
      }
      case 'tool-result':
      case 'tool-error':
      case 'tool-approval-request':
      case 'tool-approval-response':
      case 'tool-output-denied':
        return recordCallPart(part)
      case 'data':
        push([toEvent({ type: 'item-added', item: { ...part, data: toJson(part.data) } })])
        return [part]
      case 'file':
      case 'reasoning-file':
        push(
          'url' in part
            ? [toEvent({ type: 'item-added', item: part })]
            : translator.translate(part),
        )
        return [part]
      default:
        push(translator.translate(part))
        return [part]
    }
  }

  return {
    record,
    end() {
      settleProvisional()
      const given: RecordedPart[] = []
      for (const part of [...early.values()].flat()) {
        if (part.type !== 'tool-result' && part.type !== 'tool-error') continue
        const call = translator.find(part.toolCallId)
        if (call === undefined) hooks.endIgnored(part.toolCallId)
        else if (push(settleEarly(part, call))) given.push({ ...part, toolCallId: call.id })
      }
      early.clear()
      endStep()
      return given
    },
  }

  /** Settles a call whose arguments never became complete, but which has a result. */
  function settleEarly(part: Result | ToolError, call: Call): readonly NewTurnEvent[] {
    translator.translate(part)
    return translator.drain().filter((event) => isCallEvent(event) && event.callId === call.id)
  }
}

function inputOf(part: SdkCall) {
  try {
    return toJson(part.input)
  } catch {
    // Arguments that JSON cannot represent cannot be stored; the call itself is.
    return null
  }
}

/**
 * A chunk of a UI message stream has no tool name, and its error text was chosen for clients by the host application.
 */
const isWorded = ({ error, toolName }: ToolError): boolean =>
  typeof error === 'string' && toolName === ''

const isId = (id: string): boolean => {
  try {
    return parseCallId(id) === id
  } catch {
    // Too long, empty, or not storable: the call gets an id of ours.
    return false
  }
}

const withCall = <Part extends { readonly toolCall: { readonly toolCallId: string } }>(
  part: Part,
  toolCallId: CallId,
): Part => ({ ...part, toolCall: { ...part.toolCall, toolCallId } })

/** Marks the calls that a host application's loop left open as started, because it is not known whether they were. */
export function planBegun(turn: Turn, at: number): readonly NewTurnEvent[] {
  return [...callsOf(turn)].flatMap((call): readonly NewTurnEvent[] =>
    call.state === 'ready' && call.providerExecuted !== true
      ? [{ type: 'call-started', turnId: turn.id, at, callId: call.id }]
      : [],
  )
}
