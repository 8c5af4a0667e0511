import { assertNever } from '../core/assert-never.ts'

/** Where a follower stands. Every state says what happens next, so a screen can say it too. */
export type Connection =
  | { readonly status: 'idle' }
  | { readonly status: 'connecting'; readonly attempt: number }
  /** Connected, and reading what it missed. */
  | { readonly status: 'catching-up' }
  | { readonly status: 'live' }
  /** The server was not there; it is tried again by itself. */
  | { readonly status: 'backing-off'; readonly attempt: number; readonly delayMs: number }
  /** The device says that it has no network; it is tried again when that changes. */
  | { readonly status: 'offline' }
  /** It makes no sense to try again: the thread is gone, or is not ours. */
  | { readonly status: 'refused'; readonly code: string }

export type ConnectionEvent =
  | { readonly type: 'started' }
  | { readonly type: 'opened'; readonly isBehind: boolean }
  | { readonly type: 'caught-up' }
  /** `random` from 0 to 1: clients that lost one server must not all come back at once. */
  | { readonly type: 'lost'; readonly random: number }
  | { readonly type: 'went-offline' }
  | { readonly type: 'refused'; readonly code: string }
  | { readonly type: 'stopped' }

const firstDelayMs = 250
const longestDelayMs = 10_000

export function nextConnection(state: Connection, event: ConnectionEvent): Connection {
  switch (event.type) {
    case 'started':
      return { status: 'connecting', attempt: attemptOf(state) }
    case 'opened':
      return { status: event.isBehind ? 'catching-up' : 'live' }
    case 'caught-up':
      return state.status === 'catching-up' ? { status: 'live' } : state
    case 'lost': {
      const attempt = attemptOf(state) + 1
      const most = Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1))
      return {
        status: 'backing-off',
        attempt,
        delayMs: Math.round(most * (0.5 + event.random / 2)),
      }
    }
    case 'went-offline':
      return { status: 'offline' }
    case 'refused':
      return { status: 'refused', code: event.code }
    case 'stopped':
      return { status: 'idle' }
    default:
      return assertNever(event)
  }
}

/** Coming back from offline is an attempt too: it is not the first time that this screen connects. */
const attemptOf = (state: Connection): number =>
  'attempt' in state ? state.attempt : state.status === 'offline' ? 1 : 0
