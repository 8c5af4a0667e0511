import { toReadableThrown } from '../../core/error-text.ts'
import { callModel, type ModelCall, type OnPart, type PartResult } from './call-model.ts'
import { type Clock, elapsedMs, wait } from '../clock.ts'
import type { RunHooks } from '../telemetry/hooks.ts'
import { ModelTimeoutError, StreamCutError, toModelFault } from './model-error.ts'
import type { EngineOptions } from '../options/options.ts'
import type { ModelPart } from './model-part.ts'
import { messageOf } from './translate-part.ts'
import type { TurnAgent } from '../agent/turn-agent.ts'

const longestDelayMs = 30_000

/**
 * A model that emits this many parts before the first part of its answer is considered to have begun: held parts cost
 * memory.
 */
const mostHeld = 1_000

export interface ModelStreamSource {
  readonly modelCall: () => Promise<ModelCall>
  readonly agent: Pick<TurnAgent, 'timeout' | 'maxRetries'>
  readonly options: Pick<EngineOptions, 'modelRetries' | 'retryDelayMs'>
  readonly clock: Clock
  readonly hooks: Pick<RunHooks, 'modelRetried'>
  readonly signal: AbortSignal
}

/** `cause`: why the model failed. Errors of the consumer of the parts are thrown unchanged. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure'

  constructor(cause: unknown) {
    super('The model failed.', { cause })
  }
}

/**
 * One model call, retried with back-off as long as no part of an answer has arrived, and never after. It resolves with
 * the model's finish part or with `enough`, or throws.
 */
export async function openStream(run: ModelStreamSource, onPart: OnPart): Promise<void> {
  let call: ModelCall | undefined
  for (let attempt = 1; ; attempt++) {
    const gate = createGate(onPart)
    try {
      call ??= await run.modelCall()
      await withTimeLimit(run, call, gate.pass)
      if (gate.isOver) return
      throw gate.hasFailed
        ? new Error('It ended with an error without a reason.')
        : new StreamCutError('no end of the stream')
    } catch (thrown) {
      // An error of the consumer is not a failure of the model.
      if (gate.isHandling) throw toReadableThrown(thrown)
      const refusal = gate.hasBegun ? thrown : judgeFiles(call, thrown)
      if (refusal === 'again') {
        attempt--
        continue
      }
      call = undefined
      const error = toReadableThrown(refusal)
      const fault = toModelFault(error, run.clock.now())
      const isLast = attempt > (run.agent.maxRetries ?? run.options.modelRetries)
      if (gate.hasBegun || isLast || !fault.isRetryable || run.signal.aborted) {
        // The model was reached, and then the connection broke.
        throw new ModelFailure(
          gate.hasBegun && fault.code === 'network'
            ? new StreamCutError(messageOf(error), { cause: error })
            : error,
        )
      }
      const backOffMs = run.options.retryDelayMs * 2 ** (attempt - 1)
      const delayMs = Math.min(fault.retryAfterMs ?? backOffMs, longestDelayMs)
      run.hooks.modelRetried({ attempt, delayMs, code: fault.code, message: fault.message })
      await wait(run.clock, delayMs, run.signal)
    }
  }
}

/**
 * A provider may refuse a file after the answer to its request has begun, too, as the first part of its stream. `again`: the
 * same call is made without the files that it refused; otherwise, what the model failed with (ST3b).
 */
function judgeFiles(call: ModelCall | undefined, error: unknown): unknown {
  try {
    return call?.files.isToBlame(error) === true ? 'again' : error
  } catch (first) {
    return first
  }
}

/** A model that sends nothing for too long has failed, whether or not it reacts to the abort signal. */
async function withTimeLimit(
  { agent, clock }: ModelStreamSource,
  call: ModelCall,
  onPart: OnPart,
): Promise<void> {
  const { firstChunkMs, chunkMs } = agent.timeout
  if (firstChunkMs === undefined && chunkMs === undefined) return callModel(call, onPart, clock)
  const late = new AbortController()
  const expired = Promise.withResolvers<never>()
  // One timer, set again when it fires and a part has arrived since: most parts are a few characters, and a timer for
  // each would be expensive.
  let receivedAt = elapsedMs(clock)
  let limitMs = firstChunkMs
  let cancel: (() => void) | undefined
  const watch = (): void => {
    if (limitMs === undefined) return
    cancel = clock.after(Math.max(1, receivedAt + limitMs - elapsedMs(clock)), () => {
      if (limitMs === undefined || elapsedMs(clock) - receivedAt < limitMs) return watch()
      const error = new ModelTimeoutError(`nothing came for ${limitMs} ms`)
      expired.reject(error)
      late.abort(error)
    })
  }
  const onReceived = (part: ModelPart): void => {
    if (!isAnswer(part)) return
    receivedAt = elapsedMs(clock)
    if (limitMs === chunkMs) return
    limitMs = chunkMs
    cancel?.()
    watch()
  }
  watch()
  try {
    const signal = AbortSignal.any([call.signal, late.signal])
    const received: OnPart = (part) => {
      if (late.signal.aborted) return 'enough'
      onReceived(part)
      return onPart(part)
    }
    const called = callModel({ ...call, signal }, received, clock)
    called.catch(() => undefined)
    await Promise.race([called, expired.promise])
  } finally {
    cancel?.()
  }
}

/** Holds parts back until the answer begins, and records how it ended. */
function createGate(onPart: OnPart) {
  // Parts before the answer are held until it begins: a retry would emit them again.
  const held: ModelPart[] = []
  const gate = { hasBegun: false, hasFailed: false, isOver: false, isHandling: false, pass }
  return gate

  function pass(part: ModelPart): PartResult | Promise<PartResult> {
    if (part.type === 'error') throw part.error
    const end = part.type === 'model-call-end' ? part.finishReason : undefined
    // Providers close a stream that was cut off as if it were complete; only the finish reason shows it.
    if (end === 'interrupted') return 'enough'
    if (end === 'error') {
      // The error itself may follow after the end.
      gate.hasFailed = true
      return 'more'
    }
    if (gate.hasBegun) return deliver(part, end !== undefined)
    held.push(part)
    gate.hasBegun = isAnswer(part) || held.length >= mostHeld
    return gate.hasBegun ? deliverHeld(end !== undefined) : 'more'
  }

  function deliver(part: ModelPart, isLast: boolean): PartResult | Promise<PartResult> {
    gate.isHandling = true
    const verdict = onPart(part)
    if (typeof verdict !== 'string') return verdict.then((late) => settle(late, isLast))
    return settle(verdict, isLast)
  }

  function settle(verdict: PartResult, isLast: boolean): PartResult {
    gate.isHandling = false
    gate.isOver = isLast || verdict === 'enough'
    return gate.isOver ? 'enough' : 'more'
  }

  async function deliverHeld(isLast: boolean): Promise<PartResult> {
    for (const part of held) if ((await deliver(part, false)) === 'enough') return 'enough'
    return settle('more', isLast)
  }
}

/** Whether a person or the next step would miss the part. */
function isAnswer(part: ModelPart): boolean {
  switch (part.type) {
    case 'model-call-start':
    case 'model-call-response-metadata':
    case 'custom':
    case 'raw':
    case 'ping':
    case 'text-start':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-end':
      return false
    case 'text-delta':
    case 'reasoning-delta':
      return part.text !== ''
    default:
      return true
  }
}
