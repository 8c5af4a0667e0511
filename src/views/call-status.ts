import { assertNever } from '../core/assert-never.ts'
import type { Call } from '../core/call.ts'

/** The chat view's name for the state of a call. */
export type ChatStatus = 'pending' | 'running' | 'completed' | 'error'

export function chatStatusOf(call: Call): ChatStatus {
  switch (call.state) {
    case 'streaming':
    case 'awaiting-approval':
      return 'pending'
    case 'ready':
    case 'running':
      return 'running'
    case 'succeeded':
      return 'completed'
    case 'failed':
    case 'denied':
    case 'stopped':
    case 'interrupted':
    case 'unknown':
      return 'error'
    default:
      return assertNever(call)
  }
}

/** The approval of a call, as AI SDK 4 annotations show it. */
export type Validated = 'accepted' | 'rejected' | 'pending' | 'not_required'

/** Derived from what was recorded at the time, never from the tool's current policy (FD4). */
export function validatedOf(call: Call): Validated {
  if (call.state === 'denied') return 'rejected'
  if (call.decision?.kind === 'accepted' && call.decision.automatic !== true) return 'accepted'
  if (call.state === 'awaiting-approval') return 'pending'
  return call.state === 'streaming' && call.approval === 'required' ? 'pending' : 'not_required'
}

/** False where a call was broken off; an open call is not broken off. */
export const isCallComplete = (call: Call): boolean =>
  call.state !== 'stopped' && call.state !== 'interrupted' && call.state !== 'unknown'
