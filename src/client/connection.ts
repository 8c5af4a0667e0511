import { assertNever } from '../core/assert-never.ts'

/** Where a follower stands. Every state says what happens next, so a screen can say it too. */
export type Connection =
  /** Nobody looks, so nothing is connected. */
  | { readonly status: 'idle' }
  /** `attempt`: how many tries before this one came to nothing; 0 for the first. */
  | { readonly status: 'connecting'; readonly attempt: number }
  /** `attempt`: how many tries before this one came to nothing. */
  | { readonly status: 'live'; readonly attempt: number }
  /** The server was not there, or asked to wait; it is tried again by itself after `delayMs`. */
  | { readonly status: 'backing-off'; readonly attempt: number; readonly delayMs: number }
  /** The device says that it has no network; it is tried again when that changes. */
  | { readonly status: 'offline' }
  /**
   * Asking again by itself is of no use: the thread is gone or is not ours (`thread-not-found`), nobody is signed in
   * (`not-authenticated`), or they may not come here at all (`forbidden`, `foreign-origin` …). `reconnect` of the client tries again.
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

/** A connection, or a try to get one, came to its end. */
interface LostConnection {
  readonly type: 'lost'
  /** It brought something, or stood for a while: the next loss is the first one again. */
  readonly wasUseful: boolean
  /** From 0 to 1: clients that lost one server must not all come back at once. */
  readonly random: number
  /** What the server asked for by `Retry-After`; 0 if it did not. */
  readonly retryAfterMs: number
}

/** What is to be done on the way into a state. */
export type ConnectionEffect =
  | { readonly type: 'connect' }
  /** Wait, and then input `started`; less, if the network comes back. */
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'none' }
  /** Nothing more is to be done by whoever input this. */
  | { readonly type: 'stop' }

export interface ConnectionStep {
  readonly connection: Connection
  readonly effect: ConnectionEffect
}

const firstDelayMs = 250
/** Also between two tries of a device that says it is offline: some say so and are not. */
const longestDelayMs = 10_000

/**
 * How long to wait before the next try: doubled with each one in vain, half of it by chance. What the server asked
 * for comes on top, so that nobody is early and those who were told the same do not come at once.
 */
export function backOffMs(attempt: number, random: number, retryAfterMs = 0): number {
  const most = Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1))
  return retryAfterMs + Math.round(most * (0.5 + random / 2))
}

/**
 * The lifecycle of a connection: a pure function of its state and an input. An input that does not
 * belong to the state, such as an answer to a request that was given up, changes nothing.
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
      // Coming back is not the first time that this screen connects.
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
