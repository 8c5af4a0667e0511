import { Socket } from 'node:net'
import pg from 'pg'
import { readSqlState } from './postgres-error.ts'
import {
  type PreparedStatements,
  type Statement,
  type StatementLimits,
  StatementQuery,
} from './statement.ts'

/** One connection, on which every statement has a time limit. */
export interface PostgresConnection {
  /**
   * Rejects with a `LateAnswerError` when the server has not answered within `limitMs`; the connection is
   * then dropped, because every further statement on it would wait for the same answer.
   */
  query<Row extends object>(
    query: string | pg.QueryConfig,
    limitMs: number,
  ): Promise<pg.QueryResult<Row>>
  /**
   * Runs one statement in its own transaction, with these limits; without limits, as part of the open
   * transaction.
   */
  run<Row extends object>(
    statement: Statement,
    values: readonly unknown[],
    limitMs: number,
    limits: StatementLimits | null,
  ): Promise<readonly Row[]>
  /**
   * Each transaction may run on another connection of the server (a pooler), so settings of a session do not
   * last.
   */
  readonly isPooled: boolean
  /** Whether it accepts another statement, as far as is known. */
  readonly isUsable: boolean
  /** When the server last sent anything, by `performance.now()`. */
  readonly answeredAt: number
  onNotification(listener: (payload: string) => void): void
  /** Called once, when it accepts no more statements; with the error unless this process closed it. */
  onEnd(listener: (error?: Error) => void): void
  /** Closes it in order if the server still responds. Never rejects, and never takes long. */
  close(): Promise<void>
  /** Closes it at once. Statements in flight fail. */
  drop(): void
}

/** The server did not answer in time. Whether a write was stored is unknown. */
class LateAnswerError extends Error {
  override readonly name = 'LateAnswerError'
  readonly code = 'late-answer'
}

/** What a server reports about itself after connecting. */
export interface ServerRole {
  readonly isStandby: boolean
  readonly isReadOnly: boolean
}

const farewellMs = 1_000

/** Connects, within the time limit of `config`. */
export async function openConnection(
  config: pg.ClientConfig,
  limitMs: number,
): Promise<PostgresConnection & { readonly role: ServerRole }> {
  // Created here so that it can be destroyed: the driver waits for the server to close, which a server that
  // no longer responds never does.
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
  // The statement that fails reports the error, so it is not reported here.
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
    if (found === undefined) throw new Error('PostgreSQL sent no information about itself.')
    role = found
    isIsolated = found.isolation !== 'read committed'
    // A pooler invents the process id that it sends to its client, which then differs from that of the
    // server.
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
        // The connection does lead through a pooler: the prepared statement is on another server connection.
        // Nothing was executed.
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
      // Discarded in either case, so an error of a broken connection does not matter.
      await client.end().catch(() => {})
      clearTimeout(timer)
    },
    drop,
  }
}

/** `onLate` is called on a timeout, before the promise rejects. */
export async function answerWithin<Result>(
  limitMs: number,
  answer: Promise<Result>,
  onLate: () => void,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new LateAnswerError(`PostgreSQL did not respond in ${limitMs} ms.`))
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

/** No such prepared statement, or a second one of the same name. */
const isUnprepared = (error: unknown): boolean =>
  /^(?:26000|42P05)$/.test(readSqlState(error) ?? '')

/** The server refused this statement and stored nothing of it; the connection stays usable. */
export const isRefusal = (error: unknown): boolean =>
  // Recognised by a field that only errors of a server have: the host's driver may be another copy of the
  // module.
  error instanceof Error && 'severity' in error && !/^(?:08|57P)/.test(readSqlState(error) ?? '08')
