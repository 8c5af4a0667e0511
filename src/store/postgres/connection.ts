import { Socket } from 'node:net'
import pg from 'pg'
import { readSqlState } from './postgres-error.ts'
import {
  type PreparedStatements,
  type Statement,
  type StatementLimits,
  StatementQuery,
} from './statement.ts'

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
  /** One statement in a transaction of its own, with its limits; without any, one of the transaction that is open. */
  run<Row extends object>(
    statement: Statement,
    values: readonly unknown[],
    limitMs: number,
    limits: StatementLimits | null,
  ): Promise<readonly Row[]>
  /**
   * The transactions on it may each be on another connection of the server: what is said to one session is
   * not said to the next.
   */
  readonly isPooled: boolean
  /** Whether it takes another statement, as far as anybody knows. */
  readonly isUsable: boolean
  /** By `performance.now()`: when the server last said anything. */
  readonly answeredAt: number
  onNotification(listener: (payload: string) => void): void
  /** Called once, when it takes no more statements, with the reason if it is one that nobody here made. */
  onEnd(listener: (error?: Error) => void): void
  /** Says goodbye if the server still listens. Never rejects, and never takes long. */
  close(): Promise<void>
  /** At once. What is under way on it fails. */
  drop(): void
}

/** The server did not answer in time. What it was asked to write may or may not be stored. */
class LateAnswerError extends Error {
  override readonly name = 'LateAnswerError'
  readonly code = 'late-answer'
}

/** What a server says of itself once somebody is connected to it. */
export interface ServerRole {
  readonly isStandby: boolean
  readonly isReadOnly: boolean
}

const farewellMs = 1_000

/** Connects, within the time that `config` has for it. */
export async function openConnection(
  config: pg.ClientConfig,
  limitMs: number,
): Promise<Connection & { readonly role: ServerRole }> {
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
  const within = async <Result>(ms: number, work: Promise<Result>): Promise<Result> => {
    const result = await answerWithin(ms, work, drop).catch((error: unknown) => {
      if (isRefusal(error)) answeredAt = performance.now()
      else drop()
      throw error
    })
    answeredAt = performance.now()
    return result
  }

  let current: StatementQuery | undefined
  const submit = <Row extends object>(
    statement: Statement,
    values: readonly unknown[],
    limits: StatementLimits | null,
  ) =>
    new Promise<readonly Row[]>((resolve, reject) => {
      current = new StatementQuery({
        statement,
        values,
        limits,
        prepared,
        isIsolated,
        resolve: (rows) => resolve(rows as readonly Row[]),
        reject,
      })
      client.query(current as unknown as pg.Submittable)
    })
  const wire = client as unknown as {
    readonly processID: number | null
    readonly connection: { on(event: 'parseComplete', listener: () => void): void }
  }
  wire.connection.on('parseComplete', () => current?.handleParseComplete())

  let prepared: PreparedStatements = null
  let isIsolated = false
  let role: ServerRole
  try {
    await client.connect()
    const [found] = await within(limitMs, submit<SessionRow>(readSession, [], null))
    if (found === undefined) throw new Error('PostgreSQL says nothing of itself.')
    role = found
    isIsolated = found.isolation !== 'read committed'
    // A pooler makes up the number that it gives its client: that of the server is another.
    if (found.pid === wire.processID) prepared = new Set()
  } catch (error) {
    drop()
    throw error
  }

  return {
    role,
    get isPooled() {
      return prepared === null
    },
    get isUsable() {
      return !isGone
    },
    get answeredAt() {
      return answeredAt
    },
    query: (query, ms) => within(ms, client.query(query)),
    async run<Row extends object>(
      statement: Statement,
      values: readonly unknown[],
      ms: number,
      limits: StatementLimits | null,
    ) {
      try {
        return await within(ms, submit<Row>(statement, values, limits))
      } catch (error) {
        // There is a pooler after all: what was prepared is on another connection. Nothing was done.
        if (prepared === null || limits === null || !isUnprepared(error)) throw error
        prepared = null
        return await within(ms, submit<Row>(statement, values, limits))
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

/** `onLate` is called when there was no answer in time, before the rejection is met. */
export async function answerWithin<Result>(
  limitMs: number,
  answer: Promise<Result>,
  onLate: () => void,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new LateAnswerError(`PostgreSQL did not answer in ${limitMs} ms.`))
      onLate()
    }, limitMs)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

interface SessionRow extends ServerRole {
  readonly pid: number
  readonly isolation: string
}

const readSession: Statement = {
  name: 'holdfast-session',
  text: `SELECT pg_backend_pid() AS pid, pg_is_in_recovery() AS "isStandby",
    current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    current_setting('default_transaction_isolation') AS isolation`,
}

/** No such prepared statement, or one more of its name. */
const isUnprepared = (error: unknown): boolean =>
  /^(?:26000|42P05)$/.test(readSqlState(error) ?? '')

/** The server refused this statement, and stored nothing of it; the connection is as good as before. */
export const isRefusal = (error: unknown): boolean =>
  // By what only a server's own errors have: the host's driver may be another copy of ours.
  error instanceof Error && 'severity' in error && !/^(?:08|57P)/.test(readSqlState(error) ?? '08')
