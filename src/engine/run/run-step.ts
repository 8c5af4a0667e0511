import type { CallOrigin, CallOutcome } from '../../core/call.ts'
import type { NewTurnEvent, TurnEventBody } from '../../core/event.ts'
import { isLargerThan } from '../../core/json-size.ts'
import type { AnswerLimit, Step } from '../../core/message.ts'
import type { FinishReason, Usage } from '../../core/usage.ts'
import { withDefined } from '../../core/with-defined.ts'
import { shownTextOf } from '../../views/carry-on-words.ts'
import { createAnswerMeter, type Overrun } from './answer-meter.ts'
import type { OnPart, PartResult } from '../model/call-model.ts'
import { createCarryOn } from './carry-on.ts'
import type { StepEnd } from '../telemetry/hooks.ts'
import { ModelFailure, openStream } from '../model/open-stream.ts'
import { inHooks } from './in-wrapper.ts'
import { recordCall } from './record-call.ts'
import { replaceModel, type StepAttempt } from './replace-model.ts'
import type { Run } from './run-context.ts'
import type { ModelPart } from '../model/model-part.ts'
import { isSoundPart } from '../model/sound-part.ts'
import {
  createPartTranslator,
  jsonObject,
  type SdkCall,
  toFinishReason,
  toModelId,
  toUsage,
} from '../model/translate-part.ts'

const unfinished = 'The model ended its answer before the arguments of this call were complete.'

/**
 * The buffer is committed after this many events, so that a model faster than the disk does not fill the memory.
 */
const mostBuffered = 256

/**
 * The buffer is also committed after this many characters: encoding one huge batch would block the event loop, and
 * with it the timers of other runs (OP7).
 */
const mostBufferedChars = 65_536

/**
 * Runs one step. Returns the limit that ended it before the model did, or null. `resumes`: a step that had shown
 * text, and is continued.
 */
export async function runStep(
  run: Run,
  index: number,
  resumes?: Step,
): Promise<AnswerLimit | null> {
  let attempt: StepAttempt = withDefined({ index, isBegun: false }, { resumes })
  for (;;) {
    const current = attempt
    // What the model is sent must be durable before it is sent (CL3).
    await run.ledger.commit()
    await run.prepareStep()
    const ended = run.hooks.stepStarted(current.index, run.model)
    try {
      const stream = () => streamStep(run, current)
      const { limit, ...end } = await inHooks(run, { step: current.index }, stream)
      ended(end)
      await run.lifecycle.modelEnded(run.ledger.expected)
      return limit
    } catch (thrown) {
      if (!run.signal.aborted) {
        await run.lifecycle.stepFailed(thrown instanceof ModelFailure ? thrown.cause : thrown)
      }
      ended({ finishReason: run.signal.aborted ? 'interrupted' : 'error' })
      if (!(thrown instanceof ModelFailure)) throw thrown
      const next = replaceModel(run, current, thrown.cause)
      if (next === null) throw thrown.cause
      attempt = next
    }
  }
}

/** One model call: its parts become events, which are committed while it streams. */
async function streamStep(
  run: Run,
  { index, resumes, isBegun }: StepAttempt,
): Promise<StreamedStep> {
  const toEvent = (event: TurnEventBody): NewTurnEvent => ({
    ...event,
    turnId: run.turnId,
    at: run.clock.now(),
  })
  const { modelId } = run.model
  const begin = (step: number) =>
    run.ledger.push(toEvent({ type: 'step-started', step, model: modelId }))
  if (resumes === undefined && !isBegun) begin(index)
  const createTranslator = (step: number, blocksBefore: number) =>
    createPartTranslator({
      turnId: run.turnId,
      step,
      blocksBefore,
      now: run.clock.now,
      newCallId: run.newCallId,
      turn: () => run.ledger.expected,
      ends: 'provider-executed',
      toErrorOutcome: ({ error }, call) => run.failureTexts.ofTool(call, error),
      maxResultChars: run.options.maxResultChars,
      onUnmatched: (id) => run.hooks.endIgnored(id),
    })
  let translator = createTranslator(index, resumes?.parts.length ?? 0)
  const meter = createAnswerMeter(run.options, run.ledger.expected, run.allowed)
  let limit: AnswerLimit | null = null
  let bufferedChars = 0
  let model: string | undefined
  let usage: Usage | undefined
  let finishReason: FinishReason = 'interrupted'
  // For each streamed call, whether any of its arguments have arrived.
  const streamed = new Map<string, boolean>()
  // Calls whose arguments may be incomplete; the finish reason of the stream decides.
  const possiblyTruncated: { readonly part: SdkCall; readonly call: CallOrigin }[] = []

  const onCall = async (part: SdkCall): Promise<PartResult> => {
    const call = translator.originOf(part)
    if (isPossiblyTruncated(part, streamed.get(part.toolCallId)))
      possiblyTruncated.push({ part, call })
    else {
      for (const event of await recordCall(run, part, call)) run.ledger.push(event)
      for (const event of translator.early(part)) run.ledger.push(event)
      run.ledger.flushSoon()
    }
    return 'more'
  }
  /** A call that was begun and never completed has no arguments that a tool could run with. */
  const closeUnfinished = async (outcome: CallOutcome): Promise<void> => {
    for (const event of translator.drain()) run.ledger.push(event)
    const cutOff = [...translator.unfinished()]
    for (const { part: whole, call } of possiblyTruncated) {
      if (finishReason === 'length') cutOff.push(call.id)
      else for (const event of await recordCall(run, whole, call)) run.ledger.push(event)
    }
    for (const callId of cutOff) {
      run.ledger.push(toEvent({ type: 'call-settled', callId, outcome }))
    }
  }
  const onFinish = async (
    part: Extract<ModelPart, { type: 'model-call-end' }>,
  ): Promise<PartResult> => {
    finishReason = toFinishReason(part.finishReason)
    usage = toUsage(part.usage)
    // Dropped if it is larger than any arguments may be: the end of a step must not fail the turn, and is not metered.
    const isTooLarge = isLargerThan(part.providerMetadata, run.options.maxArgumentChars)
    const providerMetadata = isTooLarge ? undefined : jsonObject(part.providerMetadata)
    const step = { type: 'step-ended', finishReason } as const
    // Only the token limit counts as a limit (ST4).
    await closeUnfinished(
      finishReason === 'length'
        ? overLimit
        : { state: 'failed', cause: 'invalid-input', error: unfinished },
    )
    run.ledger.push(toEvent(withDefined(step, { usage, model, providerMetadata })))
    run.ledger.flushSoon()
    return 'enough'
  }
  /** The answer ends here, whatever the model would still produce; its stream is cancelled (ST4a). */
  const onLimit = async (over: Overrun<StreamedPart>, part: StreamedPart): Promise<PartResult> => {
    limit = over.limit
    finishReason = 'length'
    if (over.rest !== null) pushPart(over.rest)
    // The call itself is recorded, its oversized arguments are not; nor is a call whose name is what is oversized.
    if (
      part.type === 'tool-call' &&
      (over.limit.what === 'arguments' || over.limit.what === 'turn') &&
      part.toolCallId.length + part.toolName.length <= run.options.maxArgumentChars &&
      !streamed.has(part.toolCallId)
    ) {
      const { toolCallId: id, toolName } = part
      pushPart({ type: 'tool-input-start', id, toolName })
    }
    await closeUnfinished(overLimit)
    run.ledger.push(toEvent(withDefined({ type: 'step-ended', finishReason } as const, { model })))
    return 'enough'
  }
  const pushPart = (part: StreamedPart): void => {
    for (const event of translator.translate(part)) run.ledger.push(event)
  }
  /** A file that the model generates is stored before the event that refers to it is pushed. */
  const onFile = async (part: StreamedPart): Promise<PartResult> => {
    for (const event of translator.translate(part)) {
      const isFile = event.type === 'item-added' && 'url' in event.item
      if (!isFile || !('url' in event.item)) run.ledger.push(event)
      else {
        const url = await run.offload(event.item.url)
        run.ledger.push({ ...event, item: { ...event.item, url } })
      }
    }
    return flushIfFull()
  }
  const pushText = (part: Extract<ModelPart, { type: 'text-delta' | 'reasoning-delta' }>): void => {
    // The usual case: the delta extends the last buffered one.
    const block = translator.blockOf(part)
    if (block === undefined || !run.ledger.extend(block, part.text)) pushPart(part)
    bufferedChars += part.text.length
  }
  const flushIfFull = (): PartResult | Promise<PartResult> => {
    if (run.ledger.pending <= mostBuffered && bufferedChars <= mostBufferedChars) return 'more'
    bufferedChars = 0
    return run.ledger.commit().then(() => 'more')
  }

  const onPart: OnPart = (part) => {
    if (run.signal.aborted) return 'enough'
    if (part.type === 'model-call-end') return onFinish(part)
    // A client of the AI SDK refuses the whole stream because of one that has not the fields of its type.
    if (isItem(part) && !isSoundPart(part)) return 'more'
    const over = meter.count(part)
    if (over !== null) return onLimit(over, part)
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta':
        pushText(part)
        return flushIfFull()
      case 'tool-call':
        return onCall(part)
      case 'file':
      case 'reasoning-file':
        return onFile(part)
      case 'model-call-response-metadata':
        model = toModelId(part.modelId) ?? model
        break
      case 'tool-input-start':
        streamed.set(part.id, false)
        break
      case 'tool-input-delta':
        if (part.delta !== '') streamed.set(part.id, true)
        bufferedChars += part.delta.length
        break
      default:
        break
    }
    pushPart(part)
    if (isResult(part)) run.ledger.flushSoon()
    return flushIfFull()
  }
  await openStream(run, resumes === undefined ? onPart : carryOn(resumes))
  return withDefined({ finishReason, limit }, { usage, model })

  /**
   * Text that was shown must not be repeated: the new attempt continues in the open step, or else in a step of its
   * own (AG8).
   */
  function carryOn(step: Step): OnPart {
    const open = step.parts.findLast((part) => part.type === 'text')
    return createCarryOn({
      shown: shownTextOf(step),
      isPrefixed: run.continueText === 'prefix',
      decided(verdict) {
        if (verdict === 'continues') {
          run.ledger.push(toEvent({ type: 'step-resumed', model: modelId }))
          return
        }
        const next = run.ledger.expected.steps.length
        run.ledger.push(toEvent({ type: 'step-abandoned' }))
        begin(next)
        translator = createTranslator(next, 0)
      },
      joined(id) {
        if (open?.type === 'text' && open.state === 'streaming') translator.adopt(id, open.block)
      },
      onPart,
    })
  }
}

/** Every part before the end of the model call. */
type StreamedPart = Exclude<ModelPart, { readonly type: 'model-call-end' }>

interface StreamedStep extends StepEnd {
  readonly limit: AnswerLimit | null
}

const overLimit: CallOutcome = { state: 'interrupted', cause: 'over-limit' }

/**
 * A provider closes a call whose arguments were cut off as if it were complete: with text that is not JSON, or, if
 * no arguments had arrived, as a call without arguments, which might run (CL6).
 */
function isPossiblyTruncated(part: SdkCall, hasArguments: boolean | undefined): boolean {
  if (hasArguments === undefined || part.providerExecuted === true) return false
  return !hasArguments || (part.invalid === true && typeof part.input === 'string')
}

const isItem = ({ type }: ModelPart): boolean =>
  type === 'source' || type === 'file' || type === 'reasoning-file' || type === 'custom'

const isResult = ({ type }: ModelPart): boolean =>
  type === 'tool-result' || type === 'tool-error' || type === 'tool-approval-request'
