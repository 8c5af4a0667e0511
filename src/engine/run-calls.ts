import type { Call, CallOutcome } from '../core/call.ts'
import type { NewTurnEvent } from '../core/event.ts'
import { executeTool, type ToolRun } from './execute-tool.ts'
import { hasLargeFile, offloadFiles } from './offload-files.ts'
import { type Run, scopeOf } from './run-context.ts'
import { charsIn, charsOfJson, tooMuchForTurn } from './turn-size.ts'

/**
 * Runs the calls that can run, at most `toolConcurrency` at a time. Each is durable as started before
 * its tool begins, and each result is committed as it comes, so a slow call holds back no fast one.
 */
export async function runCalls(run: Run, calls: readonly Call[]): Promise<void> {
  const waiting = [...calls]
  const places = Math.min(run.options.toolConcurrency, waiting.length)
  // The first calls start in one commit; the others as places become free.
  const first = waiting.splice(0, places)
  await run.ledger.commit(first.flatMap((call) => startOf(run, call)))
  const worker = async (begun: Call): Promise<void> => {
    let call: Call | undefined = begun
    while (call !== undefined && !run.signal.aborted) {
      await runCall(run, call)
      // A call that has not begun is begun by whoever carries the run on.
      call = run.isLeaving() ? undefined : waiting.shift()
      if (call !== undefined && !run.signal.aborted)
        await run.ledger.commitTogether(startOf(run, call))
    }
  }
  await Promise.all(first.map(worker))
}

/** A repeatable call that a dead process had started is already `running`. */
function startOf(run: Run, call: Call): readonly NewTurnEvent[] {
  if (call.state !== 'ready') return []
  const { id: callId } = call
  return [{ type: 'call-started', turnId: run.turnId, at: run.clock.now(), callId }]
}

/** What a tool made in pieces of many kilobytes is kept as files, before its result is stored. */
async function withStoredFiles(run: Run, outcome: CallOutcome): Promise<CallOutcome> {
  if (outcome.state !== 'succeeded' || outcome.output.kind !== 'inline') return outcome
  const { value } = outcome.output
  if (!hasLargeFile(value)) return outcome
  const stored = await offloadFiles(run.files, run.place, value)
  return { ...outcome, output: { kind: 'inline', value: stored } }
}

/** A result that makes the turn larger than one may be fails its call: the turn goes on without it (ST4c). */
function withinTurn(run: Run, outcome: CallOutcome): CallOutcome {
  if (outcome.state !== 'succeeded') return outcome
  const most = run.options.maxTurnChars + run.allowed.chars
  if (charsIn(run.ledger.expected) + charsOfJson(outcome.output) <= most) return outcome
  return { state: 'failed', cause: 'tool-error', error: tooMuchForTurn(run.options.maxTurnChars) }
}

async function runCall(run: Run, call: Call): Promise<void> {
  const { toolbox } = run.agent
  const tool = toolbox.find(call.name)
  if (tool === undefined || call.input.kind !== 'complete') return
  const { id: callId } = call
  const ended = run.hooks.callStarted(call)
  const work: ToolRun = {
    tool,
    call,
    input: call.input.value,
    scope: scopeOf(run, callId),
    contextOf: toolbox.contextOf,
    timeoutMs: toolbox.policyOf(call.name).timeoutMs ?? run.options.toolTimeoutMs,
    clock: run.clock,
    wordError: (error) => run.words.ofTool(call, error),
    maxResultChars: run.options.maxResultChars,
    onProgress: (output) =>
      run.ledger.push({
        type: 'call-progressed',
        turnId: run.turnId,
        at: run.clock.now(),
        callId,
        output,
      }),
  }
  const returned = await run.hooks.inside({ callId }, () =>
    run.lifecycle.toolRun(call, run.prompt, () => executeTool(work)),
  )
  const outcome = withinTurn(run, await withStoredFiles(run, returned))
  ended(outcome)
  // Stopped: the end of the turn says so for all its calls at once.
  if (outcome.state === 'stopped') return
  const at = run.clock.now()
  const settled = { type: 'call-settled', turnId: run.turnId, at, callId, outcome } as const
  await run.ledger.commitTogether([settled])
}
