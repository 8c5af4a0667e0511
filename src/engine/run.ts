import { assertNever } from '../core/assert-never.ts'
import type { Call, CallOutcome } from '../core/call.ts'
import { outcomeAtEnd } from '../core/change-call.ts'
import { toReadableThrown } from '../core/error-text.ts'
import type { NewTurnEvent } from '../core/event.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { CallId } from '../core/ids.ts'
import type { Turn, TurnEnding } from '../core/message.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import type { InputQueue } from '../core/queued-input.ts'
import { withDefined } from '../core/with-defined.ts'
import { agentOf, type BegunRun, createRun, type RunParts } from './create-run.ts'
import { endRun } from './end-run.ts'
import { createFailureWords } from './failure-words.ts'
import { canJoin, planJoin } from './plan-end.ts'
import { isSteered, nextOptions, planNext } from './plan-next.ts'
import { planRecovery } from './plan-recovery.ts'
import { runCalls } from './run-calls.ts'
import { originOf, type RunLifecycle } from './run-lifecycle.ts'
import type { EndableRun, Run } from './run-context.ts'
import { FencedError } from './append-refusal.ts'
import { runStep } from './run-step.ts'
import { isToStop, toStepResults } from './step-results.ts'
import { AgentFault, type TurnAgent } from './turn-agent.ts'

/** Why a run was told to end before it was done. */
export type Interruption =
  | { readonly kind: 'stop' }
  /** This process is going; another one carries on. */
  | { readonly kind: 'hand-over' }
  | { readonly kind: 'fault'; readonly error: unknown }

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

/** Goes on until the turn waits or ends; whatever happens, it says so in the ledger if it still may. */
async function drive(begun: BegunRun, why: () => Interruption | null): Promise<void> {
  let lifecycle: RunLifecycle | undefined
  try {
    const agent = await agentOf(begun)
    begun.onAgent(agent)
    const run = createRun(begun, agent)
    lifecycle = run.lifecycle
    await lifecycle.started(run.initialPrompt)
    const done = await work(run, begun.force)
    const reason = done === 'ended' ? null : why()
    if (reason !== null) await interrupted(begun, reason)
    else if (done !== 'ended' && done !== null) await end(begun, done)
    if (reason?.kind === 'stop') await lifecycle.stopped(begun.ledger.turn)
    else if (reason === null && done !== null) await lifecycle.ended(begun.ledger.turn)
    else await lifecycle.left(begun.ledger.turn)
  } catch (thrown) {
    const error = toReadableThrown(thrown)
    if (error instanceof FencedError) {
      begun.hooks.turnLost()
      return lifecycle?.left(begun.ledger.turn)
    }
    const reason = why() ?? { kind: 'fault', error }
    await failed(begun, reason)
    if (reason.kind === 'fault') await lifecycle?.failed(error)
    else if (reason.kind === 'stop') await lifecycle?.stopped(begun.ledger.turn)
    else await lifecycle?.left(begun.ledger.turn)
  }
}

/** Null: the turn waits for a person, and the lease has been given back. `ended`: its end is stored. */
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
  // Each process brings the run on a little, however short its time: else it could be handed round for ever.
  let hasWorked = false
  const plan = (turn: Turn) => planNext(turn, nextOptions(options, toolbox))
  const stepResults = () => toStepResults(ledger.expected, originOf(run.agent, run.turnId))
  const isSpent = () => isToStop(step.stopWhen, stepResults, stepsBefore)
  while (!run.signal.aborted) {
    // What the step said last may still be on its way: it is committed together with what follows.
    const next = plan(ledger.expected)
    if (next.kind !== 'run-calls' && next.kind !== 'fail-calls')
      await lifecycle.steps(ledger.expected)
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
        // Somebody may have decided just now: then there is more to do, not something to wait for.
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
          // What steers may come until the end is stored: then the turn goes on (IN3).
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

/** An ending behind which the turn goes on for what a person said meanwhile (IN3). */
const canGoOn = ({ kind }: TurnEnding): boolean => kind === 'completed' || kind === 'no-answer'

/** Lets inputs that steer join at a step boundary. False: none does, or somebody was quicker; look again. */
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

/** Says the end. False: there is something to do instead. */
async function end(
  run: EndableRun,
  ending: TurnEnding,
  unless?: (turn: Turn, queue: InputQueue) => boolean,
): Promise<boolean> {
  // What a provider runs may have no result when all else is said and done: nothing stopped then (ST3a).
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
