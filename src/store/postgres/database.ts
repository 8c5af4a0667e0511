import pg from 'pg'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { migrate } from './migrate.ts'
import { closedFault, toStoreFault } from './postgres-error.ts'
import type { RunStatement, Statement } from './statement.ts'
import {
  createReconnectingConnection,
  type ReconnectingConnection,
} from './reconnecting-connection.ts'

export interface DatabaseOptions {
  readonly url: string
  readonly schema: string
  readonly poolSize: number
  readonly onError: (error: unknown) => void
}

/** A pool of connections to one schema that opens, and brings the schema up to date, on first use. */
export interface Database {
  readonly run: RunStatement
  /** The same, for statements that follow each other closely. */
  readonly runSteadily: RunStatement
  /** One connection, one transaction; whatever is thrown inside takes all of it back. */
  transaction<Result>(work: (run: RunStatement) => Promise<Result>): Promise<Result>
  /** A connection of its own, outside of the pool. Not yet connected. */
  createClient(): pg.Client
  close(): Promise<void>
}

const connectTimeoutMs = 10_000

// Whatever the account's defaults are: a commit waits for the row it locks and then reads it fresh;
// no page waits for a compiler; a plan made while the tables were small still uses their indexes when
// they have grown; and a process that froze in mid-transaction blocks nobody for long.
const sessionSettings = `
  SET default_transaction_isolation = 'read committed'; SET jit = off; SET enable_seqscan = off;
  SET plan_cache_mode = force_generic_plan;
  SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '10s'`

export function createDatabase({ url, schema, poolSize, onError }: DatabaseOptions): Database {
  const config: pg.ClientConfig = {
    connectionString: url,
    application_name: 'holdfast',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectTimeoutMs,
    types: { getTypeParser },
  }
  assertAddress(config)
  const pool = new pg.Pool({
    ...config,
    max: poolSize,
    idleTimeoutMillis: 60_000,
    verify(client, done) {
      client.query(sessionSettings, (error: Error | null) => done(error ?? undefined))
    },
  })
  pool.on('error', onError)
  // One that breaks while it is borrowed says so here too; its next query says it to us.
  pool.on('connect', (client) => client.on('error', () => {}))

  const steady = createReconnectingConnection(pool, poolSize)

  let opening: Promise<void> | undefined
  let closing: Promise<void> | undefined
  const open = (): Promise<void> => {
    if (closing !== undefined) return Promise.reject(closedFault())
    if (opening === undefined) {
      opening = inTransaction(pool, (client) => migrate(client, schema))
      // Not kept: the next use tries again, for instance when the server has come up.
      opening.catch(() => {
        opening = undefined
      })
    }
    return opening
  }

  const runOn =
    (connection: Pick<ReconnectingConnection, 'query'>): RunStatement =>
    async <Row extends object>(statement: Statement, values: readonly unknown[]) => {
      try {
        await open()
        return (await connection.query<Row>({ ...statement, values: [...values] })).rows
      } catch (error) {
        throw toStoreFault(error)
      }
    }

  return {
    run: runOn(pool),
    runSteadily: runOn(steady),
    async transaction(work) {
      try {
        await open()
        return await inTransaction(pool, (client) => work(runIn(client)))
      } catch (error) {
        throw toStoreFault(error)
      }
    },
    createClient: () => new pg.Client(config),
    close() {
      steady.close()
      closing ??= pool.end()
      return closing
    },
  }
}

async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await work(client)
    const { command } = await client.query('COMMIT')
    if (command !== 'COMMIT') throw new HoldfastError('store-failed', 'PostgreSQL took it back.')
    client.release()
    return result
  } catch (error) {
    // Closing the connection takes the transaction back, in whatever state either of them is.
    client.release(true)
    throw error
  }
}

const runIn =
  (client: pg.PoolClient): RunStatement =>
  async <Row extends object>(statement: Statement, values: readonly unknown[]) =>
    (await client.query<Row>({ ...statement, values: [...values] })).rows

/** The driver parses the address only when it connects, and shows all of it, password included. */
function assertAddress(config: pg.ClientConfig): void {
  try {
    if (!/^postgres(?:ql)?:/.test(config.connectionString ?? '')) throw new Error('scheme')
    void new pg.Client(config)
  } catch {
    throw new HoldfastError('store-unreachable', 'The address is not a valid postgres:// URL.')
  }
}

const int8 = 20

/** For this pool only: the host's own use of the driver keeps its parsers. */
const getTypeParser: pg.CustomTypesConfig['getTypeParser'] = (id, format): ParseText =>
  id === int8 && format !== 'binary' ? parseInt8 : (pg.types.getTypeParser(id, format) as ParseText)
type ParseText = (text: string) => unknown

function parseInt8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) {
    throw new HoldfastError('store-failed', 'A number in the database is out of range.')
  }
  return value
}
