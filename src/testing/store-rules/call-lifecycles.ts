import type { CallOutcome } from '../../core/call.ts'
import type { NewTurnEvent } from '../../core/event.ts'
import type { CallEvent, CallLifecycle } from '../../core/lifecycle.ts'
import { at, begun, call, turnEvent, recorded, settled } from './thread-script.ts'

const origin = { id: call, providerCallId: 'call_0', name: 'look_up' }
const announced = turnEvent({ type: 'call-announced', callId: call, call: origin })
const decided = (kind: 'accepted' | 'rejected') =>
  turnEvent({
    type: 'call-decided',
    callId: call,
    decision: { kind, by: 'ana', at, inputHash: 'hash' },
  })
const revised = (isPartial: boolean) =>
  turnEvent({ type: 'call-revised', callId: call, name: 'look_at', input: { a: 1 }, isPartial })
const resolved = (kind: 'retry' | 'done' | 'skip') =>
  turnEvent({ type: 'call-resolved', callId: call, resolution: { kind, by: 'ana', at } })

export const failed: CallOutcome = { state: 'failed', cause: 'tool-error', error: 'No.' }
export const stopped: CallOutcome = { state: 'stopped', cause: 'stopped' }
const unknown: CallOutcome = { state: 'unknown', cause: 'crashed' }
const outcomes: readonly CallOutcome[] = [
  { state: 'succeeded', output: { kind: 'inline', value: 'done' } },
  failed,
  { state: 'denied', cause: 'superseded' },
  stopped,
  { state: 'interrupted', cause: 'crashed' },
  unknown,
]

/** The shortest list of events that leads to each state. */
export const callPaths: ReadonlyMap<CallLifecycle | 'absent', readonly NewTurnEvent[]> = new Map<
  CallLifecycle | 'absent',
  readonly NewTurnEvent[]
>([
  ['absent', []],
  ['streaming', [announced]],
  ['awaiting-approval', [recorded(call, { approval: 'required' })]],
  ['ready', [recorded()]],
  ['running', [recorded(), begun()]],
  ...outcomes.map((outcome) => [outcome.state, [recorded(), begun(), settled(outcome)]] as const),
  ['skipped', [recorded(), begun(), settled(unknown), resolved('skip')]],
])

/** Every event of a call, in every form that leads to another state. */
export const callEvents: readonly CallEvent[] = [
  announced,
  turnEvent({ type: 'call-input-appended', callId: call, delta: '{' }),
  recorded(),
  recorded(call, { approval: 'required' }),
  revised(true),
  revised(false),
  decided('accepted'),
  decided('rejected'),
  turnEvent({ type: 'call-approval-requested', callId: call, request: { id: 'request-1' } }),
  begun(),
  turnEvent({ type: 'call-progressed', callId: call, output: 'half' }),
  ...outcomes.map((outcome) => settled(outcome)),
  resolved('retry'),
  resolved('done'),
  resolved('skip'),
] as readonly CallEvent[]
