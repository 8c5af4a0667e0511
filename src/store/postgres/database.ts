import { setTimeout as pause } from 'node:timers/promises'
import { longestTimerMs } from '../../core/check-options.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MigrateOptions, MigrationResult } from '../store.ts'
import {
  type ConnectionPool,
  createConnectionPool,
  createWriterConnection,
} from './connection-pool.ts'
import type { PostgresConnection } from './connection.ts'
import { type Connector, createConnector } from './connector.ts'
import { createHostConnectionPool, type HostPool } from './host-pool.ts'
import { findMigrated, migrate, type MigrationQuery, partitionTables } from './migrate.ts'
import {
  closedFault,
  isBlocked,
  isLost,
  isReadOnly,
  toConnectFault,
  toStoreFault,
} from './postgres-error.ts'
import {
  type RunStatement,
  type Statement,
  type StatementLimits,
  toTransactionStart,
} from './statement.ts'

export interface DatabaseOptions {
  readonly source: { readonly url: string } | { readonly pool: HostPool }
  readonly schema: string
  readonly poolSize: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly onError: (error: unknown) => void
}

/** Connections to one schema, which is created or migrated on first use. */
export interface Database {
  /** For statements that may run twice: if the connection is lost, the statement runs again on another. */
  readonly run: RunStatement
  /**
   * For commits: runs once, on a connection reserved for commits, so that readers cannot exhaust the pool for
   * writers. A locked row is waited for only briefly (55P03).
   */
  readonly runCommit: RunStatement
  /** The same, but a lock is hardly waited for. */
  readonly runCommitBriefly: RunStatement
  /**
   * Runs `work` in one transaction; an error thrown inside rolls it back. If it meets a lock, it runs again, unless it is
   * `once`: then it waits on its connection.
   */
  transaction<Result>(work: (run: RunStatement) => Promise<Result>, how?: 'once'): Promise<Result>
  /** Opens a connection outside the pool, to a suitable server. Null: there is no URL to connect to. */
  readonly connect: (() => Promise<PostgresConnection>) | null
  /** For `holdfast check`, which reads without a time limit. */
  openReader(): Promise<DatabaseReader>
  migrate(options?: MigrateOptions): Promise<MigrationResult>
  close(): Promise<void>
}

/** One connection without a time limit, for a transaction that only reads. */
export interface DatabaseReader {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Also ends its transaction. */
  close(): Promise<void>
}

/** An unused connection is closed after this time. */
const idleMs = 60_000
/** How long a commit waits for a locked row: the others of its group wait as long. */
const commitLockMs = 100
const briefLockMs = 2
/**
 * How long anything else waits for a lock before it gives its connection back and tries again after a pause: those who wait
 * for rows that somebody holds would leave no connection to all others (OP7).
 */
const connectedLockMs = 20
/**
 * The part of the connections whose statements may stay in the server's line for a lock all the same: a row that is
 * written all the time is found locked after each pause, and where commits take long nobody else would ever change it.
 */
const inLinePart = 0.25
/** That of `pg`, for a pool of the host's own kind. */
const usualPoolSize = 10
const [firstPauseMs, longestPauseMs] = [10, 200] as const
/** How much longer than others a statement of a transaction may take: a deletion, a rewrite, a repair. */
const transactionFactor = 12
const transactionLockMs = 10_000
const migrationLimitMs = 600_000
const farewellMs = 1_000

export function createDatabase(options: DatabaseOptions): Database {
  const { source, schema, poolSize, connectTimeoutMs, statementTimeoutMs, onError } = options
  const connector = 'url' in source ? createConnector(source.url, connectTimeoutMs) : null
  // The server's limit is shorter than ours, so that its error arrives: then it is certain that nothing was
  // stored.
  const serverLimitMs = Math.ceil(statementTimeoutMs * 0.8)
  const lockMs = Math.ceil(statementTimeoutMs * 0.6)

  const pool =
    'pool' in source
      ? createHostConnectionPool(source.pool, connectTimeoutMs)
      : createConnectionPool({
          open: () => connect(),
          size: Math.max(1, poolSize - 1),
          waitMs: connectTimeoutMs,
          idleMs,
          onError,
        })
  const connect = () => connector?.connect() ?? Promise.reject(closedFault())

  /**
   * Uses a connection for one statement. After a fault it marks the other connections that have the same
   * fault, so that no further statement fails on them.
   */
  const use = async <Result>(
    connection: PostgresConnection,
    work: (connection: PostgresConnection) => Promise<Result>,
  ): Promise<Result> => {
    const began = performance.now()
    try {
      return await work(connection)
    } catch (error) {
      if (isLost(error)) pool.suspect(began)
      // This server was demoted: if the URL has others, one of them accepts writes.
      if (isReadOnly(error) && connector?.selectsByRole === true) pool.suspect(performance.now())
      throw error
    }
  }

  const lend = async <Result>(
    work: (connection: PostgresConnection) => Promise<Result>,
  ): Promise<Result> => {
    const connection = await pool.acquire()
    try {
      return await use(connection, work)
    } finally {
      pool.release(connection)
    }
  }

  const writer = createWriterConnection(connect, (one) => pool.isSuspect(one), idleMs)

  const migrationQuery =
    (connection: PostgresConnection, limitMs: number): MigrationQuery =>
    async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await connection.query<Row>({ text, values: [...values] }, limitMs)).rows

  /** With the time limits of any other read: a server that starts must not wait as long as a migration may take. */
  const findMigratedInTime = async (): Promise<MigrationResult | null> => {
    try {
      return await transact({ statementMs: serverLimitMs, lockMs }, (connection) =>
        findMigrated(migrationQuery(connection, statementTimeoutMs), schema),
      )
    } catch (error) {
      // Another process migrates: `migrate` waits for it.
      if (isBlocked(error)) return null
      throw toConnectFault(error)
    }
  }

  const bringUpToDate = (partitions?: number) =>
    transact({ statementMs: migrationLimitMs, lockMs: transactionLockMs }, async (connection) => {
      const query = migrationQuery(connection, migrationLimitMs)
      const result = await migrate(query, schema)
      if (partitions !== undefined) await partitionTables(query, schema, partitions)
      return result
    })

  let migrating: Promise<MigrationResult> | undefined
  let closing: Promise<void> | undefined
  const open = (): Promise<MigrationResult> => {
    if (closing !== undefined) return Promise.reject(closedFault())
    if (migrating === undefined) {
      migrating = findMigratedInTime().then((found) => found ?? bringUpToDate())
      // Not cached after a failure: the next use tries again, for example after the server has started.
      migrating.catch(() => {
        migrating = undefined
      })
    }
    return migrating
  }

  const transact = async <Result>(
    limits: StatementLimits,
    work: (connection: PostgresConnection) => Promise<Result>,
  ): Promise<Result> => {
    const connection = await begin(limits)
    try {
      return await use(connection, async () => {
        const result = await work(connection)
        const { command } = await connection.query('COMMIT', limits.statementMs)
        if (command === 'COMMIT') return result
        throw new HoldfastError('store-failed', 'PostgreSQL rolled it back.')
      })
    } catch (error) {
      // Closing the connection rolls the transaction back, whatever state either of them is in.
      if (!isBlocked(error)) connection.drop()
      else await connection.query('ROLLBACK', farewellMs).catch(() => connection.drop())
      throw error
    } finally {
      pool.release(connection)
    }
  }

  /** A transaction that has not begun may begin on another connection. */
  const begin = async (limits: StatementLimits, isAgain = false): Promise<PostgresConnection> => {
    const connection = await pool.acquire()
    try {
      await use(connection, () => connection.query(toTransactionStart(limits), statementTimeoutMs))
      return connection
    } catch (error) {
      connection.drop()
      pool.release(connection)
      if (isAgain || !isLost(error)) throw error
      return begin(limits, true)
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

  const size = 'pool' in source ? (source.pool.options?.max ?? usualPoolSize) : poolSize
  const mostInLine = Math.max(size > 2 ? 1 : 0, Math.floor(size * inLinePart))
  let inLine = 0

  /** Nothing was stored by an attempt that met a lock. */
  const retryWhileBlocked = async <Result>(
    limitMs: number,
    attempt: (waitMs: number) => Promise<Result>,
  ): Promise<Result> => {
    const began = performance.now()
    const leftMs = () => Math.ceil(limitMs - (performance.now() - began))
    let isInLine = false
    for (let pauseMs: number = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await attempt(isInLine ? Math.max(connectedLockMs, leftMs()) : connectedLockMs)
      } catch (error) {
        if (!isBlocked(error) || closing !== undefined || leftMs() <= 0) throw error
      } finally {
        if (isInLine) inLine--
      }
      await pause(pauseMs)
      isInLine = inLine < mostInLine
      if (isInLine) inLine++
    }
  }

  /**
   * Always with limits of the server, which ends it before this process stops waiting: otherwise a statement that is asked
   * every second while somebody has locked its table would leave a connection behind each time, until none is left.
   */
  const run: RunStatement = <Row extends object>(
    statement: Statement,
    values: readonly unknown[],
  ) =>
    withFaults(() =>
      retryWhileBlocked(lockMs, async (waitMs) => {
        const limits = { statementMs: serverLimitMs, lockMs: waitMs }
        const once = () =>
          lend((connection) => connection.run<Row>(statement, values, statementTimeoutMs, limits))
        try {
          return await once()
        } catch (error) {
          if (!isLost(error)) throw error
          return once()
        }
      }),
    )

  const runCommitWithin =
    (commitMs: number): RunStatement =>
    <Row extends object>(statement: Statement, values: readonly unknown[]) =>
      withFaults(async () => {
        const limits = { statementMs: serverLimitMs, lockMs: commitMs }
        const write = (connection: PostgresConnection) =>
          connection.run<Row>(statement, values, statementTimeoutMs, limits)
        const own = poolSize < 2 || connector === null ? null : await writer.acquire(pool.hasIdle)
        if (own === null) return lend(write)
        try {
          return await use(own, write)
        } finally {
          writer.release()
        }
      })

  return {
    run,
    runCommit: runCommitWithin(commitLockMs),
    runCommitBriefly: runCommitWithin(briefLockMs),

    transaction: (work, how) =>
      withFaults(() => {
        const statementMs = statementTimeoutMs * transactionFactor
        const attempt = (waitMs: number) =>
          transact({ statementMs, lockMs: waitMs }, (connection) =>
            work((statement, values) => connection.run(statement, values, statementMs, null)),
          )
        if (how === 'once') return attempt(transactionLockMs)
        return retryWhileBlocked(transactionLockMs, attempt)
      }),

    connect: connector === null ? null : connect,
    openReader: () =>
      withFaults(() => (connector === null ? lendReader(pool) : openReader(connector))),
    migrate: async ({ partitions } = {}) => {
      try {
        if (closing !== undefined) throw closedFault()
        return await (partitions === undefined ? open() : bringUpToDate(partitions))
      } catch (error) {
        throw toStoreFault(error)
      }
    },
    close() {
      closing ??= Promise.all([writer.close(), pool.end()]).then(() => {})
      return closing
    },
  }
}

async function openReader(connector: Connector): Promise<DatabaseReader> {
  const client = connector.createClient()
  // The statement that fails reports the error, so it is not reported here.
  client.on('error', () => {})
  await client.connect()
  return {
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>({ text, values: [...values] })).rows,
    close: () => client.end(),
  }
}

async function lendReader(pool: ConnectionPool): Promise<DatabaseReader> {
  const connection = await pool.acquire()
  return {
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      connection.run<Row>({ name: 'holdfast-read', text }, values, longestTimerMs, null),
    async close() {
      await connection.query('ROLLBACK', farewellMs).catch(() => connection.drop())
      pool.release(connection)
    },
  }
}
