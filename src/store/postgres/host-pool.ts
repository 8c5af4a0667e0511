import type pg from 'pg'
import type { ConnectionPool } from './connection-pool.ts'
import { answerWithin, type Connection, isRefusal } from './connection.ts'
import { closedFault, toConnectFault } from './postgres-error.ts'
import {
  getTypeParser,
  type Statement,
  type StatementLimits,
  toTransactionStart,
} from './statement.ts'

/**
 * A pool of the host's: that of `pg`, or another that has these methods. It is used one connection and one
 * transaction at a time, nothing is set on its sessions, and it is never ended.
 */
export interface HostPool {
  connect(): Promise<HostClient>
}

/** A connection of the host's. */
export interface HostClient {
  query(query: string | pg.QueryConfig): Promise<pg.QueryResult>
  /** `true`: it is not to be used again. */
  release(destroy?: boolean): void
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/**
 * The host's pool as one of ours. Each statement is a transaction block with its settings in it, because the
 * driver of the host is asked for no more than it promises everybody.
 */
export function createHostConnectionPool(pool: HostPool, waitMs: number): ConnectionPool {
  const lent = new Map<Connection, () => void>()
  let isEnding = false
  const ended = Promise.withResolvers<void>()
  const settle = () => {
    if (isEnding && lent.size === 0) ended.resolve()
  }
  return {
    async acquire() {
      if (isEnding) throw closedFault()
      const connecting = pool.connect()
      let isLate = false
      const client = await answerWithin(waitMs, connecting, () => {
        isLate = true
      }).catch((error: unknown) => {
        // It may come yet, and nobody is there to give it back.
        if (isLate) connecting.then((late) => late.release()).catch(() => {})
        throw toConnectFault(error)
      })
      const connection = toConnection(client)
      // Unheard, its error would end the process; the statement that meets it says it again.
      const onError = () => connection.drop()
      client.on?.('error', onError)
      lent.set(connection, () => {
        client.off?.('error', onError)
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
    // Which of the host's connections others have met silence on, is for the host to know.
    suspect() {},
    isSuspect: (connection) => !connection.isUsable,
    hasIdle: () => true,
    async end() {
      isEnding = true
      settle()
      await ended.promise
    },
  }
}

function toConnection(client: HostClient): Connection {
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
        // What the server refused leaves the block open; on a connection that is gone there is nothing to end.
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
    // Nobody listens on a connection of the host's: it would be kept from it for good.
    onNotification() {},
    onEnd() {},
    async close() {
      drop()
    },
    drop,
  }
}
