import {
  badOption,
  callback,
  checkOptions,
  describeValue,
  milliseconds,
  type OptionTable,
  unknownName,
  wholeNumber,
} from '../../core/check-options.ts'
import { callObserver } from '../../core/call-observer.ts'
import { changedThreads } from '../commit-group.ts'
import { createLedgerReader } from '../ledger-reader.ts'
import { createSteadyClock } from '../steady-clock.ts'
import type { MigrateOptions, Store } from '../store.ts'
import { createPostgresAudit } from './audit.ts'
import { createChangeFeed } from './change-feed.ts'
import { createFateReader } from './commit-fate.ts'
import { createDatabase } from './database.ts'
import { createPostgresFileRecords } from './file-records.ts'
import type { HostPool } from './host-pool.ts'
import { createLedgerStatements } from './ledger-statements.ts'
import { createLeaseVerbs } from './leases.ts'
import { everything } from './notify.ts'
import { isLost, toStoreFault } from './postgres-error.ts'
import { createPostgresFiles } from './postgres-files.ts'
import { createPostgresSource } from './read-rows.ts'
import { createPostgresSearch } from './search-index.ts'
import { createPostgresShareRecords } from './share-records.ts'
import { createWholeWriter, rewriteThread } from './thread-transactions.ts'
import { createThreadStatements, createThreadVerbs } from './thread-verbs.ts'
import { createCommitWriter } from './write-commits.ts'

/** Options of `postgres`. */
export interface PostgresStoreOptions {
  /**
   * The schema of the tables; created if it does not exist. Every statement names it, so `search_path` has no effect.
   * @default 'holdfast'
   */
  readonly schema?: string
  /**
   * A URL of the same database on which one connection listens for the changes of other processes: a direct one, where the
   * tables are reached through a pooler or a pool of the host's. If notifications do not arrive there (it is another
   * database, or a pooler too), `onError` is called and the store polls for changes.
   * @default the source's own URL, if it leads straight to a server; otherwise the store polls for changes
   */
  readonly listenUrl?: string
  /**
   * How often the store polls for changes of other processes where it cannot listen: with one statement for all followed
   * threads. So it is about the longest time until such a change is seen.
   * @default 250
   */
  readonly pollMs?: number
  /**
   * The most connections at once, besides the one that listens for changes. From two on, one of them is reserved for commits.
   * @default 10
   */
  readonly poolSize?: number
  /**
   * How long connecting may take, or waiting for a connection that is in use. After that the caller fails with 503, and
   * nothing was stored.
   * @default 5000
   */
  readonly connectTimeoutMs?: number
  /**
   * How long a statement may take. The server ends it at four fifths of this, and stops waiting for a lock at three fifths;
   * a connection without an answer by then is dropped and replaced, and a commit that was in flight is looked up before it
   * is written again. Statements of a deletion, a rewriting import, a repair or a commit of thousands of rows may take
   * twelve times as long.
   * @default 5000
   */
  readonly statementTimeoutMs?: number
  /**
   * Called with faults that no verb can return, such as the loss of an idle connection. @default they are
   * dropped
   */
  readonly onError?: (error: unknown) => void
}

/** Where the tables are: a URL, or a pool of the host's. */
export type PostgresSource = { readonly url: string } | { readonly pool: HostPool }

/** The store, with the verbs that it always has. */
export type PostgresStore = Store & Required<Pick<Store, 'migrate'>>

export const postgresRules: OptionTable<PostgresStoreOptions> = {
  schema: {
    range: 'a name of 1 to 63 letters, digits and "_" that does not begin with a digit',
    fits: (value) => typeof value === 'string' && /^[A-Za-z_]\w{0,62}$/.test(value),
    default: '"holdfast"',
  },
  listenUrl: {
    range: 'a postgres:// address',
    fits: (value) => typeof value === 'string',
    default: 'the address itself, or polling',
  },
  pollMs: milliseconds(10, 3_600_000, '250'),
  poolSize: wholeNumber(1, 10_000, '10'),
  connectTimeoutMs: milliseconds(100, 600_000, '5,000'),
  statementTimeoutMs: milliseconds(100, 600_000, '5,000'),
  onError: callback('nobody is told'),
}

const migrateRules: OptionTable<MigrateOptions> = {
  partitions: wholeNumber(1, 1_024, 'not spread'),
}

/**
 * A store in one database, for any number of servers. It connects, and creates its tables, on first use.
 *
 * @param source a URL (`postgres://…`, or `{ url }`; it may lead through a pooler in transaction mode), or
 * `{ pool }`: a pool of the host's, that of `pg` or one with the same methods. No session settings of a pool are changed,
 * and it is not ended with the store; `poolSize` is then the host's, and the store polls for changes of other processes
 * every `pollMs` unless there is a `listenUrl`.
 *
 * @example
 * const store = postgres({ pool }, { schema: 'chat', listenUrl: process.env.DIRECT_DATABASE_URL })
 */
export function postgres(
  source: string | PostgresSource,
  options: PostgresStoreOptions = {},
): PostgresStore {
  const from = parseSource(source)
  if (typeof options === 'object' && options !== null) refuseParts(Object.keys(options))
  checkOptions('postgres', options, postgresRules, otherNames)
  if ('pool' in from && options.poolSize !== undefined) {
    throw badOption('postgres: the option "poolSize" is for an address; a pool has its own.')
  }
  const { schema = 'holdfast', poolSize = 10, pollMs = 250, listenUrl } = options
  const { connectTimeoutMs = 5_000, statementTimeoutMs = 5_000 } = options
  const quoted = `"${schema}"`
  const onError = (error: unknown) =>
    callObserver(
      () => options.onError?.(toStoreFault(error)),
      () => {},
    )
  const clock = createSteadyClock()
  const database = createDatabase({
    source: from,
    schema,
    poolSize,
    connectTimeoutMs,
    statementTimeoutMs,
    onError,
  })
  const threadStatements = createThreadStatements(quoted)
  const threads = createThreadVerbs(database, threadStatements)
  const leases = createLeaseVerbs(database.run, quoted, clock)
  const writeWhole = createWholeWriter(database, quoted, threadStatements)
  const ledger = createPostgresSource(database.run, createLedgerStatements(quoted))
  const write = createCommitWriter(database.runCommit, quoted, {
    readFate: createFateReader(database.run, quoted),
    runLong: (statement, values) => database.transaction((run) => run(statement, values)),
    runBriefly: database.runCommitBriefly,
    clock,
  })
  const feed = createChangeFeed({
    database,
    schema,
    pollMs,
    listenUrl,
    connectTimeoutMs,
    limitMs: statementTimeoutMs,
    onError,
  })
  const { publish } = feed

  return {
    kind: 'postgres',
    audit: createPostgresAudit(database, quoted),
    files: createPostgresFileRecords(database, quoted),
    defaultFileStore: () => createPostgresFiles(database, quoted),
    ...threads,
    ...leases,
    search: createPostgresSearch(database.run, quoted),
    shares: createPostgresShareRecords(database, quoted),
    ...createLedgerReader(ledger),

    readSeqs: async (ids) => (await feed.readSeqs(ids)) ?? threads.readSeqs(ids),

    async deleteThread(id, only) {
      const deleted = await threads.deleteThread(id, only)
      if (deleted === null) return null
      const { messages, incarnation } = deleted
      publish([{ threadId: id, seq: 0, incarnation }])
      return { messages }
    },

    async commit(commits) {
      try {
        const results = await write(commits)
        publish(changedThreads(commits, results))
        return results
      } catch (error) {
        // The commit may have been stored without its notification, so every follower has to read again.
        if (isLost(error)) publish([everything])
        throw error
      }
    },

    async rewriteThread(rewrite) {
      const { threadId } = rewrite
      try {
        const end = await rewriteThread(database, quoted, rewrite, clock)
        if (typeof end === 'string') return end
        publish([{ threadId, seq: end }])
        return 'rewritten'
      } catch (error) {
        if (isLost(error)) publish([everything])
        throw error
      }
    },

    async createWhole(thread) {
      const result = await writeWhole(thread)
      if (result === 'created') publish([{ threadId: thread.threadId, seq: 1 }])
      return result
    },

    async requestStop(threadId, only) {
      const { seq, ...request } = await leases.requestStop(threadId, only)
      if (seq !== undefined) publish([{ threadId, seq, stop: true }])
      return request
    },

    problem: feed.problem,
    watch: feed.watch,
    async migrate(chosen = {}) {
      checkOptions('migrate', chosen, migrateRules)
      return database.migrate(chosen)
    },

    async close() {
      await feed.close()
      await database.close()
    },
  }
}

/** No error contains the URL: it may hold a password. */
function parseSource(source: unknown): PostgresSource {
  if (typeof source === 'string') return { url: source }
  if (hasConnect(source)) throw badOption('postgres takes a pool as { pool }, not the pool itself.')
  if (source instanceof URL) throw badOption('postgres takes an address as a string: url.href.')
  if (typeof source !== 'object' || source === null || Array.isArray(source)) {
    throw badOption(
      `postgres takes a postgres:// address, { url } or { pool }, not ${describeValue(source)}.`,
    )
  }
  const { url, pool, ...others } = source as Readonly<Record<string, unknown>>
  refuseOthers(pool === undefined ? 'url' : 'pool', Object.keys(others))
  if (url !== undefined && pool !== undefined) {
    throw badOption('postgres takes { url } or { pool }, not both.')
  }
  if (typeof url === 'string') return { url }
  if (hasConnect(pool)) return { pool }
  throw badOption(
    url !== undefined
      ? `postgres: the option "url" must be a postgres:// address, not ${describeValue(url)}.`
      : pool !== undefined
        ? `postgres: the option "pool" must be a pool of pg, or one with its \`connect\`, not ${describeValue(pool)}.`
        : 'postgres needs the option "url": a postgres:// address; or "pool": a pool of pg.',
  )
}

/** Options in the first argument, beside the source: they would have no effect. */
function refuseOthers(source: 'url' | 'pool', names: readonly string[]): void {
  refuseParts(names)
  const known = Object.keys(postgresRules)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw badOption(unknownName('postgres', unknown, ['url', 'pool', ...known], otherNames))
  }
  const [first, ...more] = names
  if (first === undefined) return
  const quoted = names.map((name) => `"${name}"`)
  const listed =
    more.length === 0
      ? `option ${quoted[0]} belongs in`
      : `options ${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)} belong in`
  throw badOption(
    `postgres: the ${listed} the second argument: postgres({ ${source} }, { ${names.join(', ')} }).`,
  )
}

/** Settings of the driver that are parts of a URL. */
function refuseParts(names: readonly string[]): void {
  const name = names.find((each) => Object.hasOwn(partsOfAddress, each))
  if (name === undefined) return
  throw badOption(`postgres has no option "${name}". ${partsOfAddress[name]}`)
}

const wholeAddress =
  'It is part of the address: { url: "postgres://user:password@host:5432/database" }.'

const partsOfAddress: Readonly<Record<string, string>> = {
  ssl: 'TLS is set in the address: "postgres://…/database?sslmode=verify-full".',
  host: wholeAddress,
  port: wholeAddress,
  user: wholeAddress,
  password: wholeAddress,
  database: wholeAddress,
}

const otherNames = {
  connectionString: 'url',
  uri: 'url',
  max: 'poolSize',
  connections: 'poolSize',
}

const hasConnect = (value: unknown): value is HostPool =>
  typeof value === 'object' &&
  value !== null &&
  'connect' in value &&
  typeof value.connect === 'function'
