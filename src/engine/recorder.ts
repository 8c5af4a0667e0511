import { admitEvents } from '../core/admit-events.ts'
import { type Call, isOpenCall } from '../core/call.ts'
import type { NewTurnEvent, TurnEventBody } from '../core/event.ts'
import { type CallId, type MessageId, parseCallId, type ThreadId } from '../core/ids.ts'
import { isCallEvent } from '../core/lifecycle.ts'
import { callsOf, type Turn } from '../core/message.ts'
import { findEventFault } from '../core/parse-event.ts'
import { withDefined } from '../core/with-defined.ts'
import type { Engine } from './engine.ts'
import { hashInput } from './hash-input.ts'
import type { FailureWords } from './failure-words.ts'
import type { RunHooks } from './hooks.ts'
import type { RecordedPart } from './recorded-parts.ts'
import type { RunLedger } from './run-ledger.ts'
import { toJson } from './to-json.ts'
import {
  createPartTranslator,
  messageOf,
  type SdkCall,
  toFinishReason,
  toUsage,
} from './translate-part.ts'

/** Turns the parts of somebody's own loop into events, in whatever order and however often they come. */
export interface Recorder {
  /** Pushes what follows from a part. What is given on, with our ids: not what was ignored or is held back. */
  record(part: RecordedPart): Promise<readonly RecordedPart[]>
  /** The stream is over: what was held back is pushed. */
  end(): readonly RecordedPart[]
}

export interface RecorderParts {
  readonly engine: Pick<Engine, 'clock' | 'store' | 'options'>
  readonly newCallId: () => CallId
  readonly threadId: ThreadId
  readonly turnId: MessageId
  readonly ledger: RunLedger
  readonly hooks: RunHooks
  readonly words: FailureWords
  /** Who is said to have decided on calls that the host's loop decided on. */
  readonly by: string
}

type Result = Extract<RecordedPart, { readonly type: 'tool-result' }>
type ToolError = Extract<RecordedPart, { readonly type: 'tool-error' }>
type Answer = Extract<RecordedPart, { readonly type: 'tool-approval-response' }>
type Question = Extract<RecordedPart, { readonly type: 'tool-approval-request' }>
type Denial = Extract<RecordedPart, { readonly type: 'tool-output-denied' }>
/** What is said of a call that is there. */
type CallPart = Result | ToolError | Answer | Question | Denial

export function createRecorder(parts: RecorderParts): Recorder {
  const { engine, ledger, hooks, turnId } = parts
  const { now } = engine.clock
  /** Ids of the stream's own that nothing in the thread has, and that are kept. */
  const free = new Set<string>()
  const seen = new Set<string>()
  /** Calls whose arguments are arriving, by the stream's id. */
  const streaming = new Map<string, CallId>()
  /** Failed with their call: the stream says it once more. */
  const shownFailed = new Set<CallId>()
  /** Of the provider's own calls the last result of a step is the result: the SDK does not say which are rough. */
  const provisional = new Map<CallId, Result>()
  /** What was said of calls before they were whole. */
  const early = new Map<string, CallPart[]>()
  /** Answers that came before their question. */
  const answers = new Map<CallId, Answer>()
  /**
   * The end of a step that came while arguments were still arriving: clients take the rest of them for
   * another call once a new step has begun, so the step stays open until they are whole.
   */
  let stepEnd: NewTurnEvent | null = null

  const translator = createPartTranslator({
    turnId,
    step: ledger.expected.steps.length,
    now,
    turn: () => ledger.expected,
    ends: 'all',
    wordError: (part, call) =>
      isWorded(part)
        ? { state: 'failed', cause: 'tool-error', error: messageOf(part.error) }
        : parts.words.ofTool(call, part.error),
    maxResultChars: engine.options.maxResultChars,
    onUnmatched: (id) => hooks.endIgnored(id),
    newCallId: (id) => (free.delete(id) ? parseCallId(id) : parts.newCallId()),
  })

  const toEvent = (event: TurnEventBody): NewTurnEvent => ({ ...event, turnId, at: now() })

  /** Pushes what may be written. False if that is none of it. */
  const push = (events: readonly NewTurnEvent[]): boolean => {
    const sound = events.filter((event) => findEventFault(event) === undefined)
    const { admitted, ignored } = sound.some(isCallEvent)
      ? admitEvents(ledger.expected, sound, () => true)
      : { admitted: sound, ignored: [] }
    for (const { type, callId } of ignored) if (type === 'call-settled') hooks.endIgnored(callId)
    for (const event of admitted) ledger.push(event)
    return events.length === 0 || admitted.length > 0
  }

  /** Whether the id can be ours: then whoever reads the host's own stream has the ids that are stored. */
  const reserve = async (id: string): Promise<void> => {
    if (seen.has(id) || !isId(id)) return
    seen.add(id)
    const isTaken = [...callsOf(ledger.expected)].some((call) => call.id === id)
    if (isTaken || (await engine.store.readCall(parts.threadId, parseCallId(id))) !== null) return
    free.add(id)
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
    // A loop that does not say how a step ended did not break it off.
    return [
      toEvent({ type: 'step-ended', finishReason: 'other' }),
      toEvent({ type: 'step-started', step: steps.length }),
    ]
  }

  const decide = async (
    call: Call,
    kind: 'accepted' | 'rejected',
    by: string,
    more: { readonly automatic?: true; readonly feedback?: string } = {},
  ): Promise<NewTurnEvent> => {
    const at = now()
    const input = call.input.kind === 'complete' ? call.input.value : null
    const decision = { kind, by, at, inputHash: await hashInput(input), ...more }
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
      const outcome = parts.words.ofInvalid(call, part.error)
      events.push(toEvent({ type: 'call-settled', callId, outcome }))
      shownFailed.add(callId)
    }
    return push(events) ? [{ ...part, toolCallId: callId }] : []
  }

  const recordCallPart = async (part: CallPart): Promise<readonly RecordedPart[]> => {
    const id = 'toolCall' in part ? part.toolCall.toolCallId : part.toolCallId
    const call = translator.find(id)
    if (call === undefined || call.state === 'streaming') {
      early.set(id, [...(early.get(id) ?? []), part])
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
    // The stream says again what its call was recorded with.
    if (part.type === 'tool-error' && shownFailed.delete(call.id)) return [given]
    const decided =
      call.state === 'awaiting-approval' ? [await decide(call, 'accepted', parts.by)] : []
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
    if (!push(translator.translate(part))) return []
    const answer = answers.get(call.id)
    const asked = translator.find(part.toolCall.toolCallId)
    const more =
      answer === undefined || asked === undefined ? [] : await recordApprovalAnswer(answer, asked)
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
    const feedback = part.reason === undefined ? {} : { feedback: part.reason }
    const kind = part.approved ? 'accepted' : 'rejected'
    // An answer in the stream is the host's policy speaking: a person's comes with the next request.
    const decided = await decide(call, kind, 'policy', { automatic: true, ...feedback })
    return push([decided]) ? [withCall(part, call.id)] : []
  }

  const recordDenial = async (part: Denial, call: Call): Promise<readonly RecordedPart[]> => {
    if (call.state === 'awaiting-approval') push([await decide(call, 'rejected', parts.by)])
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
          model: response?.modelId,
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
        for (const said of waiting) given.push(...(await recordCallPart(said)))
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

  /** Its arguments never became whole, but it has a result. */
  function settleEarly(part: Result | ToolError, call: Call): readonly NewTurnEvent[] {
    translator.translate(part)
    return translator.drain().filter((event) => isCallEvent(event) && event.callId === call.id)
  }
}

function inputOf(part: SdkCall) {
  try {
    return toJson(part.input)
  } catch {
    // What JSON cannot say cannot be stored; that there was a call is.
    return null
  }
}

/** A chunk of a UI message stream has no name of the tool, and its text is what the host chose for clients. */
const isWorded = ({ error, toolName }: ToolError): boolean =>
  typeof error === 'string' && toolName === ''

const isId = (id: string): boolean => {
  try {
    return parseCallId(id) === id
  } catch {
    // Too long, empty, or not to be stored: the call gets an id of ours.
    return false
  }
}

const withCall = <Part extends { readonly toolCall: { readonly toolCallId: string } }>(
  part: Part,
  toolCallId: CallId,
): Part => ({ ...part, toolCall: { ...part.toolCall, toolCallId } })

/** The turn with what a loop of the host's own left open taken for begun: whether it was, nobody here knows. */
export function planBegun(turn: Turn, at: number): readonly NewTurnEvent[] {
  return [...callsOf(turn)].flatMap((call): readonly NewTurnEvent[] =>
    call.state === 'ready' && call.providerExecuted !== true
      ? [{ type: 'call-started', turnId: turn.id, at, callId: call.id }]
      : [],
  )
}
