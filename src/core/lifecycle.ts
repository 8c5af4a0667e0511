import { assertNever } from './assert-never.ts'
import { type Call, type CallState, isOpenState, openStates } from './call.ts'
import type { NewEvent, NewTurnEvent } from './event.ts'
import type { TurnStatus } from './message.ts'

/**
 * The lifecycle of calls and turns as data: in which states an event is allowed, and which state it leads to.
 * The fold and every store use this one table, so a forbidden event is refused before it is stored, and
 * ignored if a damaged ledger holds it.
 */
interface Transition<State> {
  readonly from: readonly (State | 'absent')[]
  readonly to: State
}

/** A skipped `unknown` call is shown as `unknown`, but can no longer be resolved in another way. */
export type CallLifecycle = CallState | 'skipped'

export const lifecycleOf = (call: Call): CallLifecycle =>
  call.state === 'unknown' && call.resolution?.kind === 'skip' ? 'skipped' : call.state

/** A skipped call is not open: the turn does not wait for it. */
export const isOpenLifecycle = (lifecycle: CallLifecycle): boolean =>
  lifecycle !== 'skipped' && isOpenState(lifecycle)

export type CallEvent = Extract<NewTurnEvent, { readonly callId: unknown }>

export const isCallEvent = <E extends NewEvent>(event: E): event is E & CallEvent =>
  'callId' in event

export function callTransition(
  event: CallEvent,
  current: CallLifecycle,
): Transition<CallLifecycle> {
  switch (event.type) {
    case 'call-announced':
      return { from: ['absent'], to: 'streaming' }
    case 'call-input-appended':
      return { from: ['streaming'], to: 'streaming' }
    case 'call-recorded':
      return {
        from: ['absent', 'streaming'],
        to: event.approval === 'required' ? 'awaiting-approval' : 'ready',
      }
    case 'call-revised':
      return {
        from: ['streaming', 'ready', 'running'],
        to: current === 'streaming' && !event.isPartial ? 'ready' : current,
      }
    case 'call-approval-requested':
      return { from: ['ready', 'running'], to: 'awaiting-approval' }
    case 'call-decided':
      return {
        from: ['awaiting-approval'],
        to: event.decision.kind === 'accepted' ? 'ready' : 'denied',
      }
    case 'call-started':
      return { from: ['ready'], to: 'running' }
    case 'call-progressed':
      return { from: ['running'], to: 'running' }
    case 'call-settled':
      return { from: openStates, to: event.outcome.state }
    case 'call-resolved':
      return { from: ['unknown'], to: resolvedLifecycle[event.resolution.kind] }
    default:
      return assertNever(event)
  }
}

const resolvedLifecycle = { retry: 'ready', done: 'succeeded', skip: 'skipped' } as const

/** `to: null` leaves the status as it was. */
export function turnTransition(event: NewTurnEvent): {
  readonly from: readonly (TurnStatus | 'absent')[]
  readonly to: TurnStatus | null
} {
  switch (event.type) {
    case 'turn-started':
      return { from: ['absent'], to: 'running' }
    case 'turn-copied':
      return { from: ['absent'], to: 'ended' }
    case 'turn-paused':
      return { from: ['running'], to: 'waiting' }
    case 'turn-resumed':
      // Only a turn that runs can be taken over, without a wait in between.
      return { from: event.from === undefined ? ['waiting', 'ended'] : ['running'], to: 'running' }
    case 'turn-ended':
      return { from: ['running', 'waiting'], to: 'ended' }
    // Not allowed while the turn runs: the stream to a client has no chunk for feedback, so that client would
    // miss it.
    case 'feedback-given':
      return { from: ['waiting', 'ended'], to: null }
    // A person's decision, or a newer message, may change a call while its turn waits.
    case 'call-decided':
    case 'call-resolved':
    case 'call-settled':
    case 'step-ended':
      return { from: ['running', 'waiting'], to: null }
    default:
      return { from: ['running'], to: null }
  }
}
