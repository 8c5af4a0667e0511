import type { Tool } from 'ai'
import type { Call, CallOutcome } from '../../core/call.ts'
import { toReadableThrown } from '../../core/error-text.ts'
import type { Json } from '../../core/json.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { CallScope } from '../call-scope.ts'
import { type Clock, nextTurn } from '../clock.ts'
import { ownTurn } from './own-turn.ts'
import { toJson, toResultJson, UnstorableError } from '../to-json.ts'

export interface ToolRun {
  readonly tool: Tool
  readonly call: Call
  readonly input: Json
  /** Its signal is the run's; the tool gets a signal that also aborts at its time limit. */
  readonly scope: CallScope
  /** The context of this tool; rejects if it does not fit its schema, and then the tool is not run (AG3). */
  readonly contextOf: (name: string) => unknown
  readonly timeoutMs: number | undefined
  readonly clock: Clock
  /** The most characters of JSON that a result may have. */
  readonly maxResultChars: number
  /** The outcome that is stored for what the tool threw. */
  readonly toErrorOutcome: (error: unknown) => CallOutcome
  readonly onProgress: (output: Json) => void
}

/**
 * Runs a tool once and returns the outcome. Whatever the tool does (throw, exceed its time limit, return what JSON
 * cannot represent), only this call is affected (CL5, CL6).
 */
export async function executeTool(run: ToolRun): Promise<CallOutcome> {
  const { abortSignal: ending } = run.scope
  if (ending.aborted) return stopped
  const over = Promise.withResolvers<'timeout' | 'stopped'>()
  const stop = () => over.resolve('stopped')
  ending.addEventListener('abort', stop)
  const { signal, cancel } = limit(run, () => over.resolve('timeout'))
  try {
    const ended = await Promise.race([execute(run, signal), over.promise])
    if (ended === 'stopped') return stopped
    if (ended !== 'timeout') return ended
    const error = `The tool took longer than ${run.timeoutMs} ms.`
    return { state: 'failed', cause: 'timeout', error }
  } catch (thrown) {
    if (ending.aborted) return stopped
    const error = toReadableThrown(thrown)
    const fault = toUnstorableFault(error)
    return fault === undefined
      ? run.toErrorOutcome(error)
      : { state: 'failed', cause: 'tool-error', error: fault }
  } finally {
    cancel?.()
    ending.removeEventListener('abort', stop)
  }
}

/**
 * The fixed error text for a value that cannot be stored. Undefined if a getter threw while the value was read:
 * then the host application's error text applies.
 */
function toUnstorableFault(error: unknown): string | undefined {
  if (!(error instanceof UnstorableError) || error.isThrown) return undefined
  return `The tool returned a value that cannot be stored: it ${error.message}.`
}

/**
 * The signal that tells the tool that its result is no longer awaited: the run has ended, or the time limit has
 * passed.
 */
function limit(
  { scope: { abortSignal: signal }, timeoutMs, clock }: ToolRun,
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
  const { tool, call, scope } = run
  // A tool may change its arguments, also after it has returned. Those of the call are a part of the turn that is shown, and
  // that is stored when it ends (LG4).
  const input = toJson(run.input)
  // Usually there is nothing to await, and a tool starts in the tick in which it is called.
  const given = run.contextOf(call.name)
  const context: unknown = given instanceof Promise ? await given : given
  const returned: unknown = tool.execute?.(input, {
    ...scope,
    abortSignal: signal,
    context: context as never,
  })
  let last: unknown
  if (isAsyncIterable(returned)) {
    for await (const output of returned) {
      if (signal.aborted) break
      last = output
      run.onProgress(toResultJson(output, run.maxResultChars))
      // A tool that never waits for anything would leave nobody else a turn of the event loop (OP7).
      await nextTurn(run.clock)
    }
  } else {
    last = await returned
  }
  await ownTurn(run.clock, last)
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
