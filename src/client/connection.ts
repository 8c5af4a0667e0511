import { assertNever } from '../core/assert-never.ts'

/** The state of a follower's connection. Every state determines what happens next, so the UI can show it too. */
export type Connection =
  /** There is no subscriber, so nothing is connected. */
  | { readonly status: 'idle' }
  /** `attempt`: the number of failed attempts before this one; 0 for the first. */
  | { readonly status: 'connecting'; readonly attempt: number }
  /** `attempt`: the number of failed attempts before this connection. */
  | { readonly status: 'live'; readonly attempt: number }
  /** The server was unreachable, or asked to wait; the client retries by itself after `delayMs`. */
  | { readonly status: 'backing-off'; readonly attempt: number; readonly delayMs: number }
  /** The device reports that it has no network; the client retries when that changes. */
  | { readonly status: 'offline' }
  /**
   * Retrying by itself is useless: the thread does not exist or belongs to another owner (`thread-not-found`), nobody
   * is signed in (`not-authenticated`), or access is denied (`forbidden`, `foreign-origin` …). `reconnect` of the
   * client tries again.
   */
  | { readonly status: 'refused'; readonly code: string }

/** An input of the state machine. */
export type ConnectionInput =
  | { readonly type: 'started' }
  | { readonly type: 'opened' }
  | LostConnection
  | { readonly type: 'went-offline' }
  | { readonly type: 'refused'; readonly code: string }
  | { readonly type: 'stopped' }

/** A connection, or an attempt to connect, has ended. */
interface LostConnection {
  readonly type: 'lost'
  /** Frames arrived, or it stayed open for a while: the next loss counts as the first one again. */
  readonly wasUseful: boolean
  /** From 0 to 1: clients that lost one server must not all reconnect at once. */
  readonly random: number
  /** The server's `Retry-After`; 0 if it sent none. */
  readonly retryAfterMs: number
}

/** The action on entering a state. */
export type ConnectionEffect =
  | { readonly type: 'connect' }
  /** Wait, and then input `started`; earlier if the network comes back. */
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'none' }
  /** The caller has nothing more to do. */
  | { readonly type: 'stop' }

export interface ConnectionStep {
  readonly connection: Connection
  readonly effect: ConnectionEffect
}

const firstDelayMs = 250
/** Also the interval of attempts while the device reports that it is offline: some report it wrongly. */
const longestDelayMs = 10_000

/**
 * The delay before the next attempt: doubled with each failed one, half of it random. The server's `Retry-After` is
 * added, so that no client is early and clients that got the same value do not return at once.
 */
export function backOffMs(attempt: number, random: number, retryAfterMs = 0): number {
  const most = Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1))
  return retryAfterMs + Math.round(most * (0.5 + random / 2))
}

/**
 * The lifecycle of a connection: a pure function of its state and an input. An input that does not belong to the state,
 * such as the response to an abandoned request, changes nothing.
 */
export function nextConnection(connection: Connection, input: ConnectionInput): ConnectionStep {
  if (input.type === 'stopped') return step({ status: 'idle' }, { type: 'stop' })
  switch (connection.status) {
    case 'idle':
    case 'refused':
      return input.type === 'started' ? connectNow(0) : step(connection, { type: 'stop' })
    case 'backing-off':
      return input.type === 'started' ? connectNow(connection.attempt) : stay(connection)
    case 'offline':
      // Coming back online counts as a reconnect, not as the first connection.
      return input.type === 'started' ? connectNow(1) : stay(connection)
    case 'connecting':
      return input.type === 'opened'
        ? step({ status: 'live', attempt: connection.attempt }, { type: 'none' })
        : afterTrouble(connection, input)
    case 'live':
      return afterTrouble(connection, input)
    default:
      return assertNever(connection)
  }
}

function afterTrouble(
  connection: Extract<Connection, { readonly status: 'connecting' | 'live' }>,
  input: Exclude<ConnectionInput, { readonly type: 'stopped' }>,
): ConnectionStep {
  switch (input.type) {
    case 'lost': {
      const attempt = (input.wasUseful ? 0 : connection.attempt) + 1
      const delayMs = backOffMs(attempt, input.random, input.retryAfterMs)
      return step({ status: 'backing-off', attempt, delayMs }, { type: 'wait', ms: delayMs })
    }
    case 'went-offline':
      return step({ status: 'offline' }, { type: 'wait', ms: longestDelayMs })
    case 'refused':
      return step({ status: 'refused', code: input.code }, { type: 'stop' })
    case 'started':
      // Another connection takes the place of this one. If nothing happened here, the new one would never be opened.
      return connectNow(connection.attempt)
    case 'opened':
      return stay(connection)
    default:
      return assertNever(input)
  }
}

const step = (connection: Connection, effect: ConnectionEffect): ConnectionStep => ({
  connection,
  effect,
})
const stay = (connection: Connection): ConnectionStep => step(connection, { type: 'none' })
const connectNow = (attempt: number): ConnectionStep =>
  step({ status: 'connecting', attempt }, { type: 'connect' })
