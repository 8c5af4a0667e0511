import type { LanguageModel, ModelMessage } from 'ai'
import { assertNever } from '../core/assert-never.ts'
import type { Call, CallOutcome } from '../core/call.ts'
import { outcomeAtEnd } from '../core/change-call.ts'
import { toReadableThrown } from '../core/error-text.ts'
import type { NewTurnEvent } from '../core/event.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { CallId } from '../core/ids.ts'
import type { Message, Turn, TurnEnding } from '../core/message.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import { type ContinueText, projectPrompt } from '../views/model-prompt.ts'
import type { AgentReason } from './agent.ts'
import { nothingUsed, usedBy } from './answer-meter.ts'
import type { TurnPlace } from './call-scope.ts'
import { storedChoices } from './choices.ts'
import type { Clock } from './clock.ts'
import { createFileLoader } from './file-loader.ts'
import { createFailureWords, type FailureWords } from './failure-words.ts'
import type { RunHooks } from './hooks.ts'
import type { EngineOptions } from './options.ts'
import { createLifecycleNotifier, type LifecycleNotifier } from './lifecycle-callbacks.ts'
import { createModelList, namesOf } from './model-list.ts'
import { nextOptions, planNext } from './plan-next.ts'
import { planRecovery } from './plan-recovery.ts'
import { prepareCall } from './prepare-call.ts'
import { runCalls } from './run-calls.ts'
import type { EndableRun, Run } from './run-context.ts'
import { FencedError } from './append-refusal.ts'
import type { RunLedger } from './run-ledger.ts'
import { runStep } from './run-step.ts'
import { isToStop } from './step-results.ts'
import { AgentFault, type AgentSource, type TurnAgent } from './turn-agent.ts'

/** Why a run was told to end before it was done. */
export type Interruption =
  | { readonly kind: 'stop' }
  /** This process is going; another one carries on. */
  | { readonly kind: 'hand-over' }
  | { readonly kind: 'fault'; readonly error: unknown }

export interface RunParts {
  readonly place: TurnPlace
  readonly reason: AgentReason
  readonly options: EngineOptions
  readonly agents: AgentSource
  readonly ledger: RunLedger
  readonly clock: Clock
  readonly hooks: RunHooks
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
  /** What the run works with, once it has been asked for. A recorded turn has none. */
  agent?(): TurnAgent | undefined
  /** Lets what is under way finish, and then hands the run over. A recorded turn cannot: its loop is the host's. */
  leave?(): void
}

export function startRun(parts: RunParts): StartedRun {
  const controller = new AbortController()
  let why: Interruption | null = null
  const interrupt = (reason: Interruption) => {
    why ??= reason
    controller.abort(new DOMException(`The run was interrupted: ${why.kind}.`, 'AbortError'))
  }
  const { signal } = controller
  const { place, hooks, options } = parts
  const words = createFailureWords(place, options.errorText, (where, error) =>
    hooks.failed(where, error),
  )
  let isLeaving = false
  let agent: TurnAgent | undefined
  const begun: BegunRun = {
    ...parts,
    words,
    signal,
    isLeaving: () => isLeaving,
    handOver: () => interrupt({ kind: 'hand-over' }),
    onAgent(asked) {
      agent = asked
    },
  }
  return {
    interrupt,
    agent: () => agent,
    leave() {
      isLeaving = true
    },
    done: drive(begun, () => why),
  }
}

/** What there is of a run before it has its agent: enough to end the turn. */
interface BegunRun extends RunParts {
  readonly words: FailureWords
  readonly signal: AbortSignal
  readonly isLeaving: Run['isLeaving']
  readonly handOver: Run['handOver']
  readonly onAgent: (agent: TurnAgent) => void
}

/** One that is the same for every turn need not be asked for. */
function agentOf(begun: BegunRun): TurnAgent | Promise<TurnAgent> {
  const { fixed, isPicked } = begun.agents
  return fixed === undefined || isPicked ? resolveAgent(begun) : fixed
}

/** The agent of the turn, asked for now, for this run alone (AG1). */
async function resolveAgent(begun: BegunRun): Promise<TurnAgent> {
  const { agents, place, reason, options, ledger, signal } = begun
  const choices = await storedChoices(options.choices, ledger.turn)
  return agents.resolve({ ...place, choices, reason }, signal)
}

function createRun(parts: BegunRun, agent: TurnAgent): Run {
  const { ledger, options, signal, place } = parts
  const files = createFileLoader(parts.clock, signal)
  let prompt: ModelMessage[] = []
  let history: readonly Message[] | undefined
  let prepared:
    | {
        readonly lastSeq: number
        readonly model: LanguageModel
        readonly call: Awaited<ReturnType<typeof prepareCall>>
      }
    | undefined
  const models = createModelList(agent.models)
  const continueTextOf = (): ContinueText => {
    const { continueText } = options
    if (typeof continueText === 'string') return continueText
    return models.current === undefined ? 'instruction' : continueText(models.current)
  }
  return {
    ...parts,
    agent,
    turnId: place.turnId,
    // A person who asks for more of a turn has seen what there is of it.
    allowed: parts.force ? usedBy(ledger.turn) : nothingUsed,
    get model() {
      return namesOf(models.current)
    },
    models,
    get continueText() {
      return continueTextOf()
    },
    get prompt() {
      return prompt
    },
    async modelCall() {
      const model = models.current
      if (model === undefined) throw noModel()
      history ??= await parts.history()
      const how = {
        isDeferred: agent.toolbox.isDeferred,
        maxOutputChars: options.maxOutputChars,
        continueText: continueTextOf(),
      }
      prompt = projectPrompt([...history, ledger.turn], how) as ModelMessage[]
      const { turn } = ledger
      // Once for each try of a step by a model, and not again where it is tried again.
      if (prepared?.lastSeq !== turn.lastSeq || prepared.model !== model) {
        const call = await prepareCall(agent, { turn, model, messages: prompt })
        prepared = { lastSeq: turn.lastSeq, model, call }
      }
      return { ...prepared.call, signal, files }
    },
  }
}

/** Goes on until the turn waits or ends; whatever happens, it says so in the ledger if it still may. */
async function drive(begun: BegunRun, why: () => Interruption | null): Promise<void> {
  let told: LifecycleNotifier | undefined
  try {
    const agent = await agentOf(begun)
    begun.onAgent(agent)
    const run = createRun(begun, agent)
    begun.hooks.identify({
      context: run.agent.context,
      abortSignal: run.signal,
      turn: () => run.ledger.expected,
      prompt: () => run.prompt,
    })
    told = createLifecycleNotifier(run.agent.callbacks, run.ledger.turn)
    const ending = await work(run, begun.force, told)
    const reason = why()
    if (reason !== null) await interrupted(begun, reason)
    else if (ending !== null) await end(begun, ending)
    if (reason?.kind === 'stop') await told.stopped(begun.ledger.turn)
    else if (reason === null && ending !== null) await told.ended(begun.ledger.turn)
  } catch (thrown) {
    const error = toReadableThrown(thrown)
    if (error instanceof FencedError) return begun.hooks.turnLost()
    const reason = why() ?? { kind: 'fault', error }
    await failed(begun, reason)
    if (reason.kind === 'fault') await told?.failed(error)
    if (reason.kind === 'stop') await told?.stopped(begun.ledger.turn)
  }
}

/** Null: the turn waits for a person, and the lease has been given back. */
async function work(run: Run, force: boolean, told: LifecycleNotifier): Promise<TurnEnding | null> {
  const { ledger, options, agent } = run
  const { toolbox } = agent
  const mended = planRecovery(ledger.turn, toolbox, run.clock.now())
  if (mended.length > 0) await ledger.commit(mended)
  for (const event of mended) {
    if (event.type === 'call-settled' && event.outcome.state === 'unknown') {
      run.hooks.outcomeUnknown(event.callId)
    }
  }
  let forced = force
  const stepsBefore = force ? toStepCount(ledger.turn) : 0
  // Each process brings the run on a little, however short its time: else it could be handed round for ever.
  let hasWorked = false
  const plan = (turn: Turn) => planNext(turn, nextOptions(options, toolbox))
  while (!run.signal.aborted) {
    // What the step said last may still be on its way: it is committed together with what follows.
    const next = plan(ledger.expected)
    if (next.kind !== 'run-calls' && next.kind !== 'fail-calls') await told.steps(ledger.expected)
    // To wait or to end takes no time: that is still done here.
    if (next.kind === 'step' || next.kind === 'run-calls') {
      if (run.isLeaving() && hasWorked) {
        run.handOver()
        break
      }
      hasWorked = true
    }
    switch (next.kind) {
      case 'step': {
        // A step that broke off is finished; what a condition may end is the turn behind a step that was.
        const isNext = !forced && ledger.expected.steps.at(-1)?.status === 'ended'
        if (isNext && (await isToStop(agent.step.stopWhen, ledger.expected, stepsBefore))) {
          return { kind: 'step-limit' }
        }
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

const toStepCount = ({ steps }: Turn): number =>
  steps.filter(({ status }) => status === 'ended').length

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

async function interrupted(run: BegunRun, reason: Interruption): Promise<void> {
  switch (reason.kind) {
    case 'stop':
      return end(run, { kind: 'stopped' })
    case 'hand-over':
      // What was received is kept, and the lease is over at once: anyone may carry on. That it was given back is
      // stored, or a row of deployments would pass for a turn that kills its processes (AG7).
      await run.ledger.commit([handedOver(run)])
      await run.ledger.renew(0)
      return run.hooks.turnHandedOver()
    case 'fault':
      return failed(run, reason)
    default:
      return assertNever(reason)
  }
}

const handedOver = ({ place, clock }: BegunRun): NewTurnEvent => ({
  type: 'turn-resumed',
  turnId: place.turnId,
  at: clock.now(),
  from: 'hand-over',
})

/** What was stored stays; the turn is told to have failed, if the store still takes it (LG3, ST2). */
async function failed(run: BegunRun, reason: Interruption): Promise<void> {
  if (reason.kind !== 'fault') {
    // The abort that it was told reached it as an error of the model or of a tool.
    return guarded(run, () => interrupted(run, reason))
  }
  const { error } = reason
  if (error instanceof FencedError) return run.hooks.turnLost()
  const isStore = error instanceof HoldfastError
  if (isStore && error.code === 'thread-not-found') return run.hooks.turnLost()
  const told =
    error instanceof AgentFault
      ? run.words.ofAgent(error.cause)
      : run.words.ofModel(error, run.ledger.turn.steps.length)
  return guarded(run, async () => {
    if (isStore) await run.ledger.reload()
    await end(run, { kind: 'failed', error: told })
  })
}

/** The store takes nothing: the lease runs out, and whoever takes the run over finds what was stored. */
async function guarded(run: BegunRun, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    run.hooks.turnLost(error)
  }
}
