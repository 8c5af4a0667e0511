import { NoSuchToolError, type TextStreamPart, type ToolSet } from 'ai'
import type { NewTurnEvent, TurnFact } from '../core/event.ts'
import type { CallId, MessageId } from '../core/ids.ts'
import type { ItemPart, TurnEnding } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import type { Engine, Work } from './engine.ts'
import type { RunHooks } from './hooks.ts'
import { StreamCutError, toModelFault } from './model-error.ts'
import { end, type Interruption, type StartedRun } from './run.ts'
import type { RunLedger } from './run-ledger.ts'
import { type SendRequest, type SendResult, send } from './send.ts'
import { toJson } from './to-json.ts'
import {
  createPartTranslator,
  messageOf,
  type PartTranslator,
  type SdkCall,
  toFinishReason,
  toUsage,
} from './translate-part.ts'

/** What a `streamText` gives, and what a host sends beside it. */
export type RecordedPart = TextStreamPart<ToolSet> | RecordedData

/** A `data-<name>` of the host's own; one with the same name and id takes the place of the earlier one. */
export type RecordedData = Extract<ItemPart, { readonly type: 'data' }>

/** `stream`: the same parts, each given on only after what it says has been stored. */
export type Recording =
  | {
      readonly kind: 'recording'
      readonly turnId: MessageId
      readonly stream: ReadableStream<RecordedPart>
      /** Resolves when the turn has been stored to its end. */
      readonly done: Promise<void>
    }
  | Exclude<SendResult, { readonly kind: 'started' }>

/**
 * Stores the stream of a `streamText` that the host runs itself. The source is read to its end
 * whatever becomes of the reader, so a closed tab loses nothing.
 *
 * What holds: what is shown was stored before; every call ends; reload, page and stream agree; a
 * failed or cut-off stream keeps what came. What cannot hold, because the SDK runs the tools: that a
 * call is durable before its tool runs, that a tool runs at most once, approvals without a client,
 * and carrying the turn on after a crash (it is ended as interrupted instead).
 */
export async function record(
  engine: Engine,
  newCallId: () => CallId,
  source: AsyncIterable<RecordedPart>,
  request: SendRequest,
): Promise<Recording> {
  let recording: (Recorder & { readonly turnId: MessageId }) | undefined
  const sent = await send(engine, request, (turnId): Work => (ledger, hooks) => {
    const recorder = startRecorder({ engine, newCallId, source, turnId, ledger, hooks })
    recording = { ...recorder, turnId }
    return recorder.run
  })
  if (sent.kind !== 'started' || recording === undefined) return sent as Recording
  const { stream, run, turnId } = recording
  return { kind: 'recording', turnId, stream, done: run.done }
}

interface Recorder {
  readonly run: StartedRun
  readonly stream: ReadableStream<RecordedPart>
}

interface RecorderParts {
  readonly engine: Engine
  readonly newCallId: () => CallId
  readonly source: AsyncIterable<RecordedPart>
  readonly turnId: MessageId
  readonly ledger: RunLedger
  readonly hooks: RunHooks
}

function startRecorder({
  engine,
  newCallId,
  source,
  turnId,
  ledger,
  hooks,
}: RecorderParts): Recorder {
  const { clock, options } = engine
  const { readable, writable } = new TransformStream<RecordedPart, RecordedPart>(
    {},
    { highWaterMark: Number.POSITIVE_INFINITY },
    { highWaterMark: Number.POSITIVE_INFINITY },
  )
  const output = writable.getWriter()
  let interruption: Interruption | null = null
  let interrupted = () => {}
  const wasInterrupted = new Promise<'interrupted'>((resolve) => {
    interrupted = () => resolve('interrupted')
  })
  let held: RecordedPart[] = []
  let cancelTimer: (() => void) | null = null

  const flush = async () => {
    cancelTimer?.()
    cancelTimer = null
    const parts = held
    held = []
    await ledger.commit()
    // Whoever reads may be gone; what they would have read is stored.
    for (const part of parts) await output.write(part).catch(() => undefined)
  }

  const consume = async (): Promise<TurnEnding> => {
    let translator: PartTranslator | undefined
    const iterator = source[Symbol.asyncIterator]()
    while (true) {
      const read = await Promise.race([iterator.next(), wasInterrupted])
      if (read === 'interrupted' || read.done === true) break
      const part = read.value
      const next = translatorFor(part, translator)
      translator = next
      for (const event of facts(part, next)) ledger.push(event)
      held.push(part)
      if (isUrgent(part)) await flush()
      else cancelTimer ??= clock.after(options.textDelayMs, () => void flush().catch(fault))
      if (part.type === 'abort') return { kind: 'stopped' }
      if (part.type === 'error') throw part.error
      if (part.type === 'finish') {
        if (part.finishReason === 'interrupted') throw new StreamCutError('no end of the stream')
        return { kind: part.finishReason === 'length' ? 'cut-off' : 'completed' }
      }
    }
    // The host's own loop is told by its stream being closed; nobody waits for it.
    if (interruption !== null) void iterator.return?.().catch(() => undefined)
    if (interruption?.kind === 'stop') return { kind: 'stopped' }
    throw interruption?.kind === 'fault' ? interruption.error : new StreamCutError('no finish')
  }

  const translatorFor = (part: RecordedPart, current: PartTranslator | undefined): PartTranslator =>
    part.type === 'start-step' || current === undefined
      ? createPartTranslator({
          turnId,
          step: current === undefined ? 0 : current.step + 1,
          now: clock.now,
          newCallId,
          turn: () => ledger.expected,
          ends: 'all',
          onUnmatched: (id) => hooks.endIgnored(id),
        })
      : current

  const fact = (event: TurnFact): NewTurnEvent => ({ ...event, turnId, at: clock.now() })

  const facts = (part: RecordedPart, translator: PartTranslator): readonly NewTurnEvent[] => {
    switch (part.type) {
      case 'start-step':
        return [fact({ type: 'step-started', step: translator.step })]
      case 'finish-step': {
        const finishReason = toFinishReason(part.finishReason)
        const step = { type: 'step-ended', finishReason, usage: toUsage(part.usage) } as const
        return [fact(withDefined(step, { model: part.response.modelId }))]
      }
      case 'tool-call':
        return callFacts(part, translator).map(fact)
      case 'data':
        return [fact({ type: 'item-added', item: { ...part, data: toJson(part.data) } })]
      default:
        return translator.translate(part)
    }
  }

  const fault = (error: unknown) => {
    interruption ??= { kind: 'fault', error }
    interrupted()
  }

  const work = async () => {
    let ending: TurnEnding
    try {
      ending = await consume()
      await flush()
    } catch (error) {
      const { code, message } = toModelFault(error)
      ending = { kind: 'failed', error: { code, message } }
    }
    try {
      await end({ ledger, clock, hooks }, ending)
    } catch (error) {
      hooks.turnLost(error)
    }
    await output.close().catch(() => undefined)
  }

  const run: StartedRun = {
    done: work(),
    interrupt(why) {
      interruption ??= why
      interrupted()
    },
  }
  return { run, stream: readable }
}

const isUrgent = (part: RecordedPart): boolean =>
  !/^(text|reasoning|tool-input)-/.test(part.type) && part.type !== 'start'

/** The SDK runs the tool when it likes: from here on the call may have started. */
function callFacts(part: SdkCall, translator: PartTranslator): readonly TurnFact[] {
  const call = translator.originOf(part)
  const callId = call.id
  const recorded: TurnFact = {
    type: 'call-recorded',
    callId,
    call,
    input: toJson(part.input),
    approval: 'not-required',
  }
  if (part.invalid === true) {
    const cause = NoSuchToolError.isInstance(part.error) ? 'unknown-tool' : 'invalid-input'
    const outcome = { state: 'failed', cause, error: messageOf(part.error) } as const
    return [recorded, { type: 'call-settled', callId, outcome }]
  }
  return call.providerExecuted === true ? [recorded] : [recorded, { type: 'call-started', callId }]
}
