import type { Instructions, LanguageModel, ModelMessage } from 'ai'
import { assertNever } from '../core/assert-never.ts'
import type { Call, CallOutcome } from '../core/call.ts'
import { outcomeAtEnd } from '../core/change-call.ts'
import { toReadableThrown } from '../core/error-text.ts'
import type { NewTurnEvent } from '../core/event.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { CallId, MessageId, ThreadId } from '../core/ids.ts'
import type { Message, Turn, TurnEnding } from '../core/message.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import { projectPrompt } from '../views/model-prompt.ts'
import { nothingUsed, usedBy } from './answer-meter.ts'
import type { Clock } from './clock.ts'
import { createFileLoader } from './file-loader.ts'
import { createFailureWords } from './failure-words.ts'
import type { RunHooks } from './hooks.ts'
import type { EngineOptions } from './options.ts'
import { nextOptions, planNext } from './plan-next.ts'
import { planRecovery } from './plan-recovery.ts'
import { runCalls } from './run-calls.ts'
import type { EndableRun, Run } from './run-context.ts'
import { FencedError } from './append-refusal.ts'
import type { RunLedger } from './run-ledger.ts'
import { runStep } from './run-step.ts'
import type { Toolbox } from './tool-policy.ts'

/** Why a run was told to end before it was done. */
export type Interruption =
  | { readonly kind: 'stop' }
  /** This process is going; another one carries on. */
  | { readonly kind: 'hand-over' }
  | { readonly kind: 'fault'; readonly error: unknown }

export interface RunParts {
  readonly threadId: ThreadId
  readonly turnId: MessageId
  readonly options: EngineOptions
  readonly toolbox: Toolbox
  readonly ledger: RunLedger
  readonly clock: Clock
  readonly hooks: RunHooks
  readonly model: LanguageModel | undefined
  readonly instructions: Instructions | undefined
  /** What stands before the turn, oldest first. */
  readonly history: () => Promise<readonly Message[]>
  readonly newCallId: () => CallId
  /** A person asked for more although the turn was over: begin with a step. */
  readonly force: boolean
}

/** Said before anything is stored, where there is nobody who could answer. */
export const noModel = (): HoldfastError =>
  new HoldfastError(
    'no-model',
    'There is no model here: `createHoldfast` was given none, and answers come from `record` alone.',
  )

export interface StartedRun {
  readonly done: Promise<void>
  interrupt(why: Interruption): void
}

export function startRun(parts: RunParts): StartedRun {
  const controller = new AbortController()
  let why: Interruption | null = null
  const interrupt = (reason: Interruption) => {
    why ??= reason
    controller.abort(new DOMException(`The run was interrupted: ${why.kind}.`, 'AbortError'))
  }
  const { signal } = controller
  const { model, instructions, ledger, options } = parts
  const files = createFileLoader(parts.clock, signal)
  let prompt: ModelMessage[] = []
  let history: readonly Message[] | undefined
  const continueText =
    typeof options.continueText === 'string'
      ? options.continueText
      : model === undefined
        ? 'instruction'
        : options.continueText(model)

  const run: Run = {
    ...parts,
    signal,
    words: createFailureWords(parts, options.errorText, (where, error) =>
      parts.hooks.failed(where, error),
    ),
    // A person who asks for more of a turn has seen what there is of it.
    allowed: parts.force ? usedBy(ledger.turn) : nothingUsed,
    modelId: typeof model === 'string' ? model : (model?.modelId ?? ''),
    continueText,
    get prompt() {
      return prompt
    },
    async modelCall() {
      if (model === undefined) throw noModel()
      history ??= await parts.history()
      const { maxOutputChars, settings } = options
      const { isDeferred } = parts.toolbox
      const how = { isDeferred, maxOutputChars, continueText }
      prompt = projectPrompt([...history, ledger.turn], how) as ModelMessage[]
      const { tools } = parts.toolbox
      return { model, instructions, messages: prompt, tools, settings, signal, files }
    },
  }

  return { interrupt, done: drive(run, parts.force, () => why) }
}

/** Goes on until the turn waits or ends; whatever happens, it says so in the ledger if it still may. */
async function drive(run: Run, force: boolean, why: () => Interruption | null): Promise<void> {
  try {
    const ending = await work(run, force)
    const reason = why()
    if (reason !== null) await interrupted(run, reason)
    else if (ending !== null) await end(run, ending)
  } catch (thrown) {
    const error = toReadableThrown(thrown)
    if (error instanceof FencedError) return run.hooks.turnLost()
    await failed(run, why() ?? { kind: 'fault', error })
  }
}

/** Null: the turn waits for a person, and the lease has been given back. */
async function work(run: Run, force: boolean): Promise<TurnEnding | null> {
  const { ledger, options, toolbox } = run
  const mended = planRecovery(ledger.turn, toolbox, run.clock.now())
  if (mended.length > 0) await ledger.commit(mended)
  for (const event of mended) {
    if (event.type === 'call-settled' && event.outcome.state === 'unknown') {
      run.hooks.outcomeUnknown(event.callId)
    }
  }
  let forced = force
  const plan = (turn: Turn) => planNext(turn, nextOptions(options, toolbox))
  while (!run.signal.aborted) {
    // What the step said last may still be on its way: it is committed together with what follows.
    const next = plan(ledger.expected)
    switch (next.kind) {
      case 'step': {
        forced = false
        const limit = await runStep(run, next.index, next.resumes)
        if (limit !== null) return { kind: 'cut-off', limit }
        break
      }
      case 'run-calls':
        await runCalls(run, next.calls)
        break
      case 'fail-calls':
        await ledger.commit(next.calls.map((call) => orphaned(run, call.id, call.name)))
        break
      case 'wait': {
        const { waitingFor } = next
        const { turnId } = run
        const paused = { type: 'turn-paused', turnId, at: run.clock.now(), waitingFor } as const
        // Somebody may have decided just now: then there is more to do, not something to wait for.
        const stillWaits = (turn: Turn) => (plan(turn).kind === 'wait' ? [paused] : null)
        if (await ledger.commitIfCurrent(stillWaits, 'release')) {
          run.hooks.turnPaused(waitingFor)
          return null
        }
        break
      }
      case 'end': {
        if (!forced) return next.ending
        forced = false
        const limit = await runStep(run, ledger.expected.steps.length)
        if (limit !== null) return { kind: 'cut-off', limit }
        break
      }
      default:
        assertNever(next)
    }
  }
  return null
}

function orphaned(run: Run, callId: CallId, name: string): NewTurnEvent {
  const error = `There is no tool called "${name}" any more.`
  const outcome = { state: 'failed', cause: 'unknown-tool', error } as const
  return { type: 'call-settled', turnId: run.turnId, at: run.clock.now(), callId, outcome }
}

/** Says the end, and gives the lease back with it. */
export async function end(run: EndableRun, ending: TurnEnding): Promise<void> {
  const { ledger } = run
  // What a provider runs may have no result when all else is said and done: nothing stopped then (ST3a).
  const isDone = ending.kind === 'completed' || ending.kind === 'no-answer'
  const outcomeOf = (call: Call): CallOutcome =>
    isDone ? { state: 'interrupted', cause: 'no-result' } : outcomeAtEnd(ending, call)
  const plan = (turn: Turn) => planTurnEnd(turn, ending, run.clock.now(), outcomeOf)
  // A decision may come in just before the end: then the end is planned anew, with it.
  while (!(await ledger.commitIfCurrent(plan, 'release')));
  run.hooks.turnEnded(ending, run.ledger.turn)
}

async function interrupted(run: Run, reason: Interruption): Promise<void> {
  switch (reason.kind) {
    case 'stop':
      return end(run, { kind: 'stopped' })
    case 'hand-over':
      // What was received is kept, and the lease is over at once: anyone may carry on.
      await run.ledger.commit()
      await run.ledger.renew(0)
      return run.hooks.turnLost()
    case 'fault':
      return failed(run, reason)
    default:
      return assertNever(reason)
  }
}

/** What was stored stays; the turn is told to have failed, if the store still takes it (LG3, ST2). */
async function failed(run: Run, reason: Interruption): Promise<void> {
  if (reason.kind !== 'fault') {
    // The abort that it was told reached it as an error of the model or of a tool.
    return guarded(run, () => interrupted(run, reason))
  }
  const { error } = reason
  if (error instanceof FencedError) return run.hooks.turnLost()
  const isStore = error instanceof HoldfastError
  if (isStore && error.code === 'thread-not-found') return run.hooks.turnLost()
  const told = run.words.ofModel(error, run.ledger.turn.steps.length)
  return guarded(run, async () => {
    if (isStore) await run.ledger.reload()
    await end(run, { kind: 'failed', error: told })
  })
}

/** The store takes nothing: the lease runs out, and whoever takes the run over finds what was stored. */
async function guarded(run: Run, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    run.hooks.turnLost(error)
  }
}
