import type { ModelMessage, Tool } from 'ai'
import type { Call, CallOutcome } from '../core/call.ts'
import { toReadableThrown } from '../core/error-text.ts'
import type { Json } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import type { Clock } from './clock.ts'
import { toResultJson, UnstorableError } from './to-json.ts'

export interface ToolRun {
  readonly tool: Tool
  readonly call: Call
  readonly input: Json
  readonly messages: ModelMessage[]
  readonly signal: AbortSignal
  readonly timeoutMs: number | undefined
  readonly clock: Clock
  /** Characters of JSON that a result may have. */
  readonly maxResultChars: number
  /** What is stored about what the tool threw. */
  readonly wordError: (error: unknown) => CallOutcome
  readonly onProgress: (output: Json) => void
}

/**
 * Runs a tool once and says how it went. Whatever it does, throw, hang past its time, or return what
 * JSON cannot say, the answer is an outcome of this call and of nothing else (CL5, CL6).
 */
export async function executeTool(run: ToolRun): Promise<CallOutcome> {
  if (run.signal.aborted) return stopped
  const over = Promise.withResolvers<'timeout' | 'stopped'>()
  const stop = () => over.resolve('stopped')
  run.signal.addEventListener('abort', stop)
  const { signal, cancel } = limit(run, () => over.resolve('timeout'))
  try {
    const ended = await Promise.race([execute(run, signal), over.promise])
    if (ended === 'stopped') return stopped
    if (ended !== 'timeout') return ended
    const error = `The tool took longer than ${run.timeoutMs} ms.`
    return { state: 'failed', cause: 'timeout', error }
  } catch (thrown) {
    if (run.signal.aborted) return stopped
    const error = toReadableThrown(thrown)
    const fault = toUnstorableFault(error)
    return fault === undefined
      ? run.wordError(error)
      : { state: 'failed', cause: 'tool-error', error: fault }
  } finally {
    cancel?.()
    run.signal.removeEventListener('abort', stop)
  }
}

/** What is wrong with a value is said by us, unless reading it threw. */
function toUnstorableFault(error: unknown): string | undefined {
  if (!(error instanceof UnstorableError) || error.isThrown) return undefined
  return `The tool returned a value that cannot be stored: it ${error.message}.`
}

/** What tells the tool that nobody waits for it any more: the run has ended, or its time is over. */
function limit(
  { signal, timeoutMs, clock }: ToolRun,
  onTimeout: () => void,
): { readonly signal: AbortSignal; readonly cancel?: () => void } {
  if (timeoutMs === undefined) return { signal }
  const late = new AbortController()
  const cancel = clock.after(timeoutMs, () => {
    onTimeout()
    late.abort()
  })
  return { signal: AbortSignal.any([signal, late.signal]), cancel }
}

const stopped: CallOutcome = { state: 'stopped', cause: 'stopped' }

async function execute(run: ToolRun, signal: AbortSignal): Promise<CallOutcome> {
  const { tool, call, input, messages } = run
  const returned: unknown = tool.execute?.(input, {
    toolCallId: call.id,
    messages,
    abortSignal: signal,
    context: undefined as never,
  })
  let last: unknown
  if (isAsyncIterable(returned)) {
    for await (const output of returned) {
      if (signal.aborted) break
      last = output
      run.onProgress(toResultJson(output, run.maxResultChars))
    }
  } else {
    last = await returned
  }
  const output = { kind: 'inline', value: toResultJson(last, run.maxResultChars) } as const
  const modelOutput =
    tool.toModelOutput === undefined
      ? undefined
      : toResultJson(
          await tool.toModelOutput({ toolCallId: call.id, input, output: last }),
          run.maxResultChars,
        )
  return withDefined({ state: 'succeeded', output } as const, { modelOutput })
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value
