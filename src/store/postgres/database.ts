import pg from 'pg'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { type Connection, openConnection } from './connection.ts'
import { createConnectionPool } from './connection-pool.ts'
import { parseHostList, type ServerRole, suits } from './host-list.ts'
import { migrate } from './migrate.ts'
import { closedFault, isLost, isReadOnly, toConnectFault, toStoreFault } from './postgres-error.ts'
import type { RunStatement, Statement } from './statement.ts'

export interface DatabaseOptions {
  readonly url: string
  readonly schema: string
  readonly poolSize: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly onError: (error: unknown) => void
}

/** Connections to one schema, which is made or brought up to date on first use. */
export interface Database {
  /** For statements that may be run twice: one whose connection was lost is run again on another. */
  readonly run: RunStatement
  /**
   * For commits: once, on a connection that is kept for them, so that no reader keeps one from being
   * written. A row that somebody has locked is waited for only briefly (55P03).
   */
  readonly runCommit: RunStatement
  /** One connection, one transaction; whatever is thrown inside takes all of it back. */
  transaction<Result>(work: (run: RunStatement) => Promise<Result>): Promise<Result>
  /** A connection outside of the pool, to a server that will do. */
  connect(): Promise<Connection>
  /** Not yet connected, and without a time limit. For `holdfast check`, which reads for as long as it takes. */
  createClient(): pg.Client
  close(): Promise<void>
}

/** A connection that nobody has used for so long is closed. */
const idleMs = 60_000
/** A commit waits so long for a row that somebody has locked: the others of its group wait as long. */
const commitLockMs = 100
/** So much longer than others may a statement of a transaction take: a deletion, a rewrite, a repair. */
const transactionFactor = 12
const migrationLimitMs = 600_000

export function createDatabase(options: DatabaseOptions): Database {
  const { url, schema, poolSize, connectTimeoutMs, statementTimeoutMs, onError } = options
  const hosts = parseHostList(url)
  /** The server that did last. */
  let current = 0
  // The server ends a statement first, so that its answer is heard: then it is certain that nothing was stored.
  const serverLimitMs = Math.ceil(statementTimeoutMs * 0.8)
  const lockMs = Math.ceil(statementTimeoutMs * 0.6)
  const configOf = (index: number): pg.ClientConfig => ({
    connectionString: hosts.urls[index],
    application_name: 'holdfast',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectTimeoutMs,
    types: { getTypeParser },
  })

  const connectTo = async (index: number, isLastResort: boolean): Promise<Connection> => {
    const connection = await openConnection(configOf(index)).catch((error: unknown) => {
      throw toConnectFault(error)
    })
    try {
      await connection.query(sessionSettings(serverLimitMs, lockMs), connectTimeoutMs)
      connection.lockMs = lockMs
      if (hosts.sessionAttrs !== 'any') {
        const { rows } = await connection.query<ServerRole>(readRole, connectTimeoutMs)
        if (rows[0] === undefined || !suits(hosts.sessionAttrs, rows[0], isLastResort)) {
          throw unsuited()
        }
      }
      return connection
    } catch (error) {
      void connection.close()
      throw toConnectFault(error)
    }
  }

  /** Every server once, from the one that did last. */
  const connect = async (): Promise<Connection> => {
    const isPreference = hosts.sessionAttrs === 'prefer-standby'
    const first = current
    let fault: unknown
    for (const isLastResort of isPreference ? [false, true] : [false]) {
      for (let step = 0; step < hosts.urls.length; step++) {
        const index = (first + step) % hosts.urls.length
        try {
          const connection = await connectTo(index, isLastResort)
          current = index
          return connection
        } catch (error) {
          // Of several, one that answered and does not suit says more than one that is gone.
          const isAnswer = error instanceof HoldfastError && error.code !== 'store-unreachable'
          if (fault === undefined || isAnswer) fault = error
        }
      }
    }
    throw fault
  }

  const pool = createConnectionPool({
    open: connect,
    size: Math.max(1, poolSize - 1),
    waitMs: connectTimeoutMs,
    idleMs,
    onError,
  })

  /** Uses a connection for one statement, and sees to it that nobody else meets the same fault on another. */
  const use = async <Result>(
    connection: Connection,
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> => {
    const began = performance.now()
    try {
      return await work(connection)
    } catch (error) {
      if (isLost(error)) pool.suspect(began)
      // This server was demoted: where there are others, one of them can be written to.
      if (isReadOnly(error) && hosts.sessionAttrs !== 'any') pool.suspect(performance.now())
      throw error
    }
  }

  const setLockMs = async (connection: Connection, ms: number) => {
    if (connection.lockMs === ms) return
    await connection.query(`SET lock_timeout = ${ms}`, statementTimeoutMs)
    connection.lockMs = ms
  }

  const lend = async <Result>(
    lock: number,
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> => {
    const connection = await pool.acquire()
    try {
      return await use(connection, async () => {
        await setLockMs(connection, lock)
        return work(connection)
      })
    } finally {
      pool.release(connection)
    }
  }

  const writer = createWriter(connect, (connection) => pool.isSuspect(connection))

  let migrating: Promise<void> | undefined
  let closing: Promise<void> | undefined
  const open = (): Promise<void> => {
    if (closing !== undefined) return Promise.reject(closedFault())
    if (migrating === undefined) {
      migrating = transact(migrationLimitMs, (connection) =>
        migrate(
          async <Row extends object>(text: string, values: readonly unknown[] = []) =>
            (await connection.query<Row>({ text, values: [...values] }, migrationLimitMs)).rows,
          schema,
        ),
      )
      // Not kept: the next use tries again, for instance when the server has come up.
      migrating.catch(() => {
        migrating = undefined
      })
    }
    return migrating
  }

  const transact = async <Result>(
    limitMs: number,
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> => {
    const connection = await begin(limitMs)
    try {
      return await use(connection, async () => {
        const result = await work(connection)
        const { command } = await connection.query('COMMIT', limitMs)
        if (command === 'COMMIT') return result
        throw new HoldfastError('store-failed', 'PostgreSQL took it back.')
      })
    } catch (error) {
      // Closing the connection takes the transaction back, in whatever state either of them is.
      connection.drop()
      throw error
    } finally {
      pool.release(connection)
    }
  }

  /** A transaction that has not begun may begin on another connection. */
  const begin = async (limitMs: number, isAgain = false): Promise<Connection> => {
    const connection = await pool.acquire()
    try {
      await use(connection, () =>
        connection.query(
          `BEGIN; SET LOCAL statement_timeout = ${limitMs}; SET LOCAL lock_timeout = '10s'`,
          statementTimeoutMs,
        ),
      )
      return connection
    } catch (error) {
      connection.drop()
      pool.release(connection)
      if (isAgain || !isLost(error)) throw error
      return begin(limitMs, true)
    }
  }

  const withFaults = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      await open()
      return await work()
    } catch (error) {
      throw toStoreFault(error)
    }
  }

  return {
    run: <Row extends object>(statement: Statement, values: readonly unknown[]) =>
      withFaults(async () => {
        const once = () =>
          lend(lockMs, (connection) =>
            queryOn(connection, statementTimeoutMs)<Row>(statement, values),
          )
        try {
          return await once()
        } catch (error) {
          if (!isLost(error)) throw error
          return once()
        }
      }),

    runCommit: <Row extends object>(statement: Statement, values: readonly unknown[]) =>
      withFaults(async () => {
        const write = (connection: Connection) =>
          queryOn(connection, statementTimeoutMs)<Row>(statement, values)
        const own = poolSize < 2 ? null : await writer.acquire(pool.hasIdle)
        if (own === null) return lend(commitLockMs, write)
        try {
          return await use(own, async () => {
            await setLockMs(own, commitLockMs)
            return write(own)
          })
        } finally {
          writer.release()
        }
      }),

    transaction: (work) =>
      withFaults(() => {
        const limitMs = statementTimeoutMs * transactionFactor
        return transact(limitMs, (connection) => work(queryOn(connection, limitMs)))
      }),

    connect,
    createClient: () => new pg.Client(configOf(current)),
    close() {
      closing ??= Promise.all([writer.close(), pool.end()]).then(() => {})
      return closing
    },
  }
}

/** The one connection that is kept for commits. */
interface Writer {
  /** Null: it is in use, or cannot be had, and one of the pool has to do. Rejects if that has none either. */
  acquire(hasOther: () => boolean): Promise<Connection | null>
  release(): void
  close(): Promise<void>
}

function createWriter(
  open: () => Promise<Connection>,
  isSuspect: (connection: Connection) => boolean,
): Writer {
  let kept: Connection | undefined
  let isBusy = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let onFree = () => {}
  const letGo = async () => {
    const connection = kept
    kept = undefined
    clearTimeout(timer)
    timer = undefined
    await connection?.close()
  }
  return {
    async acquire(hasOther) {
      if (isBusy || isClosed) return null
      isBusy = true
      if (kept !== undefined && isSuspect(kept)) {
        kept.drop()
        kept = undefined
      }
      try {
        kept ??= await open()
        return kept
      } catch (error) {
        isBusy = false
        onFree()
        if (hasOther()) return null
        throw error
      }
    },
    release() {
      isBusy = false
      onFree()
      if (isClosed) return
      if (timer === undefined) timer = setTimeout(() => void letGo(), idleMs).unref()
      else timer.refresh()
    },
    async close() {
      isClosed = true
      if (isBusy) {
        await new Promise<void>((resolve) => {
          onFree = resolve
        })
      }
      await letGo()
    },
  }
}

const queryOn =
  (connection: Connection, limitMs: number): RunStatement =>
  async <Row extends object>(statement: Statement, values: readonly unknown[]) =>
    (await connection.query<Row>({ ...statement, values: [...values] }, limitMs)).rows

// Whatever the account's defaults are: a commit waits for the row it locks and then reads it fresh;
// no page waits for a compiler; a plan made while the tables were small still uses their indexes when
// they have grown; and a process that froze in mid-transaction blocks nobody for long.
const sessionSettings = (limitMs: number, lockMs: number) => `
  SET default_transaction_isolation = 'read committed'; SET jit = off; SET enable_seqscan = off;
  SET plan_cache_mode = force_generic_plan; SET statement_timeout = ${limitMs};
  SET lock_timeout = ${lockMs}; SET idle_in_transaction_session_timeout = '10s'`

const readRole = `SELECT pg_is_in_recovery() AS "isStandby",
  current_setting('transaction_read_only') = 'on' AS "isReadOnly"`

const unsuited = () =>
  new HoldfastError(
    'store-read-only',
    'No PostgreSQL of the address is of the kind that target_session_attrs asks for.',
    { isTemporary: true },
  )

const int8 = 20

/** For these connections only: the host's own use of the driver keeps its parsers. */
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
