import { assertNever } from '../../core/assert-never.ts'
import type { Call, CallOutcome } from '../../core/call.ts'
import { outcomeAtEnd } from '../../core/change-call.ts'
import { toReadableThrown } from '../../core/error-text.ts'
import type { NewTurnEvent } from '../../core/event.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { CallId } from '../../core/ids.ts'
import type { Turn, TurnEnding } from '../../core/message.ts'
import { planTurnEnd } from '../../core/plan-turn-end.ts'
import type { InputQueue } from '../../core/queued-input.ts'
import { withDefined } from '../../core/with-defined.ts'
import { nextTick } from '../clock.ts'
import { agentOf, type BegunRun, createRun, type RunParts } from './create-run.ts'
import { endRun } from './end-run.ts'
import { createFailureTexts } from './failure-texts.ts'
import { createHostPatience } from './host-patience.ts'
import { canJoin, planJoin } from './plan-end.ts'
import { isSteered, nextOptions, planNext } from './plan-next.ts'
import { planRecovery } from './plan-recovery.ts'
import { runCalls } from './run-calls.ts'
import { originOf, type RunLifecycle } from './run-lifecycle.ts'
import type { EndableRun, Run } from './run-context.ts'
import { FencedError, isRunLost } from './append-refusal.ts'
import { runStep } from './run-step.ts'
import { isToStop, toStepResults } from './step-results.ts'
import { AgentFault, type TurnAgent } from '../agent/turn-agent.ts'

/** Why a run is ended before it is done. */
export type Interruption =
  | { readonly kind: 'stop' }
  /** This process is shutting down; another one continues the run. */
  | { readonly kind: 'hand-over' }
  | { readonly kind: 'fault'; readonly error: unknown }

export interface StartedRun {
  readonly done: Promise<void>
  interrupt(reason: Interruption): void
  /** The run's agent, once it has been resolved. A recorded turn has none. */
  agent?(): TurnAgent | undefined
  /**
   * Lets work in flight finish, and then hands the run over. A recorded turn cannot be handed over: its loop
   * belongs to the host application.
   */
  leave?(): void
}

export function startRun(parts: RunParts): StartedRun {
  const controller = new AbortController()
  let interruption: Interruption | null = null
  const interrupt = (reason: Interruption) => {
    interruption ??= reason
    controller.abort(
      new DOMException(`The run was interrupted: ${interruption.kind}.`, 'AbortError'),
    )
  }
  const { signal } = controller
  const { place, hooks, options } = parts
  const memory = parts.promptMemory.open(place.ownerId, signal)
  const results = parts.resultMemory.open(place.ownerId)
  const failureTexts = createFailureTexts(place, options.errorText, (where, error) =>
    hooks.failed(where, error),
  )
  let isLeaving = false
  let agent: TurnAgent | undefined
  const begun: BegunRun = {
    ...parts,
    failureTexts,
    memory,
    results,
    signal,
    patience: createHostPatience(parts.clock, signal),
    isLeaving: () => isLeaving,
    handOver: () => interrupt({ kind: 'hand-over' }),
    onAgent(resolved) {
      agent = resolved
    },
  }
  return {
    interrupt,
    agent: () => agent,
    leave() {
      isLeaving = true
    },
    // Whoever began the run, by a message or a decision, gets the answer that it is stored before the run does anything
    // else.
    done: nextTick()
      .then(() => drive(begun, () => interruption))
      .finally(() => {
        memory.release()
        results.release()
      }),
  }
}

/**
 * Works until the turn waits or ends. On every outcome, errors included, the end of the turn is committed if this
 * run still holds the lease.
 */
async function drive(begun: BegunRun, interruption: () => Interruption | null): Promise<void> {
  const { ledger } = begun
  let lifecycle: RunLifecycle | undefined
  try {
    const agent = await begun.patience(agentOf(begun))
    begun.onAgent(agent)
    const run = createRun(begun, agent)
    lifecycle = run.lifecycle
    await lifecycle.started(run.initialPrompt)
    const done = await work(run, begun.force)
    const reason = done === 'ended' ? null : interruption()
    if (reason !== null) await interrupted(begun, reason)
    else if (done !== 'ended' && done !== null) await end(begun, done)
    if (reason?.kind === 'stop') await lifecycle.stopped(ledger.turn)
    else if (reason === null && done !== null) await lifecycle.ended(ledger.turn)
    else await lifecycle.left(ledger.turn)
  } catch (thrown) {
    const error = toReadableThrown(thrown)
    if (error instanceof FencedError) {
      begun.hooks.turnLost()
      return lifecycle?.left(ledger.turn)
    }
    const reason = interruption() ?? { kind: 'fault', error }
    await failed(begun, reason)
    if (reason.kind === 'fault') await lifecycle?.failed(error)
    else if (reason.kind === 'stop') await lifecycle?.stopped(ledger.turn)
    else await lifecycle?.left(ledger.turn)
  }
}

/**
 * Null: the turn waits for a person, and the lease has been released; or the run was aborted. `ended`: the end is
 * stored.
 */
async function work(run: Run, force: boolean): Promise<TurnEnding | 'ended' | null> {
  const { ledger, options, lifecycle } = run
  const { toolbox, step } = run.agent
  const mended = planRecovery(ledger.turn, toolbox, run.clock.now())
  if (mended.length > 0) await ledger.commit(mended)
  for (const event of mended) {
    if (event.type === 'call-settled' && event.outcome.state === 'unknown') {
      run.hooks.outcomeUnknown(event.callId)
    }
  }
  let forced = force
  const stepsBefore = force ? toStepCount(ledger.turn) : 0
  // Each process completes at least one step or call before it hands over, or the run could be passed on for ever
  // without progress.
  let hasWorked = false
  const plan = (turn: Turn) => planNext(turn, nextOptions(options, toolbox))
  const stepResults = () => toStepResults(ledger.expected, originOf(run.agent, run.turnId))
  const isSpent = () => run.patience(isToStop(step.stopWhen, stepResults, stepsBefore))
  while (!run.signal.aborted) {
    // The last events of the step may not be committed yet: they are committed together with what follows.
    const next = plan(ledger.expected)
    if (next.kind !== 'run-calls' && next.kind !== 'fail-calls')
      await lifecycle.steps(ledger.expected)
    // Only new work is handed over; pausing and ending take no time and are still done here.
    if (next.kind === 'step' || next.kind === 'run-calls') {
      if (run.isLeaving() && hasWorked) {
        run.handOver()
        break
      }
      hasWorked = true
    }
    switch (next.kind) {
      case 'step': {
        // A step that was broken off is always completed; stop conditions apply only after a step that has ended.
        const isNext = !forced && ledger.expected.steps.at(-1)?.status === 'ended'
        const isAwaited = isSteered(ledger.expected)
        if (isNext && !isAwaited && (await isSpent())) return { kind: 'step-limit' }
        if (isNext && (await joinInputs(run))) break
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
        // A decision may have arrived meanwhile: then the plan is no longer to wait.
        const stillWaits = (turn: Turn) =>
          plan(turn).kind === 'wait' ? { events: [paused] } : null
        if ((await ledger.commitIfCurrent(stillWaits, 'release')) !== null) {
          run.hooks.turnPaused(waitingFor)
          return null
        }
        break
      }
      case 'end': {
        const { ending } = next
        if (!forced) {
          if (!canGoOn(ending) || (await isSpent())) return ending
          if (await joinInputs(run)) break
          // A steering input may arrive until the end is stored: then the turn goes on (IN3).
          const { maxSteps } = options
          const unless = (turn: Turn, queue: InputQueue) => canJoin(turn, queue, maxSteps)
          if (run.signal.aborted || (await end(run, ending, unless))) {
            return run.ledger.turn.progress.status === 'ended' ? 'ended' : ending
          }
          break
        }
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

/** Endings after which the turn goes on if a person has sent a steering input meanwhile (IN3). */
const canGoOn = ({ kind }: TurnEnding): boolean => kind === 'completed' || kind === 'no-answer'

/**
 * Lets steering inputs join at a step boundary. False: there is none. True: they joined, or another writer changed
 * the turn; the caller has to plan again either way.
 */
async function joinInputs({ ledger, options, clock }: Run): Promise<boolean> {
  const { maxSteps } = options
  if (!canJoin(ledger.expected, ledger.queue, maxSteps)) return false
  await ledger.commitIfCurrent(
    (turn, queue) =>
      canJoin(turn, queue, maxSteps) ? { events: planJoin(turn, queue, clock.now()) } : null,
    'go-on',
  )
  return true
}

const toStepCount = ({ steps }: Turn): number =>
  steps.filter(({ status }) => status === 'ended').length

function orphaned(run: Run, callId: CallId, name: string): NewTurnEvent {
  const error = `There is no tool called "${name}" any more.`
  const outcome = { state: 'failed', cause: 'unknown-tool', error } as const
  return { type: 'call-settled', turnId: run.turnId, at: run.clock.now(), callId, outcome }
}

/** Commits the end of the turn. False: `unless` held, and the run goes on. */
async function end(
  run: EndableRun,
  ending: TurnEnding,
  unless?: (turn: Turn, queue: InputQueue) => boolean,
): Promise<boolean> {
  // A call that the provider executes may have no result when the turn completes; it was not stopped (ST3a).
  const isDone = ending.kind === 'completed' || ending.kind === 'no-answer'
  const outcomeOf = (call: Call): CallOutcome =>
    isDone ? { state: 'interrupted', cause: 'no-result' } : outcomeAtEnd(ending, call)
  const plan = (turn: Turn) => planTurnEnd(turn, ending, run.clock.now(), outcomeOf)
  return endRun(run, withDefined({ ending, plan }, { unless }))
}

async function interrupted(run: BegunRun, reason: Interruption): Promise<void> {
  switch (reason.kind) {
    case 'stop':
      await end(run, { kind: 'stopped' })
      return
    case 'hand-over':
      // Everything received is committed, and the lease expires at once, so that any process may take the run over.
      // The `hand-over` event is stored, or a series of deployments would be counted as a turn that crashes its
      // processes (AG7).
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

/** What was stored stays; the turn ends as failed, if that can still be stored (LG3, ST2). */
async function failed(run: BegunRun, reason: Interruption): Promise<void> {
  if (reason.kind !== 'fault') {
    // The abort of this run surfaced as an error of the model or of a tool.
    return guarded(run, () => interrupted(run, reason))
  }
  const { error } = reason
  if (isRunLost(error)) return run.hooks.turnLost()
  const turnError =
    error instanceof AgentFault
      ? run.failureTexts.ofAgent(error.cause)
      : run.failureTexts.ofModel(error, run.ledger.turn.steps.length)
  return guarded(run, async () => {
    if (error instanceof HoldfastError) await run.ledger.reload()
    await end(run, { kind: 'failed', error: turnError })
  })
}

/**
 * If the store cannot be written, the lease expires, and the process that takes the run over finds what was stored. What
 * could not even be planned is left out: every process that takes the run over would fail at it again.
 */
async function guarded(run: BegunRun, write: () => Promise<void>): Promise<void> {
  try {
    await write().catch(async (error: unknown) => {
      if (!isUnplannable(error)) throw error
      await run.ledger.reload()
      await write()
    })
  } catch (error) {
    run.hooks.turnLost(error)
  }
}

/** The events themselves are at fault, and not the store: a function of the host application gave what JSON cannot represent. */
const isUnplannable = (error: unknown): boolean =>
  error instanceof HoldfastError ? error.code === 'bad-event' : !(error instanceof FencedError)
