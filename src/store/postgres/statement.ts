import { createHash } from 'node:crypto'
import pg from 'pg'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { type PausableWork, runToEnd } from '../../core/pausable-work.ts'

/** A statement, and the name under which it is prepared on connections that only this store uses. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export const toStatement = (name: string, text: string): Statement => ({
  name: `holdfast-${name}`,
  text,
})

/** For statements that are sent often: their line breaks and indentation are not. */
export const toCompactStatement = (name: string, text: string): Statement =>
  toStatement(name, text.replaceAll(/\s+/g, ' '))

/** As a condition: of any thread with this id, or of the incarnation that was read (`isStale` in SQL). */
export const ofKnown = (column: string, known: string): string =>
  `(${known}::text IS NULL OR ${column} = ${known})`

/** Runs a statement on a connection of the pool, or on that of a transaction. */
export type RunStatement = <Row extends object>(
  statement: Statement,
  values: readonly unknown[],
) => Promise<readonly Row[]>

/** How long one statement may take on the server, and wait there for a lock. */
export interface StatementLimits {
  readonly statementMs: number
  readonly lockMs: number
}

/**
 * The settings that each statement needs, for its own transaction only: a connection may belong to a pooler
 * or to the host, whose next user would see settings of the session. Without JIT no page waits for a
 * compiler, and without sequential scans a plan that was cached while the tables were small still uses their
 * indexes when they have grown.
 */
const planSettings: readonly (readonly [name: string, value: string])[] = [
  ['jit', 'off'],
  ['enable_seqscan', 'off'],
  ['plan_cache_mode', 'force_generic_plan'],
  // An account may have it off, and then the nulls of a list are no numbers.
  ['array_nulls', 'on'],
]

/**
 * The same as the start of a transaction block. Its idle timeout ends the locks of a process that freezes
 * inside the block.
 */
export const toTransactionStart = ({ statementMs, lockMs }: StatementLimits): string =>
  `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = ${statementMs};
   SET LOCAL lock_timeout = ${lockMs}; SET LOCAL idle_in_transaction_session_timeout = '10s';
   ${planSettings.map(([name, value]) => `SET LOCAL ${name} = ${value}`).join('; ')}`

/** For columns that hold text and not JSON: PostgreSQL stores no NUL, and UTF-8 has no lone surrogates. */
export const toPlainText = (text: string): string =>
  text.toWellFormed().replaceAll('\u0000', '\uFFFD')

/**
 * The statements that are prepared on a connection. Null: none may be, because other clients use the
 * connection too. None is prepared in a transaction block, because a failure there would roll the block back.
 */
export type PreparedStatements = Set<string> | null

export interface StatementQueryOptions {
  readonly statement: Statement
  readonly values: readonly unknown[]
  /** Null: the limits of the surrounding transaction, or of the server. */
  readonly limits: StatementLimits | null
  readonly prepared: PreparedStatements
  /** The account's default isolation is not READ COMMITTED, so it has to be set. */
  readonly isIsolated: boolean
  readonly resolve: (rows: readonly object[]) => void
  readonly reject: (error: Error) => void
}

/** The methods of the driver's connection that a custom query object uses. */
interface Wire {
  readonly stream: { cork?(): void; uncork?(): void }
  parse(message: { readonly name: string; readonly text: string }): void
  bind(message: { readonly statement: string; readonly values: readonly Parameter[] }): void
  describe(message: { readonly type: 'P'; readonly name: '' }): void
  execute(message: object): void
  sync(): void
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

/**
 * One statement with its settings in one round trip and one transaction: everything up to the Sync is one transaction, so
 * the settings end with it. Each of the driver's own queries would be a transaction by itself.
 *
 * Its methods are those that the driver calls on a query object, as on a cursor.
 */
export class StatementQuery {
  readonly #options: StatementQueryOptions
  readonly #values: readonly Parameter[]
  /** The names of the parsed statements, in the order of the server's answers; null: not prepared under a name. */
  readonly #parsing: (string | null)[] = []
  /** How many commands precede the statement itself. */
  #before = 0
  #fields: readonly (readonly [name: string, parse: (text: string) => unknown])[] = []
  readonly #rows: object[] = []
  #fault: Error | null = null

  constructor(options: StatementQueryOptions) {
    this.#options = options
    // Encoded before anything is sent: an error after half of a statement would leave the connection waiting
    // for the rest.
    this.#values = options.values.map(toParameter)
  }

  submit(wire: Wire): void {
    const { statement, limits, isIsolated } = this.#options
    wire.stream.cork?.()
    try {
      if (limits !== null) {
        if (isIsolated) this.#send(wire, isolation, [])
        this.#send(wire, settings, [String(limits.statementMs), String(limits.lockMs)])
      }
      this.#before = limits === null ? 0 : isIsolated ? 2 : 1
      this.#send(wire, statement, this.#values, true)
      wire.sync()
    } finally {
      wire.stream.uncork?.()
    }
  }

  #send(wire: Wire, statement: Statement, values: readonly Parameter[], isWanted = false) {
    const prepared = this.#options.limits === null ? null : this.#options.prepared
    const name = prepared === null ? '' : preparedName(statement)
    if (prepared === null || !prepared.has(name)) {
      wire.parse({ name, text: statement.text })
      this.#parsing.push(name === '' ? null : name)
    }
    wire.bind({ statement: name, values })
    if (isWanted) wire.describe({ type: 'P', name: '' })
    wire.execute({})
  }

  /** Called by the connection, because the driver does not pass this message on to a query. */
  handleParseComplete(): void {
    const name = this.#parsing.shift() ?? null
    if (name !== null) this.#options.prepared?.add(name)
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#fields = fields.map(({ name, dataTypeID }) => [name, parserOf(dataTypeID)])
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#before > 0 || this.#fault !== null) return
    try {
      const row: Record<string, unknown> = {}
      for (const [index, [name, parse]] of this.#fields.entries()) {
        const text = fields[index] ?? null
        row[name] = text === null ? null : parse(text)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#fault = error instanceof Error ? error : new Error(String(error))
    }
  }

  handleCommandComplete(): void {
    this.#before--
  }

  handleReadyForQuery(): void {
    if (this.#fault === null) this.#options.resolve(this.#rows)
    else this.#options.reject(this.#fault)
  }

  handleError(error: Error): void {
    // After an error the server sends no further ParseComplete.
    this.#parsing.length = 0
    this.#options.reject(error)
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

const settings: Statement = {
  name: 'holdfast-settings',
  text: `SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true), ${planSettings
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(', ')}`,
}
const isolation: Statement = {
  name: 'holdfast-isolation',
  text: 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED',
}

const names = new WeakMap<Statement, string>()

/**
 * Contains a hash of the statement's text: if two stores share a connection, as behind a pooler that hides
 * that it is one, neither can run the other's statement on its own tables.
 */
function preparedName(statement: Statement): string {
  const known = names.get(statement)
  if (known !== undefined) return known
  const hash = createHash('sha256').update(statement.text).digest('hex').slice(0, 16)
  const name = `${statement.name}-${hash}`
  names.set(statement, name)
  return name
}

/** A text in PostgreSQL's text form, or bytes in its binary form. */
type Parameter = string | Buffer | null

function toParameter(value: unknown): Parameter {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return runToEnd(encodeList(value))
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new TypeError('A parameter is a word, a number, a yes or no, nothing, or a list of these.')
}

/** The same parameters with their lists encoded, with pauses: those of a turn of thousands of calls take long (OP7). */
export function* encodeLists(values: readonly unknown[]): PausableWork<readonly unknown[]> {
  const encoded: unknown[] = []
  for (const value of values) {
    encoded.push(Array.isArray(value) ? yield* encodeList(value) : value)
    yield
  }
  return encoded
}

/** Words may be long, as the results of a step are; a list of anything else is encoded at once. */
function* encodeList(values: readonly unknown[]): PausableWork<string | Buffer> {
  if (values.some((value) => typeof value === 'string')) {
    return yield* encodeTexts(values)
  }
  return `{${values.map((value) => toParameter(value) ?? 'NULL').join(',')}}`
}

const textType = 25
const headerBytes = 20
const noText = -1
/** A longer text is followed by a pause. */
const longText = 10_000
const textsAtOnce = 64

/**
 * A `text[]` in binary form: a header, and each text behind its length. In the text form they would be searched for what has
 * to be quoted, here and once more by the server, and JSON is full of quotes.
 */
function* encodeTexts(texts: readonly unknown[]): PausableWork<Buffer> {
  const isPauseDue = (text: unknown, nth: number) =>
    (typeof text === 'string' && text.length > longText) || nth % textsAtOnce === textsAtOnce - 1
  let size = headerBytes
  for (const [nth, text] of texts.entries()) {
    if (typeof text !== 'string' && text != null) throw new TypeError('A list of words has words.')
    size += 4 + (typeof text === 'string' ? Buffer.byteLength(text) : 0)
    if (isPauseDue(text, nth)) yield
  }
  const bytes = Buffer.allocUnsafe(size)
  let end = 0
  // One dimension, which may hold nulls, of so many texts, counted from one.
  for (const field of [1, 1, textType, texts.length, 1]) end = bytes.writeInt32BE(field, end)
  for (const [nth, text] of texts.entries()) {
    const length = typeof text === 'string' ? bytes.write(text, end + 4) : noText
    bytes.writeInt32BE(length, end)
    end += 4 + Math.max(0, length)
    if (isPauseDue(text, nth)) yield
  }
  return bytes
}

const int8 = 20

type ParseText = (text: string) => unknown

const parserOf = (type: number): ParseText =>
  type === int8 ? parseInt8 : (pg.types.getTypeParser(type, 'text') as ParseText)

/** For this store's statements only: the host's own use of the driver keeps its parsers. */
export const getTypeParser: pg.CustomTypesConfig['getTypeParser'] = (id, format): ParseText =>
  format === 'binary' ? (pg.types.getTypeParser(id, format) as ParseText) : parserOf(id)

function parseInt8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) {
    throw new HoldfastError('store-failed', 'A number in the database is out of range.')
  }
  return value
}
