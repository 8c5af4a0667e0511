import { Socket } from 'node:net'
import pg from 'pg'

/** One connection, on which no statement takes longer than it may. */
export interface Connection {
  /**
   * Rejects with a `LateAnswerError` when the server has not answered in `limitMs`; the connection is
   * dropped then, because whatever else is asked on it would wait behind the same answer.
   */
  query<Row extends object>(
    query: string | pg.QueryConfig,
    limitMs: number,
  ): Promise<pg.QueryResult<Row>>
  /** Whether it takes another statement, as far as anybody knows. */
  readonly isUsable: boolean
  /** By `performance.now()`: when the server last said anything. */
  readonly answeredAt: number
  /** How long its statements wait for a lock. */
  lockMs: number
  onNotification(listener: (payload: string) => void): void
  /** Called once, when it takes no more statements, with the reason if it is one that nobody here made. */
  onEnd(listener: (error?: Error) => void): void
  /** Says goodbye if the server still listens. Never rejects, and never takes long. */
  close(): Promise<void>
  /** At once. What is under way on it fails. */
  drop(): void
}

/** The server did not answer in time. What it was asked to write may or may not be stored. */
export class LateAnswerError extends Error {
  override readonly name = 'LateAnswerError'
  readonly code = 'late-answer'
}

const farewellMs = 1_000

/** Connects, within the time that `config` has for it. */
export async function openConnection(config: pg.ClientConfig): Promise<Connection> {
  // Ours, so that it can be destroyed: the driver waits for the other side's goodbye, which never comes
  // from a server that has gone silent.
  const socket = new Socket()
  const client = new pg.Client({ ...config, stream: () => socket })
  let isEnded = false
  let isGone = false
  let answeredAt = performance.now()
  const listeners = new Set<(error?: Error) => void>()
  const end = (error?: Error) => {
    if (isGone) return
    isGone = true
    for (const listener of listeners) listener(error)
  }
  // What it says is said again by the statement that meets it.
  client.on('error', end)
  client.on('end', () => {
    isEnded = true
    end()
  })
  const drop = () => {
    end()
    socket.destroy()
  }
  try {
    await client.connect()
  } catch (error) {
    drop()
    throw error
  }

  return {
    get isUsable() {
      return !isGone
    },
    get answeredAt() {
      return answeredAt
    },
    lockMs: -1,
    async query<Row extends object>(query: string | pg.QueryConfig, limitMs: number) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          reject(new LateAnswerError(`PostgreSQL did not answer in ${limitMs} ms.`))
          drop()
        }, limitMs)
      })
      try {
        const result = await Promise.race([client.query<Row>(query), late])
        answeredAt = performance.now()
        return result
      } catch (error) {
        if (isRefusal(error)) answeredAt = performance.now()
        else drop()
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
    onNotification(listener) {
      client.on('notification', ({ payload }) => listener(payload ?? ''))
    },
    onEnd(listener) {
      if (isGone) listener()
      else listeners.add(listener)
    },
    async close() {
      if (isEnded) return
      end()
      const timer = setTimeout(() => socket.destroy(), farewellMs)
      // Of no more use in either case; that it was already broken is no news.
      await client.end().catch(() => {})
      clearTimeout(timer)
    },
    drop,
  }
}

/** The server refused this statement, and stored nothing of it; the connection is as good as before. */
const isRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !/^(?:08|57P)/.test(error.code ?? '08')
