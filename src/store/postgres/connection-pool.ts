import { HoldfastError } from '../../core/holdfast-error.ts'
import type { PostgresConnection } from './connection.ts'
import { closedFault, isExhausted } from './postgres-error.ts'

/** A pool of connections, each used by one statement or transaction at a time. */
export interface ConnectionPool {
  /** Returns an idle connection, a new one, or the next that is released. */
  acquire(): Promise<PostgresConnection>
  /** Returns a connection to the pool; one that is no longer usable is replaced on demand. */
  release(connection: PostgresConnection): void
  /**
   * Called after a connection timed out: every connection without an answer since `at` (by
   * `performance.now()`) is dropped before the next caller times out on it too.
   */
  suspect(at: number): void
  isSuspect(connection: PostgresConnection): boolean
  /** Whether `acquire` would return at once. */
  readonly hasIdle: () => boolean
  /** Resolves once all connections were released and closed. */
  end(): Promise<void>
}

export interface ConnectionPoolOptions {
  readonly open: () => Promise<PostgresConnection>
  readonly size: number
  /** How long `acquire` waits for a connection in use. */
  readonly waitMs: number
  readonly idleMs: number
  readonly onError: (error: unknown) => void
}

interface Waiter {
  readonly resolve: (connection: PostgresConnection) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

export function createConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const { open, size, waitMs, idleMs, onError } = options
  const idle = new Map<PostgresConnection, NodeJS.Timeout>()
  const waiting = new Set<Waiter>()
  /** Connections in use, idle or being opened. */
  let count = 0
  let opening = 0
  /** The error of the last attempt to connect; null once one has succeeded. */
  let failure: Error | null = null
  let suspectSince = Number.NEGATIVE_INFINITY
  const ended = Promise.withResolvers<void>()
  let isEnding = false

  const isSuspect = (connection: PostgresConnection) =>
    !connection.isUsable || connection.answeredAt < suspectSince

  const connect = async (): Promise<PostgresConnection> => {
    count++
    try {
      return await attempt()
    } catch (error) {
      const others = count - 1
      // No connection is in use that could be released: the waiters would only fail with the same error, one
      // after the other. Where the server has no more, one that is being opened may be the one that is released.
      if (others === (isExhausted(error) ? 0 : opening)) refuseWaiters(error)
      // Its slot is of no use to a waiter either, who would only ask the server again.
      if (isExhausted(error)) freeSlot()
      else leave()
      throw error
    }
  }

  /** The server may allow fewer connections than `size`: then one of ours comes free before it allows another. */
  const connectOrWait = async (): Promise<PostgresConnection> => {
    try {
      return await connect()
    } catch (error) {
      if (isEnding) throw closedFault()
      if (isExhausted(error) && count > 0) return takeIdle() ?? wait()
      throw error
    }
  }

  const refuseWaiters = (error: unknown) => {
    for (let next = takeWaiter(); next !== undefined; next = takeWaiter()) next.reject(error)
  }

  const attempt = async (): Promise<PostgresConnection> => {
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

  const freeSlot = () => {
    count--
    if (isEnding && count === 0) ended.resolve()
  }

  /** A slot is free: opens a connection for the next waiter. */
  const leave = () => {
    freeSlot()
    const next = isEnding ? undefined : takeWaiter()
    if (next !== undefined) connectOrWait().then(next.resolve, next.reject)
  }

  /**
   * Removes the waiter and its timeout together: a connection must not be given to a waiter that has timed
   * out, or it would never be released.
   */
  const takeWaiter = (): Waiter | undefined => {
    const [next] = waiting
    if (next === undefined) return undefined
    waiting.delete(next)
    clearTimeout(next.timer)
    return next
  }

  const remove = (connection: PostgresConnection) => {
    clearTimeout(idle.get(connection))
    idle.delete(connection)
  }
  const discard = (connection: PostgresConnection) => {
    remove(connection)
    connection.drop()
    leave()
  }
  const retire = async (connection: PostgresConnection) => {
    remove(connection)
    await connection.close()
    leave()
  }

  const takeIdle = (): PostgresConnection | undefined => {
    // The most recently used one first, so that the others become idle and are closed.
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

  const wait = (): Promise<PostgresConnection> =>
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
      // While one caller tries to reconnect, the others fail at once with the last error.
      if (failure !== null && opening > 0) {
        if (isExhausted(failure)) return wait()
        throw failure
      }
      return count < size ? connectOrWait() : wait()
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

/** The one connection that is reserved for commits. */
export interface WriterConnection {
  /**
   * Null: it is in use or cannot be opened, and the caller has to use the pool. Rejects if the pool has no
   * connection either.
   */
  acquire(hasOther: () => boolean): Promise<PostgresConnection | null>
  release(): void
  close(): Promise<void>
}

export function createWriterConnection(
  open: () => Promise<PostgresConnection>,
  isSuspect: (connection: PostgresConnection) => boolean,
  idleMs: number,
): WriterConnection {
  let kept: PostgresConnection | undefined
  let isBusy = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let onFree = () => {}
  const letGo = async () => {
    const connection = kept
    kept = undefined
    clearTimeout(timer)
    await connection?.close()
  }
  return {
    async acquire(hasOther) {
      if (isBusy || isClosed) return null
      isBusy = true
      // In use it is not idle: the timer of its last use would close it under this commit, whose fate is then unknown.
      clearTimeout(timer)
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
        if (hasOther() || isExhausted(error)) return null
        throw error
      }
    },
    release() {
      isBusy = false
      onFree()
      if (!isClosed) timer = setTimeout(() => void letGo(), idleMs).unref()
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
