import type { LanguageModelStreamPart, ToolSet } from 'ai'
import { callModel, type ModelCall } from './call-model.ts'
import { type Clock, wait } from './clock.ts'
import type { RunHooks } from './hooks.ts'
import { StreamCutError, toModelFault } from './model-error.ts'
import type { EngineOptions } from './options.ts'
import { messageOf } from './translate-part.ts'

type Part = LanguageModelStreamPart<ToolSet>

const longestDelayMs = 30_000

export interface StreamSource {
  readonly modelCall: () => Promise<ModelCall>
  readonly options: Pick<EngineOptions, 'modelRetries' | 'retryDelayMs'>
  readonly clock: Clock
  readonly hooks: Pick<RunHooks, 'modelRetried'>
  readonly signal: AbortSignal
}

/**
 * One model call, tried again with back-off as long as nothing of an answer has come, and never
 * after. It either ends with the model's own word that it is over, or throws.
 */
export async function* openStream(run: StreamSource): AsyncGenerator<Part> {
  for (let attempt = 1; ; attempt++) {
    // What comes before the answer waits for it: the next attempt would say it again.
    const held: Part[] = []
    let began = false
    let failed = false
    try {
      for await (const part of await callModel(await run.modelCall())) {
        if (part.type === 'error') throw part.error
        const end = part.type === 'model-call-end' ? part.finishReason : undefined
        // Providers close a stream that was cut off in good order; only its last word tells.
        if (end === 'interrupted') break
        if (end === 'error') {
          // Why may be said after the end.
          failed = true
          continue
        }
        if (!began) {
          held.push(part)
          began = isAnswer(part)
          if (began) yield* held
        } else yield part
        if (end !== undefined) return
      }
      throw failed
        ? new Error('It ended with an error and gave no reason.')
        : new StreamCutError('no end of the stream')
    } catch (error) {
      const fault = toModelFault(error, run.clock.now())
      const isLast = attempt > run.options.modelRetries
      if (began || isLast || !fault.isRetryable || run.signal.aborted) {
        // It was reached, and then it was gone.
        throw began && fault.code === 'network'
          ? new StreamCutError(messageOf(error), { cause: error })
          : error
      }
      const backOffMs = run.options.retryDelayMs * 2 ** (attempt - 1)
      const delayMs = Math.min(fault.retryAfterMs ?? backOffMs, longestDelayMs)
      run.hooks.modelRetried({ attempt, delayMs, code: fault.code, message: fault.message })
      await wait(run.clock, delayMs, run.signal)
    }
  }
}

/** Something that a person or the next step would miss. */
function isAnswer(part: Part): boolean {
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
