import type { Call, CallOutcome } from '../../core/call.ts'
import type { NewTurnEvent } from '../../core/event.ts'
import type { CallId } from '../../core/ids.ts'
import { toReadableThrown } from '../../core/error-text.ts'
import type { Json } from '../../core/json.ts'
import { elapsedMs } from '../clock.ts'
import { executeTool, type ToolRun } from './execute-tool.ts'
import { inHooks } from './in-wrapper.ts'
import { type Run, scopeOf } from './run-context.ts'
import {
  charsOfJson,
  charsOfOutcome,
  memoryOfOutcome,
  tooMuchAtOnce,
  tooMuchForTurn,
  usedBy,
} from './turn-size.ts'

/**
 * Runs the calls that can run, at most `toolConcurrency` at a time. Each call is stored as started before its tool
 * begins, and each result is committed as it arrives, so a slow call delays no fast one.
 */
export async function runCalls(run: Run, calls: readonly Call[]): Promise<void> {
  const waiting = [...calls]
  const slots = Math.min(run.options.toolConcurrency, waiting.length)
  // The first calls start in one commit; the others as slots become free.
  const first = waiting.splice(0, slots)
  await run.ledger.commit(first.flatMap((call) => startOf(run, call)))
  const room = roomIn(run)
  const progressOf = createProgress(run)
  const worker = async (begun: Call): Promise<void> => {
    let call: Call | undefined = begun
    while (call !== undefined && !run.signal.aborted) {
      await runCall(run, call, room, progressOf(call.id))
      // A call that has not started is started by the process that takes the run over.
      call = run.isLeaving() ? undefined : waiting.shift()
      if (call !== undefined && !run.signal.aborted)
        await run.ledger.commitTogether(startOf(run, call))
    }
  }
  await Promise.all(first.map(worker))
}

/** A repeatable call that a dead process had started is already `running`, so it gets no second `call-started`. */
function startOf(run: Run, call: Call): readonly NewTurnEvent[] {
  if (call.state !== 'ready') return []
  const { id: callId } = call
  return [{ type: 'call-started', turnId: run.turnId, at: run.clock.now(), callId }]
}

/** Moves large file content of a result into the file store before the result is committed. */
async function withStoredFiles(run: Run, outcome: CallOutcome): Promise<CallOutcome> {
  if (outcome.state !== 'succeeded' || outcome.output.kind !== 'inline') return outcome
  const { value } = outcome.output
  const stored = await run.offload(value)
  return stored === value ? outcome : { ...outcome, output: { kind: 'inline', value: stored } }
}

/** How many characters the results of these calls may still have. */
interface Room {
  chars: number
}

/** Measured once for all of them, and reduced by each result: a turn of many calls is not measured again for each one. */
function roomIn({ options, allowed, ledger, results }: Run): Room {
  const { chars } = usedBy(ledger.expected)
  results.count(chars)
  return { chars: options.maxTurnChars + allowed.chars - chars }
}

/**
 * A result that would make the turn larger than `maxTurnChars` fails its call, and the turn goes on without it
 * (ST4c).
 */
function withinTurn(run: Run, room: Room, outcome: CallOutcome): CallOutcome {
  if (outcome.state !== 'succeeded') return outcome
  // With what the model is sent in its place: that is stored beside it.
  const chars = charsOfOutcome(outcome)
  const isTooMuch = chars > room.chars
  if (isTooMuch || !run.results.hold(memoryOfOutcome(outcome))) {
    const error = isTooMuch ? tooMuchForTurn(run.options.maxTurnChars) : tooMuchAtOnce
    return { state: 'failed', cause: 'tool-error', error }
  }
  room.chars -= chars
  return outcome
}

/** A preliminary result with more characters is not shown: a page has those of all calls that run (OP7a). */
const mostProgressChars = 262_144
/** What an event costs beside its content. */
const charsOfEvent = 100
/** The characters of preliminary results that the calls may store at once, and those that they may add each second. */
const progressAtOnce = 1_000_000
const progressPerSecond = 100_000

/**
 * Each preliminary result is stored until the turn ends, and read with the turn, though only the newest is shown (CL10).
 * Those that come too fast, and in the end all of them, are left out; the result is not (ST4c).
 */
function createProgress({ ledger, turnId, clock, options }: Run) {
  const begun = elapsedMs(clock)
  let stored = 0
  return (callId: CallId) => {
    let countedAt = Number.NEGATIVE_INFINITY
    return (output: Json): void => {
      const chars = charsOfJson(output) + charsOfEvent
      if (chars > mostProgressChars) return
      const now = elapsedMs(clock)
      // Until the next commit it takes the place of the one before.
      if (now - countedAt >= options.textDelayMs) {
        const allowed = progressAtOnce + (progressPerSecond * (now - begun)) / 1_000
        if (stored + chars > Math.min(allowed, options.maxTurnChars / 4)) return
        stored += chars
        countedAt = now
      }
      ledger.push({ type: 'call-progressed', turnId, at: clock.now(), callId, output })
    }
  }
}

async function runCall(
  run: Run,
  call: Call,
  room: Room,
  onProgress: (output: Json) => void,
): Promise<void> {
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
    toErrorOutcome: (error) => run.failureTexts.ofTool(call, error),
    maxResultChars: run.options.maxResultChars,
    onProgress,
  }
  const execute = () => run.lifecycle.toolRun(call, run.prompt, () => executeTool(work))
  const outcomeOf = async (): Promise<CallOutcome> => {
    try {
      return await inHooks(run, { callId }, execute)
    } catch (error) {
      // The tool itself never throws: something around it has not begun it.
      return run.signal.aborted
        ? { state: 'stopped', cause: 'stopped' }
        : run.failureTexts.ofTool(call, toReadableThrown(error))
    }
  }
  const returned = await outcomeOf()
  const outcome = withinTurn(run, room, await withStoredFiles(run, returned))
  ended(outcome)
  // A stopped call gets no event of its own: the end of the turn settles all open calls at once.
  if (outcome.state === 'stopped') return
  const at = run.clock.now()
  const settled = { type: 'call-settled', turnId: run.turnId, at, callId, outcome } as const
  await run.ledger.commitTogether([settled])
}
