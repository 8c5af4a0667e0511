import type { CallOrigin, CallOutcome } from '../core/call.ts'
import type { NewTurnEvent, TurnEventBody } from '../core/event.ts'
import type { FinishReason } from '../core/usage.ts'
import { withDefined } from '../core/with-defined.ts'
import type { Taken } from './call-model.ts'
import { openStream } from './open-stream.ts'
import { recordCall } from './record-call.ts'
import type { Run } from './run-context.ts'
import type { Part } from './sdk-layer.ts'
import {
  createPartTranslator,
  jsonObject,
  type SdkCall,
  toFinishReason,
  toUsage,
} from './translate-part.ts'

const unfinished = 'The model ended its answer before the arguments of this call were complete.'

/** Commits are awaited now and then, so that a model faster than the disk does not fill the memory. */
const mostBuffered = 256

export async function runStep(run: Run, index: number): Promise<void> {
  const ended = run.hooks.stepStarted(index)
  try {
    ended(await streamStep(run, index))
  } catch (error) {
    ended(run.signal.aborted ? 'interrupted' : 'error')
    throw error
  }
}

/** One model call: its parts become events, which are committed while it streams. */
async function streamStep(run: Run, index: number): Promise<FinishReason> {
  const toEvent = (event: TurnEventBody): NewTurnEvent => ({
    ...event,
    turnId: run.turnId,
    at: run.clock.now(),
  })
  // What the model is sent must be durable before it is sent (CL3).
  await run.ledger.commit()
  run.ledger.push(toEvent({ type: 'step-started', step: index, model: run.modelId }))
  const translator = createPartTranslator({
    turnId: run.turnId,
    step: index,
    now: run.clock.now,
    newCallId: run.newCallId,
    turn: () => run.ledger.expected,
    ends: 'provider-executed',
    onUnmatched: (id) => run.hooks.endIgnored(id),
  })
  let model: string | undefined
  let finishReason: FinishReason = 'interrupted'
  // Of each call that is streamed, whether any of its arguments has come.
  const streamed = new Map<string, boolean>()
  // How the stream ends says whether these calls are as they were meant.
  const possiblyTruncated: { readonly part: SdkCall; readonly call: CallOrigin }[] = []

  const onCall = async (part: SdkCall): Promise<Taken> => {
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
  const onFinish = async (part: Extract<Part, { type: 'model-call-end' }>): Promise<Taken> => {
    finishReason = toFinishReason(part.finishReason)
    const usage = toUsage(part.usage)
    const providerMetadata = jsonObject(part.providerMetadata)
    const step = { type: 'step-ended', finishReason, usage } as const
    for (const event of translator.drain()) run.ledger.push(event)
    const cutOff = [...translator.unfinished()]
    for (const { part: whole, call } of possiblyTruncated) {
      if (finishReason === 'length') cutOff.push(call.id)
      else for (const event of await recordCall(run, whole, call)) run.ledger.push(event)
    }
    // A call that was cut off has no whole arguments and never will. Only the token limit is a limit (ST4).
    const outcome: CallOutcome =
      finishReason === 'length'
        ? { state: 'interrupted', cause: 'over-limit' }
        : { state: 'failed', cause: 'invalid-input', error: unfinished }
    for (const callId of cutOff) {
      run.ledger.push(toEvent({ type: 'call-settled', callId, outcome }))
    }
    run.ledger.push(toEvent(withDefined(step, { model, providerMetadata })))
    run.ledger.flushSoon()
    return 'enough'
  }

  await openStream(run, (part) => {
    if (run.signal.aborted) return 'enough'
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        // Nearly all that a model says.
        const block = translator.blockOf(part)
        if (block !== undefined && run.ledger.extend(block, part.text)) return 'more'
        break
      }
      case 'tool-call':
        return onCall(part)
      case 'model-call-end':
        return onFinish(part)
      case 'model-call-response-metadata':
        model = part.modelId ?? model
        break
      case 'tool-input-start':
        streamed.set(part.id, false)
        break
      case 'tool-input-delta':
        if (part.delta !== '') streamed.set(part.id, true)
        break
      default:
        break
    }
    for (const event of translator.translate(part)) run.ledger.push(event)
    if (isResult(part)) run.ledger.flushSoon()
    if (run.ledger.pending <= mostBuffered) return 'more'
    return run.ledger.commit().then(() => 'more')
  })
  return finishReason
}

/**
 * A call whose arguments were cut off is closed by its provider as if it were whole: as text that is no
 * JSON, or, if none of it had come, as a call without arguments, which might run (CL6).
 */
function isPossiblyTruncated(part: SdkCall, hasArguments: boolean | undefined): boolean {
  if (hasArguments === undefined || part.providerExecuted === true) return false
  return !hasArguments || (part.invalid === true && typeof part.input === 'string')
}

const isResult = ({ type }: Part): boolean =>
  type === 'tool-result' || type === 'tool-error' || type === 'tool-approval-request'
