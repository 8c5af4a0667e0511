import type pg from 'pg'
import type { ConnectionPool } from './connection-pool.ts'
import { answerWithin, type PostgresConnection, isRefusal } from './connection.ts'
import { closedFault, toConnectFault } from './postgres-error.ts'
import {
  getTypeParser,
  type Statement,
  type StatementLimits,
  toTransactionStart,
} from './statement.ts'

/**
 * A pool of the host application: that of `pg`, or another with these methods. It is used for one connection
 * and one transaction at a time, no session settings are changed, and it is never ended.
 */
export interface HostPool {
  connect(): Promise<HostClient>
  /** Of a pool of `pg`. @default how many connections it has is not known */
  readonly options?: { readonly max?: number }
}

/** A connection of the host application's pool. */
export interface HostClient {
  query(query: string | pg.QueryConfig): Promise<pg.QueryResult>
  /** `true`: the pool must not use it again. */
  release(destroy?: boolean): void
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/**
 * Wraps the host's pool. Each statement is a transaction block that contains its settings, because only the
 * documented methods of the host's driver are used.
 */
export function createHostConnectionPool(pool: HostPool, waitMs: number): ConnectionPool {
  const lent = new Map<PostgresConnection, () => void>()
  /** When each connection that was used here last answered. The host's own use of it is not seen. */
  const answered = new WeakMap<HostClient, number>()
  let suspectSince = Number.NEGATIVE_INFINITY
  let isEnding = false
  const ended = Promise.withResolvers<void>()
  const settle = () => {
    if (isEnding && lent.size === 0) ended.resolve()
  }
  const connect = async (): Promise<HostClient> => {
    const connecting = pool.connect()
    let isLate = false
    const client = await answerWithin(waitMs, connecting, () => {
      isLate = true
    }).catch((error: unknown) => {
      // The connection may still arrive after the timeout: without this it would never be released.
      if (isLate) connecting.then((late) => late.release()).catch(() => {})
      throw toConnectFault(error)
    })
    if ((answered.get(client) ?? suspectSince) >= suspectSince) return client
    // Deleted, or a pool that lends the released client again would be called in an endless loop.
    answered.delete(client)
    client.release(true)
    return connect()
  }
  return {
    async acquire() {
      if (isEnding) throw closedFault()
      const client = await connect()
      const connection = toConnection(client)
      // An unhandled error event would end the process; the statement that fails reports the error.
      const onError = () => connection.drop()
      client.on?.('error', onError)
      lent.set(connection, () => {
        client.off?.('error', onError)
        answered.set(client, connection.answeredAt)
        client.release(!connection.isUsable)
      })
      return connection
    },
    release(connection) {
      const giveBack = lent.get(connection)
      lent.delete(connection)
      giveBack?.()
      settle()
    },
    suspect(at) {
      suspectSince = Math.max(suspectSince, at)
    },
    isSuspect: (connection) => !connection.isUsable,
    hasIdle: () => true,
    async end() {
      isEnding = true
      settle()
      await ended.promise
    },
  }
}

function toConnection(client: HostClient): PostgresConnection {
  let isUsable = true
  let answeredAt = performance.now()
  const drop = () => {
    isUsable = false
  }
  const query = async <Row extends object>(
    question: string | pg.QueryConfig,
    limitMs: number,
  ): Promise<pg.QueryResult<Row>> => {
    try {
      const result = await answerWithin(limitMs, client.query(question), drop)
      answeredAt = performance.now()
      return result as pg.QueryResult<Row>
    } catch (error) {
      if (!isRefusal(error)) drop()
      throw error
    }
  }
  const send = async <Row extends object>(
    { text }: Statement,
    values: readonly unknown[],
    limitMs: number,
  ): Promise<readonly Row[]> => {
    const question = { text, values: [...values], types: { getTypeParser } }
    return (await query<Row>(question, limitMs)).rows
  }
  return {
    query,
    async run<Row extends object>(
      statement: Statement,
      values: readonly unknown[],
      limitMs: number,
      limits: StatementLimits | null,
    ) {
      if (limits === null) return send<Row>(statement, values, limitMs)
      await query(toTransactionStart(limits), limitMs)
      try {
        const rows = await send<Row>(statement, values, limitMs)
        await query('COMMIT', limitMs)
        return rows
      } catch (error) {
        // A refused statement leaves the block open; a lost connection has no block to end.
        if (isUsable) await query('ROLLBACK', limitMs).catch(drop)
        throw error
      }
    },
    isPooled: true,
    get isUsable() {
      return isUsable
    },
    get answeredAt() {
      return answeredAt
    },
    // LISTEN is not used on a connection of the host's: it would occupy the connection for good.
    onNotification() {},
    onEnd() {},
    async close() {
      drop()
    },
    drop,
  }
}
