import type { NewEvent } from './event.ts'
import type { CallId } from './ids.ts'
import {
  type CallEvent,
  type CallLifecycle,
  callTransition,
  isCallEvent,
  lifecycleOf,
} from './lifecycle.ts'
import { callsOf, type Turn } from './message.ts'

interface Admission<E extends NewEvent> {
  /** What may be written; the same list if that is all of it. */
  readonly admitted: readonly E[]
  /** What cannot happen to its call any more, or not yet. */
  readonly ignored: readonly CallEvent[]
}

/** What is only heard, from a model or a loop. Whoever says anything else acts on it, and must hear a refusal. */
const isHeard = ({ type }: CallEvent): boolean =>
  type === 'call-announced' ||
  type === 'call-input-appended' ||
  type === 'call-recorded' ||
  type === 'call-approval-requested' ||
  type === 'call-progressed' ||
  type === 'call-settled'

/**
 * The one place that decides what becomes of events that a call cannot meet: a second end, progress
 * after the end, a result of a call that is not there. They are left out and reported (CL2). A store
 * refuses an append as a whole for one of them, so without this a model or a loop that says something
 * twice would lose everything it said beside it. An event that somebody acts on is left to the store: a
 * tool must not run whose start was left out (CL3).
 */
export function admitEvents<E extends NewEvent>(
  turn: Turn,
  events: readonly E[],
  canIgnore: (event: CallEvent) => boolean = isHeard,
): Admission<E> {
  if (!events.some(isCallEvent)) return { admitted: events, ignored: [] }
  const states = new Map<CallId, CallLifecycle>()
  for (const call of callsOf(turn)) states.set(call.id, lifecycleOf(call))
  const ignored: CallEvent[] = []
  const admitted = events.filter((event) => {
    if (!isCallEvent(event)) return true
    const state = states.get(event.callId) ?? 'absent'
    const { from, to } = callTransition(event, state as CallLifecycle)
    const fits = from.includes(state)
    if (fits) states.set(event.callId, to)
    else if (canIgnore(event)) ignored.push(event)
    else return true
    return fits
  })
  return ignored.length === 0 ? { admitted: events, ignored } : { admitted, ignored }
}
