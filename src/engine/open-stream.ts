import { toReadableThrown } from '../core/error-text.ts'
import { callModel, type ModelCall, type OnPart, type PartResult } from './call-model.ts'
import { type Clock, wait } from './clock.ts'
import type { RunHooks } from './hooks.ts'
import { ModelTimeoutError, StreamCutError, toModelFault } from './model-error.ts'
import type { EngineOptions } from './options.ts'
import type { ModelPart } from './model-part.ts'
import { messageOf } from './translate-part.ts'
import type { TurnAgent } from './turn-agent.ts'

const longestDelayMs = 30_000

/** A model that says so much before its first word is taken to have begun: what is held costs memory. */
const mostHeld = 1_000

export interface ModelStreamSource {
  readonly modelCall: () => Promise<ModelCall>
  readonly agent: Pick<TurnAgent, 'timeout' | 'maxRetries'>
  readonly options: Pick<EngineOptions, 'modelRetries' | 'retryDelayMs'>
  readonly clock: Clock
  readonly hooks: Pick<RunHooks, 'modelRetried'>
  readonly signal: AbortSignal
}

/** `cause`: why the model failed. What its consumer could not do with the answer is thrown as it is. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure'

  constructor(cause: unknown) {
    super('The model failed.', { cause })
  }
}

/**
 * One model call, tried again with back-off as long as nothing of an answer has come, and never
 * after. It either ends with the model's own word that it is over, or with `enough`, or throws.
 */
export async function openStream(run: ModelStreamSource, onPart: OnPart): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const gate = createGate(onPart)
    try {
      const call = await run.modelCall()
      await withTimeLimit(run, call, gate.pass)
      if (gate.isOver) return
      throw gate.hasFailed
        ? new Error('It ended with an error and gave no reason.')
        : new StreamCutError('no end of the stream')
    } catch (thrown) {
      const error = toReadableThrown(thrown)
      // What its consumer could not do with the answer is no fault of the model.
      if (gate.isHandling) throw error
      const fault = toModelFault(error, run.clock.now())
      const isLast = attempt > (run.agent.maxRetries ?? run.options.modelRetries)
      if (gate.hasBegun || isLast || !fault.isRetryable || run.signal.aborted) {
        // It was reached, and then it was gone.
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

/** A model that says nothing for too long has failed, whether or not it lets itself be stopped. */
async function withTimeLimit(
  { agent, clock }: ModelStreamSource,
  call: ModelCall,
  onPart: OnPart,
): Promise<void> {
  const { firstChunkMs, chunkMs } = agent.timeout
  if (firstChunkMs === undefined && chunkMs === undefined) return callModel(call, onPart)
  const late = new AbortController()
  const expired = Promise.withResolvers<never>()
  // One timer, set again when it is due and something has come since: most parts are a few letters.
  let heardAt = clock.now()
  let limitMs = firstChunkMs
  let cancel: (() => void) | undefined
  const watch = (): void => {
    if (limitMs === undefined) return
    cancel = clock.after(Math.max(1, heardAt + limitMs - clock.now()), () => {
      if (limitMs === undefined || clock.now() - heardAt < limitMs) return watch()
      const error = new ModelTimeoutError(`nothing came for ${limitMs} ms`)
      expired.reject(error)
      late.abort(error)
    })
  }
  const heard = (part: ModelPart): void => {
    if (!isAnswer(part)) return
    heardAt = clock.now()
    if (limitMs === chunkMs) return
    limitMs = chunkMs
    cancel?.()
    watch()
  }
  watch()
  try {
    const signal = AbortSignal.any([call.signal, late.signal])
    const called = callModel({ ...call, signal }, (part) => {
      if (late.signal.aborted) return 'enough'
      heard(part)
      return onPart(part)
    })
    called.catch(() => undefined)
    await Promise.race([called, expired.promise])
  } finally {
    cancel?.()
  }
}

/** Lets an answer through from its first word on, and knows how it ended. */
function createGate(onPart: OnPart) {
  // What comes before the answer waits for it: the next attempt would say it again.
  const held: ModelPart[] = []
  const gate = { hasBegun: false, hasFailed: false, isOver: false, isHandling: false, pass }
  return gate

  function pass(part: ModelPart): PartResult | Promise<PartResult> {
    if (part.type === 'error') throw part.error
    const end = part.type === 'model-call-end' ? part.finishReason : undefined
    // Providers close a stream that was cut off in good order; only its last word tells.
    if (end === 'interrupted') return 'enough'
    if (end === 'error') {
      // Why may be said after the end.
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

/** Something that a person or the next step would miss. */
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
