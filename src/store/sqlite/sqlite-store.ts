import { setTimeout as pause } from 'node:timers/promises'
import { callback, checkOptions, milliseconds, type OptionTable } from '../../core/check-options.ts'
import type { Seq } from '../../core/ids.ts'
import { type PausableWork, runToEnd } from '../../core/pausable-work.ts'
import { folderFiles } from '../../files/folder-files.ts'
import { memoryFiles } from '../../files/memory-files.ts'
import { changedThreads, commitGroup, isLong } from '../commit-group.ts'
import { createLocalNotifier } from '../local-notifier.ts'
import { isAnother } from '../../core/thread-place.ts'
import { isHeld, type IsHolderAlive, isRunToStop, isStale } from '../lease.ts'
import { createLedgerReader } from '../ledger-reader.ts'
import { createPacer, runPaced } from '../pacer.ts'
import type { PlannedCommit } from '../plan-commit.ts'
import { drawMark } from '../place-evidence.ts'
import { judgeRewrite, planRewriteInSteps, toRewriteFault } from '../plan-rewrite.ts'
import type { AppendResult, Store } from '../store.ts'
import { firstTitleNote, toMetadataText, toThreadList, toThreadRecord } from '../thread-row.ts'
import { createSqliteAudit } from './audit.ts'
import { type AsyncConnection, createConnection } from './connection.ts'
import { createSqliteFileRecords } from './file-records.ts'
import { createFairTurns } from './fair-turns.ts'
import { parseFileName } from './file-name.ts'
import { watchForeignChanges } from './foreign-changes.ts'
import {
  createStaged,
  deletionsFrom,
  hideLeftovers,
  hideThread,
  removeHidden,
} from './hidden-threads.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { createLongWrites } from './long-writes.ts'
import { looksFull } from './open-database.ts'
import { isHolderAlive, processHolder } from './process-holder.ts'
import { createSqliteSource } from './read-rows.ts'
import { createSqliteSearch } from './search-index.ts'
import { createSqliteShareRecords } from './share-records.ts'
import { isConflict, isLocked } from './sqlite-error.ts'
import { writeCommit } from './write-commit.ts'

/** Options of `sqlite`. */
export interface SqliteStoreOptions {
  /** The clock of leases. @default Date.now */
  readonly now?: () => number
  /**
   * Whether the process of a lease's holder lives. True: its lease binds even after its time. False: the process is gone,
   * and its runs are taken over at once. Undefined: unknown, and the lease's time decides.
   * @default asks the operating system
   */
  readonly isAlive?: IsHolderAlive
  /** How often to poll for changes by other processes, while anything watches. @default 50 */
  readonly pollMs?: number
  /** How long to wait for another process that is writing; then the write fails, and is tried again. @default 1,500 */
  readonly busyTimeoutMs?: number
}

export const sqliteRules: OptionTable<SqliteStoreOptions> = {
  now: callback('the system’s clock'),
  isAlive: callback('asks the operating system'),
  pollMs: milliseconds(1, 3_600_000, '50'),
  busyTimeoutMs: milliseconds(0, 600_000, '1,500'),
}

const retryMs = 10

/**
 * A store in one file, for the processes of one machine, any number of which may use it at the same time. The
 * file is opened at once.
 *
 * @param file its name, or a `file:` address without parameters; `':memory:'` keeps nothing.
 */
export function sqlite(file: string, options: SqliteStoreOptions = {}): Store {
  const name = parseFileName(file)
  checkOptions('sqlite', options, sqliteRules)
  const { now = Date.now, pollMs = 50, busyTimeoutMs = 1_500 } = options
  const connection = createConnection(name, busyTimeoutMs)
  const { identity } = connection
  const isAlive = options.isAlive ?? ((other: string) => isHolderAlive(other, identity))
  const notifications = createLocalNotifier()
  const holder = processHolder(identity)
  const audit = createSqliteAudit({ file: name, busyTimeoutMs, now, isAlive })
  const waitForTurn = createFairTurns()
  let stopPolling: (() => void) | undefined

  /**
   * Another process may hold the file for a moment. The wait happens here and not in SQLite, so that the
   * process is not blocked.
   */
  const retryWhileLocked = async <Result>(
    work: () => Result,
    waitFor: () => Promise<void> | undefined,
  ): Promise<Result> => {
    let begun: number | undefined
    for (;;) {
      // Several callers may wait for one turn of the loop, and the first of them may use all of it.
      for (let turn = waitFor(); turn !== undefined; turn = waitFor()) await turn
      begun ??= performance.now()
      try {
        return work()
      } catch (error) {
        if (!isLocked(error) || performance.now() - begun >= busyTimeoutMs) throw error
        await pause(retryMs)
      }
    }
  }
  const longWrites = createLongWrites(connection)
  const untilWritable = () => longWrites.current() ?? waitForTurn()
  const untilReadable = connection.path === '' ? untilWritable : waitForTurn
  const read: AsyncConnection['read'] = (work) =>
    retryWhileLocked(() => connection.read(work), untilReadable)
  const write: AsyncConnection['write'] = (work) =>
    retryWhileLocked(() => connection.write(work), untilWritable)
  const writeInSteps = async <Result>(
    work: (statements: LedgerStatements) => PausableWork<Result>,
  ): Promise<Result> => {
    const run = await retryWhileLocked(() => longWrites.begin(), untilWritable)
    return run(work)
  }

  // Cleans up after a process that died during a deletion: once, and without an error if the file is locked,
  // because the next start does it too.
  const removeLeftovers = async () => {
    const isLeft = await read(({ findStaged }) => findStaged.get(now()) !== undefined)
    if (isLeft) await write((statements) => hideLeftovers(statements, now(), nextCounterOf))
    await removeHidden({ read, write })
  }
  void removeLeftovers().catch(() => undefined)

  const writeGroup = (commits: readonly PlannedCommit[]): Promise<readonly AppendResult[]> => {
    const writeAll = function* (statements: LedgerStatements): PausableWork<AppendResult[]> {
      const context = { now, isAlive, nextCounter: createCounter(statements) }
      const results: AppendResult[] = []
      for (const commit of commits) results.push(yield* writeCommit(statements, commit, context))
      return results
    }
    return isLong(commits)
      ? writeInSteps(writeAll)
      : write((statements) => runToEnd(writeAll(statements)))
  }

  const deleteThread: Store['deleteThread'] = async (id, only = {}) => {
    const deleted = await write((statements) => {
      const found = statements.readHead.get(id)
      if (found === undefined || isStale(found, only)) return null
      const { thread, incarnation } = found
      statements.shares.hideSharesOfThread.run(id)
      const messages = hideThread(statements, thread, createCounter(statements)())
      return { messages, incarnation }
    })
    if (deleted === null) return null
    const { messages, incarnation } = deleted
    notifications.post([{ threadId: id, seq: 0, incarnation }])
    await removeHidden({ read, write })
    return { messages }
  }

  return {
    kind: 'sqlite',
    // A database in memory is visible to its own connection only.
    ...(name === ':memory:' ? {} : { audit }),
    holder: () => holder,
    files: createSqliteFileRecords({ read, write }),
    // Beside the database, so that one copy of the folder has both.
    defaultFileStore: () => (name === ':memory:' ? memoryFiles() : folderFiles(`${name}-files`)),

    async createThread(wanted) {
      return write((statements) => {
        const { id, ownerId, title, metadata = {}, at } = wanted
        const found = statements.readThread.get(id)
        if (found !== undefined) {
          return found.ownerId === ownerId
            ? { kind: 'exists', thread: toThreadRecord(found) }
            : { kind: 'taken' }
        }
        const counter = createCounter(statements)()
        statements.insertThread.run({
          ...{ id, ownerId, title, at, updatedAt: at, seq: 0, counter },
          ...{ fence: 0, holder: null, turnId: null, until: null },
          ...{ incarnation: drawMark(), mark: '', titleNote: firstTitleNote(wanted) },
        })
        const text = toMetadataText(metadata)
        if (text !== '{}') statements.setMetadata.run({ id, from: '{}', to: text })
        const made = statements.readThread.get(id)
        if (made === undefined) throw new Error('A thread that was inserted is not there.')
        return { kind: 'created', thread: toThreadRecord(made) }
      })
    },

    async readThread(id) {
      return read(({ readThread }) => {
        const found = readThread.get(id)
        return found === undefined ? null : toThreadRecord(found)
      })
    },

    async listThreads({ ownerId, limit, before, filter }) {
      const from = before ?? Number.MAX_SAFE_INTEGER
      const found = await read(({ listThreads, listByArchive, listPinned }) => {
        if (filter === undefined) return listThreads.all(ownerId, from, limit + 1)
        const list = filter.pinned === true ? listPinned : listByArchive
        return list.all(ownerId, Number(filter.archived), from, limit + 1)
      })
      return toThreadList(found, limit)
    },

    async setThreadMetadata({ threadId: id, incarnation, from, to }) {
      return write((statements) => {
        const found = statements.readKey.get(id)
        if (found === undefined) return 'no-thread'
        if (isAnother(incarnation ?? '', found.incarnation)) return 'stale'
        const values = { id, from: toMetadataText(from), to: toMetadataText(to) }
        return Number(statements.setMetadata.run(values).changes) > 0 ? 'set' : 'stale'
      })
    },

    async createWhole(thread) {
      const result = await createStaged(
        {
          write,
          writeInSteps,
          nextCounter: nextCounterOf,
          commit: async (commit) => (await commitGroup([commit], writeGroup, isConflict))[0],
          discard: deleteThread,
        },
        thread,
      )
      if (result === 'created') notifications.post([{ threadId: thread.threadId, seq: 1 }])
      return result
    },

    deleteThread,
    problem: () => (looksFull(connection.path) ? 'store-full' : null),

    async commit(commits) {
      const results = await commitGroup(commits, writeGroup, isConflict)
      notifications.post(changedThreads(commits, results))
      return results
    },

    async rewriteThread(rewrite) {
      const { threadId, from } = rewrite
      const commits = await runPaced(planRewriteInSteps(rewrite), createPacer())
      const rewriteRows = function* (
        statements: LedgerStatements,
      ): PausableWork<'stale' | 'leased' | Seq> {
        const row = statements.readHead.get(threadId)
        if (row === undefined) return 'stale'
        const hasLease = isHeld(row, { now, isAlive })
        const head = { ...row, isHeld: hasLease, hasQueue: row.hasQueue === 1 }
        const refusal = judgeRewrite(head, rewrite)
        if (refusal !== null) return refusal
        statements.deleteInputsFrom.run({ thread: row.thread, from })
        for (const deleteSome of deletionsFrom(statements, row.thread, from)) {
          while (deleteSome() > 0) yield
        }
        const nextCounter = createCounter(statements)
        let { seq } = row
        for (const commit of commits) {
          const result = yield* writeCommit(statements, commit, { now, isAlive, nextCounter })
          if (result.kind !== 'appended') throw toRewriteFault(result)
          ;({ seq } = result)
        }
        return seq
      }
      const end = await writeInSteps(rewriteRows).catch((error: unknown) => {
        const subject = isConflict(error)
        throw subject === null
          ? error
          : toRewriteFault({ kind: 'illegal', subject, id: '', state: 'exists' })
      })
      if (typeof end === 'string') return end
      notifications.post([{ threadId, seq: end }])
      return 'rewritten'
    },

    search: createSqliteSearch({ read, write, writeInSteps }),
    shares: createSqliteShareRecords({ read, write }),
    ...createLedgerReader(createSqliteSource({ read })),

    async findInput(threadId, messageId) {
      return read((statements) => {
        const row = statements.readKey.get(threadId)
        const found = row && statements.findInput.get(row.thread, messageId)
        return found === undefined ? null : { turnId: found.turnId }
      })
    },

    async requestStop(threadId, only = {}) {
      const request = await write((statements) => {
        const row = statements.readHead.get(threadId)
        if (row === undefined) return { kind: 'no-thread' } as const
        const { turnId, fence, seq } = row
        if (turnId === null || !isRunToStop({ ...row, turnId }, only)) {
          return { kind: 'idle' } as const
        }
        statements.requestStop.run(createCounter(statements)(), row.thread)
        return { kind: 'requested', turnId, fence, seq } as const
      })
      if (request.kind !== 'requested') return request
      const { seq, ...requested } = request
      notifications.post([{ threadId, seq, stop: true }])
      return requested
    },

    async findAbandonedRuns(limit, only) {
      const leases = await read(({ findLeases, findLease }) =>
        only === undefined ? findLeases.all() : findLease.all(only),
      )
      return leases
        .filter((lease) => !isHeld(lease, { now, isAlive }))
        .slice(0, limit)
        .map(({ threadId, turnId, holder, fence }) => ({ threadId, turnId, holder, fence }))
    },

    watch(listener) {
      stopPolling ??= watchForeignChanges(connection, pollMs, (found) => notifications.post(found))
      const stop = notifications.watch(listener)
      return () => {
        stop()
        if (notifications.size > 0) return
        stopPolling?.()
        stopPolling = undefined
      }
    },

    async close() {
      stopPolling?.()
      stopPolling = undefined
      audit.close()
      longWrites.close()
      connection.close()
    },
  }
}

const nextCounterOf = (statements: LedgerStatements): number => createCounter(statements)()

/** Each number is written where it is used, before the next one is read. */
const createCounter =
  ({ readCounter }: LedgerStatements): (() => number) =>
  () =>
    (readCounter.get()?.last ?? 0) + 1
