import { type ErrorCode, HoldfastError } from '../../core/holdfast-error.ts'

type Fault = readonly [code: ErrorCode, message: string]

const unreachable: Fault = ['store-unreachable', 'PostgreSQL cannot be reached at its URL.']
const lost: Fault = [
  'store-unreachable',
  'The connection to PostgreSQL was lost. What was being written may or may not have been stored.',
]
const busy: Fault = [
  'store-locked',
  'Another process held the same rows for too long. Nothing was stored; try again.',
]
const readOnly: Fault = ['store-read-only', 'This PostgreSQL cannot be written to.']
const refused: Fault = ['store-unreachable', 'PostgreSQL rejected the user name or the password.']

/**
 * The server stored nothing, and a later attempt may succeed. A connection that is lost during a statement is
 * not among these.
 */
const temporary: ReadonlySet<ErrorCode> = new Set([
  'store-unreachable',
  'store-full',
  'store-locked',
  'store-read-only',
])

/** By SQLSTATE, or by the code of Node's network errors. */
const faults: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['28P01', refused],
  ['28000', refused],
  ['3D000', ['store-unreachable', 'The PostgreSQL database of the address does not exist.']],
  ['53300', ['store-unreachable', 'PostgreSQL has no free connection left.']],
  ['53100', ['store-full', 'The disk of PostgreSQL is full.']],
  ['57014', ['store-unreachable', 'PostgreSQL did not finish in time. Nothing was stored.']],
  ['late-answer', lost],
  ['57P01', lost],
  ['57P02', lost],
  ['57P03', ['store-unreachable', 'PostgreSQL is starting up or shutting down.']],
  ['57P05', lost],
  ['25P03', lost],
  ['25006', readOnly],
  ['42P07', ['store-foreign', 'The PostgreSQL schema has tables of another program.']],
  ['42P06', ['store-foreign', 'The PostgreSQL schema belongs to another program.']],
  ['40001', busy],
  ['40P01', busy],
  ['55P03', busy],
  ['ECONNREFUSED', unreachable],
  ['ENOTFOUND', unreachable],
  ['EAI_AGAIN', unreachable],
  ['EHOSTUNREACH', unreachable],
  ['ENETUNREACH', unreachable],
  ['ENOENT', unreachable],
  ['ETIMEDOUT', lost],
  ['ECONNRESET', lost],
  ['EPIPE', lost],
])

/** The driver's own errors have a message and no code. */
const phrases: readonly (readonly [RegExp, Fault])[] = [
  [/SASL|password/i, refused],
  [/timeout|SSL/i, unreachable],
  [/Connection terminated|connection error|was closed|not queryable/, lost],
]

/** Turns faults of the database into a `HoldfastError`; any other error is a bug and is returned as it is. */
export function toStoreFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof HoldfastError) return error
  const state = readSqlState(error)
  const fault =
    state === '42501'
      ? toGrantFault(error.message)
      : state === undefined
        ? phrases.find(([phrase]) => phrase.test(error.message))?.[1]
        : (faults.get(state) ?? (isConnecting(error) ? unreachable : toFault(state)))
  if (fault === undefined) return error
  const [code, message] = fault
  return new HoldfastError(code, message, {
    cause: error,
    isTemporary: temporary.has(code) && fault !== lost,
    isInDoubt: fault === lost,
  })
}

/** Names the privilege that the account lacks. Only the server's message contains it, in the server's language. */
function toGrantFault(words: string): Fault {
  const [, kind = '', named = ''] =
    /permission denied for (table|sequence|schema|database|function) "?([^"]*)"?/.exec(words) ?? []
  const name = `"${named}"`
  const grant = {
    table: `GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE ${name}`,
    sequence: `GRANT USAGE ON SEQUENCE ${name}`,
    schema: `GRANT USAGE ON SCHEMA ${name}`,
    database: `GRANT CREATE ON DATABASE ${name}`,
    function: `GRANT EXECUTE ON FUNCTION ${name}`,
  }[kind]
  const needed =
    grant ??
    'USAGE on the schema and its sequence, and SELECT, INSERT, UPDATE and DELETE on its tables'
  return ['store-read-only', `The PostgreSQL account has no right to do this. It needs: ${needed}.`]
}

/** The same for an error while connecting: nothing was sent, so nothing can have been stored. */
export function toConnectFault(error: unknown): unknown {
  const fault = toStoreFault(error)
  if (!(fault instanceof HoldfastError) && !isOfNetwork(error)) return fault
  // An answer that has no name here (a database that takes no connections, 55000) is temporary too: otherwise runs would
  // be given up, and their calls become unknown, though nobody died (LG3a).
  if (fault instanceof HoldfastError && !fault.isInDoubt && fault.code !== 'store-failed') {
    return fault
  }
  const [code, message] = unreachable
  return new HoldfastError(code, message, { cause: error, isTemporary: true })
}

/** Of TLS, for example a certificate that is not accepted: these have codes of Node, of OpenSSL and of X.509. */
const isOfNetwork = (error: unknown): boolean =>
  error instanceof Error && /^(?!ERR_(?!SSL|TLS))/.test(readSqlState(error) ?? 'ERR_')

/** The host of a URL may be a path to a socket, and then fails with the errors of files. */
const isConnecting = (error: Error): boolean =>
  (error as NodeJS.ErrnoException).syscall === 'connect'

/** SQLSTATE, or Node's code for an error of the network. */
export function readSqlState(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : undefined
}

/** The connection is lost. Its last statement may have been executed all the same. */
export function isLost(error: unknown): boolean {
  const fault = toStoreFault(error)
  return fault instanceof HoldfastError && fault.isInDoubt
}

/** The database could not be asked, or not be written to, by anybody. Any other fault is of the statement itself. */
export const isOutOfReach = (error: unknown): boolean =>
  error instanceof HoldfastError && (error.isTemporary || error.isInDoubt)

/** The server has no further connection for this account. */
export const isExhausted = (error: unknown): boolean =>
  readSqlState(error instanceof HoldfastError ? error.cause : error) === '53300'

/** The server accepts no writes: it is a standby, or was demoted to one. */
export const isReadOnly = (error: unknown): boolean => readSqlState(error) === '25006'

/** Another transaction held a lock that this statement needed, and nothing of it was stored. */
export const isBlocked = (error: unknown): boolean =>
  /^(?:55P03|40P01|40001)$/.test(
    readSqlState(error instanceof HoldfastError ? error.cause : error) ?? '',
  )

export const closedFault = (): HoldfastError =>
  new HoldfastError('store-closed', 'The store has been closed.')

function toFault(state: string): Fault | undefined {
  if (state.startsWith('08')) return lost
  if (state.startsWith('53')) {
    // The statement was rolled back: a later attempt may succeed.
    return [
      'store-unreachable',
      `PostgreSQL is out of disk space, memory or connections (${state}).`,
    ]
  }
  if (/^[0-9A-Z]{5}$/.test(state)) return ['store-failed', `PostgreSQL failed (${state}).`]
  return undefined
}
