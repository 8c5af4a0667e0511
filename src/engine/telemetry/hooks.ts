import type { ModelMessage } from 'ai'
import type { Call, CallOutcome } from '../../core/call.ts'
import type { FeedbackRating } from '../../core/feedback.ts'
import type { Turn, TurnEnding, TurnError, TurnWait } from '../../core/message.ts'
import { idempotencyKeyOf, type TurnPlace } from '../call-scope.ts'
import type { FailurePlace } from '../run/failure-texts.ts'
import { type TurnTotals, totalsOf } from '../../core/turn-totals.ts'
import type { FinishReason, Usage } from '../../core/usage.ts'

/** The turn that an event belongs to. */
export interface OfTurn<Context> extends TurnPlace {
  /**
   * The agent's `context`, once it is known: a function `agent` is called after `turn-started`. Not enumerable, so that
   * a log that writes the event as JSON does not write what may be secret. The same applies to the next three fields.
   */
  readonly context?: Context
  /** The signal of the run. */
  readonly abortSignal?: AbortSignal
  /** The current turn: for listeners that may see content. */
  readonly turn?: () => Turn
  /** The last prompt sent to the model. */
  readonly prompt?: () => readonly ModelMessage[]
}

/** The call that an event belongs to. */
export interface OfCall {
  readonly callId: string
  readonly name: string
  /** See `CallScope`. */
  readonly idempotencyKey: string
}

/**
 * What happens in an engine, for logs, metrics and traces. Only failures contain their reason; nothing else contains
 * content.
 */
export type LifecycleEvent<Context = unknown> =
  | ({
      readonly type: 'turn-started'
      readonly how: TurnStart
      /** The trace in which the turn began: see `Hooks.openTrace`. */
      readonly trace?: string
    } & OfTurn<Context>)
  | ({ readonly type: 'turn-paused'; readonly waitingFor: TurnWait } & OfTurn<Context>)
  | ({
      readonly type: 'turn-ended'
      readonly ending: TurnEnding['kind']
      /** The error of a failed turn. */
      readonly error?: TurnError
      readonly ms: number
      readonly totals: TurnTotals
    } & OfTurn<Context>)
  /**
   * Released by this process, which is shutting down or has run it for `handOverAfterMs`: the next process that looks
   * for abandoned runs continues it.
   */
  | ({ readonly type: 'turn-handed-over' } & OfTurn<Context>)
  /** Another process holds the lease, or the end of the turn could not be stored. */
  | ({ readonly type: 'turn-lost'; readonly error?: unknown } & OfTurn<Context>)
  | ({ readonly type: 'step-started'; readonly step: number } & AskedModel & OfTurn<Context>)
  | ({
      readonly type: 'step-ended'
      readonly step: number
      readonly finishReason: FinishReason
      readonly usage?: Usage
      /** The model that answered, where the provider reports it. */
      readonly model?: string
      readonly ms: number
    } & OfTurn<Context>)
  /** A model failed, and the next one of the agent's list is tried (AG5). `message`: what clients are shown. */
  | ({
      readonly type: 'model-replaced'
      readonly step: number
      readonly model: string
      readonly by: string
      readonly code: string
      readonly message: string
    } & OfTurn<Context>)
  | ({
      readonly type: 'model-retried'
      readonly attempt: number
      readonly delayMs: number
      readonly code: string
      readonly message: string
    } & OfTurn<Context>)
  | ({ readonly type: 'call-started' } & OfCall & OfTurn<Context>)
  | ({
      readonly type: 'call-ended'
      readonly state: CallOutcome['state']
      readonly ms: number
      /** The outcome of the call. Content, so not enumerable either. */
      readonly outcome?: () => CallOutcome
    } & OfCall &
      OfTurn<Context>)
  /** A person gave or withdrew feedback on an answer (FK4); it is stored. */
  | ({
      readonly type: 'feedback-given'
      readonly by: string
      readonly rating: FeedbackRating | null
      /** The person's comment. Content, so not enumerable either. */
      readonly comment?: () => string | undefined
    } & OfTurn<Context>)
  | {
      readonly type: 'committed'
      readonly appends: number
      readonly events: number
      readonly ms: number
    }
  /** A second end of a call, or one of a call that does not exist. The first end stays (CL2). */
  | ({ readonly type: 'end-ignored'; readonly callId: string } & OfTurn<Context>)
  /** A model generated a title for the thread (FK3). `isStored` is false where the thread had been named by then. */
  | ({
      readonly type: 'title-made'
      readonly modelId: string
      readonly isStored: boolean
      readonly usage?: Usage
      readonly ms: number
    } & OfTurn<Context>)
  /** A call that a dead process had started: its outcome is unknown. */
  | ({ readonly type: 'outcome-unknown'; readonly callId: string } & OfTurn<Context>)
  /**
   * A tool, a policy or a model failed, no title could be generated (FK3), a file store failed at a file of a result, which
   * then stays in the result (FL1), or code of yours that only observes threw (`source: 'observer'`, at most once a minute for
   * each function): the last three are reported only here. `message` and `error` are the reason, and may contain what clients
   * must not see; clients get the `errorId` (HT6).
   */
  | ({ readonly type: 'failed'; readonly error: unknown } & FailurePlace & OfTurn<Context>)
  | { readonly type: 'recovery-failed'; readonly error: unknown }

/** Why a run of a turn began. */
export type TurnStart = 'sent' | 'resumed' | 'continued' | 'taken-over'

/** A model, with the names that its provider uses. */
export interface AskedModel {
  readonly modelId: string
  readonly provider: string
}

/**
 * Receives every lifecycle event. A plain function is enough; the properties are for tracing. What it throws changes nothing,
 * and is written to the standard error.
 */
export interface Hooks<Context = unknown> {
  (event: LifecycleEvent<Context>): void
  /**
   * Called before a turn is stored, so that its trace is stored with it: a run that resumes it or takes it over, on
   * whatever server, gets it in its `turn-started`.
   */
  readonly openTrace?: (place: TurnPlace) => OpenTrace | undefined
  /**
   * Runs a step or a call inside the turn's trace, so that spans created by it are its children. It calls `work` once: a call
   * that it does not run fails, and what it does after `work` changes nothing; what it throws then is a `failed` event.
   */
  readonly inside?: <Result>(part: TurnPart, work: () => Result) => Result
}

/** A trace that was opened for a turn before the turn is stored. */
export interface OpenTrace {
  /** W3C `traceparent`. */
  readonly traceparent: string
  /** The turn was not stored: discards the trace. */
  readonly discard: () => void
}

/** A step or a call of a turn. */
export type TurnPart = TurnPlace & ({ readonly step: number } | { readonly callId: string })

/** The hooks of one run. */
export interface RunHooks {
  /** Adds the run's context, signal, turn and prompt to the events that follow. */
  identify(run: Required<Omit<OfTurn<unknown>, keyof TurnPlace>>): void
  stepStarted(step: number, model: AskedModel): (ended: StepEnd) => void
  /** Undefined where the host application has nothing around steps and calls. */
  readonly inside:
    | (<Result>(
        part: { readonly step: number } | { readonly callId: string },
        work: () => Result,
      ) => Result)
    | undefined
  callStarted(call: Call): (outcome: CallOutcome) => void
  modelReplaced(replaced: {
    step: number
    model: string
    by: string
    code: string
    message: string
  }): void
  modelRetried(retry: { attempt: number; delayMs: number; code: string; message: string }): void
  outcomeUnknown(callId: string): void
  failed(where: FailurePlace, error: unknown): void
  endIgnored(callId: string): void
  turnPaused(waitingFor: TurnWait): void
  turnEnded(ending: TurnEnding, turn: Turn): void
  turnHandedOver(): void
  turnLost(error?: unknown): void
}

export interface StepEnd {
  readonly finishReason: FinishReason
  readonly usage?: Usage
  readonly model?: string
}

type RunIdentity = Partial<Omit<OfTurn<unknown>, keyof TurnPlace>>

/**
 * What an event has besides its own fields: content, which a logger that writes out all fields must not find. So these are
 * getters of a class, and no fields; to define them on each event would take longer than everything else about it.
 */
class RunEvent {
  readonly #identity: RunIdentity
  readonly #outcome: (() => CallOutcome) | undefined

  constructor(identity: RunIdentity, outcome: (() => CallOutcome) | undefined) {
    this.#identity = identity
    this.#outcome = outcome
  }

  get context() {
    return this.#identity.context
  }
  get abortSignal() {
    return this.#identity.abortSignal
  }
  get turn() {
    return this.#identity.turn
  }
  get prompt() {
    return this.#identity.prompt
  }
  get outcome() {
    return this.#outcome
  }
}

export function createRunHooks(
  place: TurnPlace,
  to: Hooks,
  now: () => number,
  inside?: Hooks['inside'],
): RunHooks {
  const begun = now()
  let identity: RunIdentity = {}
  const emit = (event: LifecycleEvent, outcome?: () => CallOutcome) =>
    to(Object.assign(new RunEvent(identity, outcome), event))
  const ofCall = ({ id: callId, name }: Call) => ({
    callId,
    name,
    idempotencyKey: idempotencyKeyOf(place.threadId, callId),
  })
  return {
    identify(run) {
      identity = run
    },
    inside: inside && ((part, work) => inside({ ...place, ...part }, work)),
    stepStarted(step, { modelId, provider }) {
      const started = now()
      emit({ type: 'step-started', ...place, step, modelId, provider })
      return (ended) => emit({ type: 'step-ended', ...place, step, ...ended, ms: now() - started })
    },
    callStarted(call) {
      const started = now()
      const where = { ...place, ...ofCall(call) }
      emit({ type: 'call-started', ...where })
      return (outcome) => {
        const { state } = outcome
        const ended = { type: 'call-ended', ...where, state, ms: now() - started } as const
        emit(ended, () => outcome)
      }
    },
    modelReplaced: (replaced) => emit({ type: 'model-replaced', ...place, ...replaced }),
    modelRetried: (retry) => emit({ type: 'model-retried', ...place, ...retry }),
    outcomeUnknown: (callId) => emit({ type: 'outcome-unknown', ...place, callId }),
    failed: (where, error) => emit({ type: 'failed', ...where, error }),
    endIgnored: (callId) => emit({ type: 'end-ignored', ...place, callId }),
    turnPaused: (waitingFor) => emit({ type: 'turn-paused', ...place, waitingFor }),
    turnEnded: (ending, turn) =>
      emit({
        type: 'turn-ended',
        ...place,
        ending: ending.kind,
        ...(ending.kind === 'failed' ? { error: ending.error } : {}),
        ms: now() - begun,
        totals: totalsOf(turn),
      }),
    turnHandedOver: () => emit({ type: 'turn-handed-over', ...place }),
    turnLost: (error) =>
      emit({ type: 'turn-lost', ...place, ...(error === undefined ? {} : { error }) }),
  }
}
