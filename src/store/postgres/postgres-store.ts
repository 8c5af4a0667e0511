import { randomUUID } from 'node:crypto'
import {
  badOption,
  callback,
  checkOptions,
  describeValue,
  milliseconds,
  type OptionTable,
  wholeNumber,
} from '../../core/check-options.ts'
import { changedThreads } from '../commit-group.ts'
import { createLocalNotifier } from '../local-notifier.ts'
import { createLedgerReader } from '../ledger-rows.ts'
import type { ChangeNotification, Store } from '../store.ts'
import { createPostgresAudit } from './audit.ts'
import { createFateReader } from './commit-fate.ts'
import { createDatabase } from './database.ts'
import { createNotifyListener } from './notify-listener.ts'
import { everything } from './notify-payload.ts'
import { createNotifyPublisher } from './notify-publisher.ts'
import { createLedgerStatements } from './ledger-statements.ts'
import { isLost, toStoreFault } from './postgres-error.ts'
import { createPostgresSource } from './read-rows.ts'
import { rewriteThread } from './rewrite-thread.ts'
import { createThreadStatements, createThreadVerbs } from './thread-verbs.ts'
import { createCommitWriter } from './write-commits.ts'

export interface PostgresStoreOptions {
  /** The schema that has the tables; made if it is not there. */
  readonly schema?: string
  /**
   * The most connections at once, besides the one that listens for changes. From two on, one of them is
   * kept for commits.
   * @default 10
   */
  readonly poolSize?: number
  /**
   * How long it may take to connect, or to get a connection that others have. Then whoever wanted one is
   * refused (503), and nothing was stored.
   * @default 5000
   */
  readonly connectTimeoutMs?: number
  /**
   * How long a statement may take. The server is told to end it at four fifths of this, and gives up
   * waiting for a lock at three fifths; a connection on which no answer has come by then is dropped and
   * replaced, and what was being committed is looked for before it is written again. Statements of a
   * deletion, a rewriting import or a repair may take twelve times as long.
   * @default 5000
   */
  readonly statementTimeoutMs?: number
  /** Told of faults that no verb can tell, such as a lost connection that was idle. */
  readonly onError?: (error: unknown) => void
}

export const postgresRules: OptionTable<PostgresStoreOptions> = {
  schema: {
    range: 'a name of 1 to 63 letters, digits and "_" that does not begin with a digit',
    fits: (value) => typeof value === 'string' && /^[A-Za-z_]\w{0,62}$/.test(value),
    default: '"holdfast"',
  },
  poolSize: wholeNumber(1, 10_000, '10'),
  connectTimeoutMs: milliseconds(100, 600_000, '5,000'),
  statementTimeoutMs: milliseconds(100, 600_000, '5,000'),
  onError: callback('nobody is told'),
}

/** One database for any number of servers. Connects, and makes its tables, on first use. */
export function postgres(url: string, options: PostgresStoreOptions = {}): Store {
  // Never its text: an address may hold a password.
  if (typeof url !== 'string') {
    throw badOption(`postgres takes a postgres:// address, not ${describeValue(url)}.`)
  }
  checkOptions('postgres', options, postgresRules, { max: 'poolSize', connections: 'poolSize' })
  const { schema = 'holdfast', poolSize = 10 } = options
  const { connectTimeoutMs = 5_000, statementTimeoutMs = 5_000 } = options
  const onError = (error: unknown) => options.onError?.(toStoreFault(error))
  const database = createDatabase({
    url,
    schema,
    poolSize,
    connectTimeoutMs,
    statementTimeoutMs,
    onError,
  })
  const threads = createThreadVerbs(database, createThreadStatements(`"${schema}"`))
  const source = createPostgresSource(database.run, createLedgerStatements(`"${schema}"`))
  const write = createCommitWriter(
    database.runCommit,
    `"${schema}"`,
    createFateReader(database.run, `"${schema}"`),
  )

  let isClosed = false
  const from = randomUUID()
  const notifications = createLocalNotifier()
  const line = createNotifyListener({
    from,
    channel: schema,
    connect: () => database.connect(),
    limitMs: statementTimeoutMs,
    post: (found) => notifications.post(found),
    onError,
  })
  const sender = createNotifyPublisher({
    from,
    notify: (payloads) => database.run(notifyStatement, [schema, payloads]),
    onError,
  })
  /** Own listeners hear it at once, others by way of the server. */
  const tell = (changed: readonly ChangeNotification[]) => {
    notifications.post(changed)
    sender.send(changed)
  }

  return {
    kind: 'postgres',
    audit: createPostgresAudit(database, `"${schema}"`),
    ...threads,
    ...createLedgerReader(source),

    async deleteThread(id) {
      const deleted = await threads.deleteThread(id)
      if (deleted !== null) tell([{ threadId: id, seq: 0 }])
      return deleted
    },

    async commit(commits) {
      try {
        const results = await write(commits)
        tell(changedThreads(commits, results))
        return results
      } catch (error) {
        // If it was stored, nobody has been told of it.
        if (isLost(error)) tell([everything])
        throw error
      }
    },

    async rewriteThread(rewrite) {
      const { threadId } = rewrite
      try {
        const end = await rewriteThread(database, `"${schema}"`, rewrite)
        if (typeof end === 'string') return end
        tell([{ threadId, seq: end }])
        return 'rewritten'
      } catch (error) {
        if (isLost(error)) tell([everything])
        throw error
      }
    },

    async requestStop(threadId) {
      const { seq, ...request } = await threads.requestStop(threadId)
      if (seq !== undefined) tell([{ threadId, seq, stop: true }])
      return request
    },

    problem: () => (line.downMs() >= listenerDownMs ? 'listener-down' : null),

    watch(listener) {
      const unwatch = notifications.watch(listener)
      if (!isClosed) line.start()
      return () => {
        unwatch()
        if (notifications.size === 0) void line.stop()
      }
    },

    async close() {
      isClosed = true
      await line.stop()
      await sender.settle()
      await database.close()
    },
  }
}

/** A server that hears of nobody else's changes for so long is not ready. */
const listenerDownMs = 10_000

// NOTIFY is a commit of its own; a notification need not survive a crash, so nobody waits for the disk.
const notifyStatement = {
  name: 'holdfast-notify',
  text: `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, payload)
    FROM unnest($2::text[]) AS payload`,
}
