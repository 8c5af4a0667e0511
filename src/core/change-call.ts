import { assertNever } from './assert-never.ts'
import type { Call, CallOutcome } from './call.ts'
import type { CallEvent, CallLifecycle } from './lifecycle.ts'
import type { TurnEnding } from './message.ts'
import { withDefined } from './with-defined.ts'

/** The call that its first event creates. */
export function newCall(
  event: Extract<CallEvent, { type: 'call-announced' | 'call-recorded' }>,
  step: number,
): Call {
  const base = { ...event.call, type: 'call', step, createdAt: event.at } as const
  return event.type === 'call-announced'
    ? {
        ...base,
        input: { kind: 'partial', text: '' },
        approval: 'not-required',
        state: 'streaming',
      }
    : {
        ...base,
        input: { kind: 'complete', value: event.input },
        approval: event.approval,
        state: event.approval === 'required' ? 'awaiting-approval' : 'ready',
      }
}

export function changeCall(call: Call, event: CallEvent, to: CallLifecycle): Call {
  switch (event.type) {
    case 'call-announced':
      return call
    case 'call-input-appended':
      return call.input.kind === 'partial'
        ? { ...call, input: { kind: 'partial', text: call.input.text + event.delta } }
        : call
    case 'call-recorded': {
      // A streaming client cannot change the type of a part that it already has, so `dynamic` stays as it was
      // announced.
      const { dynamic, ...origin } = event.call
      return {
        ...withoutState(call),
        ...origin,
        input: { kind: 'complete', value: event.input },
        approval: event.approval,
        state: event.approval === 'required' ? 'awaiting-approval' : 'ready',
      }
    }
    case 'call-revised': {
      const input = event.isPartial
        ? ({ kind: 'partial', text: JSON.stringify(event.input) } as const)
        : ({ kind: 'complete', value: event.input } as const)
      const revised = { ...call, name: event.name, input }
      return to === 'ready' ? { ...withoutState(revised), state: 'ready' } : revised
    }
    case 'call-approval-requested': {
      // A call that waits for approval has not started: an earlier `startedAt` was a guess of the recorder.
      const { startedAt: _, ...waiting } = withoutState(call)
      const { request: approvalRequest } = event
      return { ...waiting, approval: 'required', approvalRequest, state: 'awaiting-approval' }
    }
    case 'call-decided': {
      const decided = {
        ...withoutState(call),
        ...(event.editedInput !== undefined && call.input.kind === 'complete'
          ? {
              input: { kind: 'complete', value: event.editedInput } as const,
              proposedInput: call.input.value,
            }
          : {}),
        decision: event.decision,
      }
      if (event.decision.kind === 'accepted') return { ...decided, state: 'ready' }
      return withDefined(
        { ...decided, state: 'denied', cause: 'denied', endedAt: event.at } as const,
        { feedback: event.decision.feedback },
      )
    }
    case 'call-started':
      return { ...withoutState(call), state: 'running', startedAt: event.at }
    case 'call-progressed':
      return call.state === 'running' ? { ...call, preliminary: event.output } : call
    case 'call-settled':
      return settle(call, event.outcome, event.at, event.providerMetadata)
    case 'call-resolved':
      return resolve(call, event)
    default:
      return assertNever(event)
  }
}

export function settle(
  call: Call,
  outcome: CallOutcome,
  at: number,
  providerMetadata?: Call['resultProviderMetadata'],
): Call {
  return withDefined(
    { ...withoutState(call), ...outcome, endedAt: at },
    { resultProviderMetadata: providerMetadata },
  )
}

function resolve(call: Call, event: Extract<CallEvent, { type: 'call-resolved' }>): Call {
  const resolved = { ...withoutState(call), resolution: event.resolution }
  switch (event.resolution.kind) {
    case 'retry':
      return { ...resolved, state: 'ready' }
    case 'done':
      return {
        ...resolved,
        state: 'succeeded',
        output: event.output ?? { kind: 'inline', value: null },
        endedAt: event.at,
      }
    case 'skip':
      return { ...resolved, state: 'unknown', cause: 'crashed', endedAt: event.at }
    default:
      return assertNever(event.resolution.kind)
  }
}

/**
 * Drops the fields that belong to one state only, when a call changes its state; the caller sets the new
 * `state`.
 */
function withoutState(call: Call): WithoutState {
  // An open call has none of these fields, and the destructuring below is expensive.
  if (!stateFields.some((field) => field in call)) return call
  const {
    state,
    cause,
    error,
    modelError,
    output,
    modelOutput,
    preliminary,
    feedback,
    supersededBy,
    endedAt,
    ...rest
  } = call as Call & Partial<Record<StateFields, unknown>>
  return rest
}
const stateFields = [
  'cause',
  'error',
  'modelError',
  'output',
  'modelOutput',
  'preliminary',
  'feedback',
  'supersededBy',
  'endedAt',
] as const
type StateFields = (typeof stateFields)[number]
type WithoutState = Omit<Call, 'state' | StateFields>

/** The outcome of a call that is still open when its turn ends. */
export function outcomeAtEnd(ending: TurnEnding, call: Call): CallOutcome {
  if (ending.kind === 'stopped') return { state: 'stopped', cause: 'stopped' }
  // A call that the provider runs has no effect here that a person could check, so it never becomes
  // `unknown`. In a completed turn the provider itself reported the end, so only the result is missing.
  if (call.providerExecuted === true) {
    if (ending.kind === 'completed' || ending.kind === 'no-answer') {
      return { state: 'interrupted', cause: 'no-result' }
    }
  } else if (call.state === 'running') {
    // The call had started and its end was not recorded: whether it took effect is unknown.
    return { state: 'unknown', cause: 'crashed' }
  }
  switch (ending.kind) {
    case 'superseded':
      // Only a call that waits for approval counts as denied; any other was interrupted.
      return withDefined(
        call.state === 'awaiting-approval'
          ? ({ state: 'denied', cause: 'superseded' } as const)
          : ({ state: 'interrupted', cause: 'superseded' } as const),
        { supersededBy: ending.by },
      )
    case 'failed':
      return { state: 'interrupted', cause: 'stream-failed' }
    case 'cut-off':
    case 'step-limit':
      return { state: 'interrupted', cause: 'over-limit' }
    case 'completed':
    case 'no-answer':
    case 'interrupted':
      return { state: 'interrupted', cause: 'crashed' }
    default:
      return assertNever(ending)
  }
}
