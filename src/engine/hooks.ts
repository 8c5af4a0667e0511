import type { Call, CallOutcome } from '../core/call.ts'
import type { MessageId, ThreadId } from '../core/ids.ts'
import type { Turn, TurnEnding, TurnError, TurnWait } from '../core/message.ts'
import type { FailurePlace } from './failure-words.ts'
import { type TurnTotals, totalsOf } from '../core/turn-totals.ts'
import type { FinishReason } from '../core/usage.ts'

export interface OfTurn {
  readonly threadId: ThreadId
  readonly turnId: MessageId
}

/** What happens in an engine, for logs, metrics and traces. Only what failed says why; nothing else carries content. */
export type LifecycleEvent =
  | ({ readonly type: 'turn-started'; readonly how: TurnStart } & OfTurn)
  | ({ readonly type: 'turn-paused'; readonly waitingFor: TurnWait } & OfTurn)
  | ({
      readonly type: 'turn-ended'
      readonly ending: TurnEnding['kind']
      /** Of a failed turn. */
      readonly error?: TurnError
      readonly ms: number
      readonly totals: TurnTotals
    } & OfTurn)
  /** Another process has it, or the store would not take its end. */
  | ({ readonly type: 'turn-lost'; readonly error?: unknown } & OfTurn)
  | ({ readonly type: 'step-started'; readonly step: number } & OfTurn)
  | ({
      readonly type: 'step-ended'
      readonly step: number
      readonly finishReason: FinishReason
      readonly ms: number
    } & OfTurn)
  | ({
      readonly type: 'model-retried'
      readonly attempt: number
      readonly delayMs: number
      readonly code: string
      readonly message: string
    } & OfTurn)
  | ({ readonly type: 'call-started'; readonly callId: string; readonly name: string } & OfTurn)
  | ({
      readonly type: 'call-ended'
      readonly callId: string
      readonly name: string
      readonly state: CallOutcome['state']
      readonly ms: number
    } & OfTurn)
  | {
      readonly type: 'committed'
      readonly appends: number
      readonly events: number
      readonly ms: number
    }
  /** A second end of a call, or one of a call that is not there. The first end stands (CL2). */
  | ({ readonly type: 'end-ignored'; readonly callId: string } & OfTurn)
  /** A call that a dead process had started: nobody knows how it ended. */
  | ({ readonly type: 'outcome-unknown'; readonly callId: string } & OfTurn)
  /**
   * A tool, a policy or a model failed. `message` and `error` are the reason, and may hold what clients are not told;
   * what they read has the `errorId` (HT6).
   */
  | ({ readonly type: 'failed'; readonly error: unknown } & FailurePlace)
  | { readonly type: 'recovery-failed'; readonly error: unknown }

export type TurnStart = 'sent' | 'resumed' | 'continued' | 'taken-over'

export type Hooks = (event: LifecycleEvent) => void

/** The same, seen from inside one run. */
export interface RunHooks {
  stepStarted(step: number): (finishReason: FinishReason) => void
  callStarted(call: Call): (outcome: CallOutcome) => void
  modelRetried(retry: { attempt: number; delayMs: number; code: string; message: string }): void
  outcomeUnknown(callId: string): void
  failed(where: FailurePlace, error: unknown): void
  endIgnored(callId: string): void
  turnPaused(waitingFor: TurnWait): void
  turnEnded(ending: TurnEnding, turn: Turn): void
  turnLost(error?: unknown): void
}

export function safely(hooks: Hooks | undefined): Hooks {
  return (event) => {
    try {
      hooks?.(event)
    } catch {
      // A log that fails must not take the work down that it watches.
    }
  }
}

export function createRunHooks(place: OfTurn, emit: Hooks, now: () => number): RunHooks {
  const begun = now()
  return {
    stepStarted(step) {
      const started = now()
      emit({ type: 'step-started', ...place, step })
      return (finishReason) =>
        emit({ type: 'step-ended', ...place, step, finishReason, ms: now() - started })
    },
    callStarted({ id: callId, name }) {
      const started = now()
      emit({ type: 'call-started', ...place, callId, name })
      return ({ state }) =>
        emit({ type: 'call-ended', ...place, callId, name, state, ms: now() - started })
    },
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
    turnLost: (error) =>
      emit({ type: 'turn-lost', ...place, ...(error === undefined ? {} : { error }) }),
  }
}
