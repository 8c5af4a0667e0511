import type { NewEvent } from './event.ts'
import type { CallId } from './ids.ts'
import {
  type CallEvent,
  type CallLifecycle,
  callTransition,
  isCallEvent,
  lifecycleOf,
} from './lifecycle.ts'
import { findCall, type Turn } from './message.ts'

interface Admission<E extends NewEvent> {
  /** The events that may be stored; the same array if none was left out. */
  readonly admitted: readonly E[]
  /** The events that the state of their call does not allow, any more or yet. */
  readonly ignored: readonly CallEvent[]
}

/**
 * Events that only report what a model or a loop did, so leaving one out is harmless. The writer of any other
 * event acts on it, and must see it refused.
 */
const isReport = ({ type }: CallEvent): boolean =>
  type === 'call-announced' ||
  type === 'call-input-appended' ||
  type === 'call-recorded' ||
  type === 'call-approval-requested' ||
  type === 'call-progressed' ||
  type === 'call-settled'

/**
 * The one place that decides what happens to events that the state of their call does not allow: a second
 * end, progress after the end, a result of a call that does not exist. They are left out and reported (CL2).
 * A store refuses a whole append because of one of them, so without this a model or a loop that repeats
 * itself would lose every other event of the same append. An event that its writer acts on is left for the
 * store to refuse: a tool must not run whose `call-started` was left out (CL3).
 */
export function admitEvents<E extends NewEvent>(
  turn: Turn,
  events: readonly E[],
  canIgnore: (event: CallEvent) => boolean = isReport,
): Admission<E> {
  if (!events.some(isCallEvent)) return { admitted: events, ignored: [] }
  const states = new Map<CallId, CallLifecycle>()
  const stateOf = (id: CallId): CallLifecycle | 'absent' => {
    const known = states.get(id)
    if (known !== undefined) return known
    const call = findCall(turn, id)
    return call === undefined ? 'absent' : lifecycleOf(call)
  }
  const ignored: CallEvent[] = []
  const admitted = events.filter((event) => {
    if (!isCallEvent(event)) return true
    const state = stateOf(event.callId)
    const { from, to } = callTransition(event, state as CallLifecycle)
    const fits = from.includes(state)
    if (fits) states.set(event.callId, to)
    else if (canIgnore(event)) ignored.push(event)
    else return true
    return fits
  })
  return ignored.length === 0 ? { admitted: events, ignored } : { admitted, ignored }
}
