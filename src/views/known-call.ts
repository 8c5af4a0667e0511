import {
  type Call,
  type CallOutcome,
  type CallOutput,
  type EndedCall,
  isOpenCall,
} from '../core/call.ts'
import { outcomeAtEnd } from '../core/change-call.ts'
import type { Turn } from '../core/message.ts'
import { shownInput } from './call-arguments.ts'
import { interruptionCauses } from './call-error-text.ts'

const endedStates: ReadonlySet<string> = new Set<CallOutcome['state']>([
  'succeeded',
  'failed',
  'denied',
  'stopped',
  'interrupted',
  'unknown',
])

/**
 * The call in a state that every format can express. A stored turn may contain a state of a newer version, or
 * an open call in a turn that has ended: each is mapped to the nearest true state, and never to "still
 * running" (FD7). Of arguments that are not complete it has what is shown of them.
 */
export function toKnownCall(stored: Call, turn: Turn): Call {
  const input = shownInput(stored, turn)
  return withKnownState(input === stored.input ? stored : { ...stored, input }, turn)
}

function withKnownState(call: Call, turn: Turn): Call {
  const { progress } = turn
  if (isOpenCall(call)) {
    if (progress.status !== 'ended') return call
    return { ...call, ...outcomeAtEnd(progress.ending, call), endedAt: progress.endedAt }
  }
  if (isKnownEnd(call)) return call
  const stored: Partial<EndedCall> & { readonly output?: CallOutput; readonly error?: string } =
    call
  const { output, error, endedAt = call.createdAt } = stored
  const base = { ...call, endedAt }
  if (output !== undefined) return { ...base, state: 'succeeded', output }
  if (error !== undefined) return { ...base, state: 'failed', cause: 'tool-error', error }
  return { ...base, state: 'interrupted', cause: 'no-result' }
}

const isKnownEnd = (call: Call): boolean =>
  endedStates.has(call.state) &&
  (call.state !== 'interrupted' || interruptionCauses.includes(call.cause))
