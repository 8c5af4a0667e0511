import { HoldfastError } from '../../core/holdfast-error.ts'
import type { Connection } from './connection.ts'
import { closedFault } from './postgres-error.ts'

/** Connections that are lent to one statement or transaction after the other. */
export interface ConnectionPool {
  /** One that is idle, or a new one, or the next that comes free. */
  acquire(): Promise<Connection>
  /** Gives it back; one that is no longer of use is replaced when somebody wants one. */
  release(connection: Connection): void
  /**
   * Something on the way to the server did not answer: whatever has said nothing since `at` (by
   * `performance.now()`) is dropped before anybody meets the same silence on it.
   */
  suspect(at: number): void
  isSuspect(connection: Connection): boolean
  /** Whether somebody could have one at once. */
  readonly hasIdle: () => boolean
  /** Resolves when those that are lent have come back and all are closed. */
  end(): Promise<void>
}

export interface ConnectionPoolOptions {
  readonly open: () => Promise<Connection>
  readonly size: number
  /** How long somebody waits for a connection that others have. */
  readonly waitMs: number
  readonly idleMs: number
  readonly onError: (error: unknown) => void
}

interface Waiter {
  readonly resolve: (connection: Connection) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

export function createConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const { open, size, waitMs, idleMs, onError } = options
  const idle = new Map<Connection, NodeJS.Timeout>()
  const waiting = new Set<Waiter>()
  /** Lent, idle or being opened. */
  let count = 0
  let opening = 0
  /** Why the last attempt to connect failed; null once one has worked. */
  let failure: Error | null = null
  let suspectSince = Number.NEGATIVE_INFINITY
  const ended = Promise.withResolvers<void>()
  let isEnding = false

  const isSuspect = (connection: Connection) =>
    !connection.isUsable || connection.answeredAt < suspectSince

  const connect = async (): Promise<Connection> => {
    count++
    try {
      return await attempt()
    } catch (error) {
      // Nobody has one that could come free: those who wait would only hear the same, one after the other.
      if (count === opening + 1) refuseWaiters(error)
      leave()
      throw error
    }
  }

  const refuseWaiters = (error: unknown) => {
    for (let next = takeWaiter(); next !== undefined; next = takeWaiter()) next.reject(error)
  }

  const attempt = async (): Promise<Connection> => {
    opening++
    try {
      const connection = await open()
      failure = null
      connection.onEnd((error) => {
        if (!idle.has(connection)) return
        if (error !== undefined) onError(error)
        discard(connection)
      })
      return connection
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      throw error
    } finally {
      opening--
    }
  }

  /** A place is free: for the next who waits. */
  const leave = () => {
    count--
    if (isEnding && count === 0) ended.resolve()
    const next = takeWaiter()
    if (next !== undefined) connect().then(next.resolve, next.reject)
  }

  /** Its time to wait is over: what it is given now must not be given to nobody. */
  const takeWaiter = (): Waiter | undefined => {
    const [next] = waiting
    if (next === undefined) return undefined
    waiting.delete(next)
    clearTimeout(next.timer)
    return next
  }

  const remove = (connection: Connection) => {
    clearTimeout(idle.get(connection))
    idle.delete(connection)
  }
  const discard = (connection: Connection) => {
    remove(connection)
    connection.drop()
    leave()
  }
  const retire = async (connection: Connection) => {
    remove(connection)
    await connection.close()
    leave()
  }

  const takeIdle = (): Connection | undefined => {
    // The one that was used last: the others may grow old and go.
    for (const connection of [...idle.keys()].toReversed()) {
      if (isSuspect(connection)) {
        discard(connection)
        continue
      }
      remove(connection)
      return connection
    }
    return undefined
  }

  const wait = (): Promise<Connection> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(waiter)
        reject(
          new HoldfastError('store-unreachable', 'No connection to PostgreSQL came free in time.', {
            isTemporary: true,
          }),
        )
      }, waitMs)
      const waiter: Waiter = { resolve, reject, timer }
      waiting.add(waiter)
    })

  return {
    async acquire() {
      if (isEnding) throw closedFault()
      const found = takeIdle()
      if (found !== undefined) return found
      // While one tries whether the server is back, nobody else need wait to hear the same.
      if (failure !== null && opening > 0) throw failure
      return count < size ? connect() : wait()
    },

    release(connection) {
      if (isSuspect(connection)) return discard(connection)
      if (isEnding) return void retire(connection)
      const next = takeWaiter()
      if (next !== undefined) return next.resolve(connection)
      idle.set(
        connection,
        setTimeout(() => void retire(connection), idleMs),
      )
    },

    suspect(at) {
      suspectSince = Math.max(suspectSince, at)
    },
    isSuspect,
    hasIdle: () => [...idle.keys()].some((connection) => !isSuspect(connection)),

    async end() {
      if (isEnding) return ended.promise
      isEnding = true
      refuseWaiters(closedFault())
      for (const connection of idle.keys()) void retire(connection)
      if (count === 0) ended.resolve()
      await ended.promise
    },
  }
}
