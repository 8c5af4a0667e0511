import { changedThreads, commitGroup } from '../commit-group.ts'
import { createHintBoard } from '../hint-board.ts'
import { isHeld } from '../lease.ts'
import { createLedgerReader } from '../ledger-rows.ts'
import type { PlannedCommit } from '../plan-commit.ts'
import type { AppendResult, Store } from '../store.ts'
import { createSqliteAudit } from './audit.ts'
import { createConnection } from './connection.ts'
import { watchForeignChanges } from './foreign-changes.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { isHolderAlive, processHolder } from './process-holder.ts'
import { createSqliteSource } from './read-rows.ts'
import { isConflict } from './sqlite-error.ts'
import { writeCommit } from './write-commit.ts'

export interface SqliteStoreOptions {
  readonly now?: () => number
  /** Whether the process behind a holder still lives; a dead one's lease counts as run out. */
  readonly isAlive?: (holder: string) => boolean
  /** How often to look for changes by other processes, while somebody watches. */
  readonly pollMs?: number
  /** How long to wait for another process that is writing. */
  readonly busyTimeoutMs?: number
}

/** One file for one machine; any number of its processes may use it at once. Opened at once. */
export function sqlite(file: string, options: SqliteStoreOptions = {}): Store {
  const { now = Date.now, isAlive = isHolderAlive, pollMs = 50, busyTimeoutMs = 5000 } = options
  const connection = createConnection(file, busyTimeoutMs)
  const hints = createHintBoard()
  const holder = processHolder()
  const audit = createSqliteAudit({ file, busyTimeoutMs, now, isAlive })
  let stopPolling: (() => void) | undefined

  const write = (commits: readonly PlannedCommit[]): readonly AppendResult[] =>
    connection.write((statements) => {
      const nextCounter = createCounter(statements)
      return commits.map((commit) => writeCommit(statements, commit, { now, isAlive, nextCounter }))
    })

  return {
    kind: 'sqlite',
    // A database in memory is seen by its own connection only.
    ...(file === ':memory:' ? {} : { audit }),
    holder: () => holder,

    async createThread(wanted) {
      return connection.write((statements) => {
        const { id, ownerId, title, at } = wanted
        const found = statements.readThread.get(id)
        if (found !== undefined) {
          return found.ownerId === ownerId
            ? { kind: 'exists', thread: { ...found } }
            : { kind: 'taken' }
        }
        const counter = createCounter(statements)()
        statements.insertThread.run({
          ...{ id, ownerId, title, at, updatedAt: at, seq: 0, counter },
          ...{ fence: 0, holder: null, turnId: null, until: null },
        })
        const dates = { createdAt: at, updatedAt: at }
        return {
          kind: 'created',
          thread: { id, ownerId, title, ...dates, seq: 0, activity: counter },
        }
      })
    },

    async readThread(id) {
      return connection.read(({ readThread }) => {
        const found = readThread.get(id)
        return found === undefined ? null : { ...found }
      })
    },

    async listThreads({ ownerId, limit, before }) {
      const found = connection.read(({ listThreads }) =>
        listThreads.all(ownerId, before ?? Number.MAX_SAFE_INTEGER, limit + 1),
      )
      return {
        threads: found.slice(0, limit).map((thread) => ({ ...thread })),
        hasMore: found.length > limit,
      }
    },

    async deleteThread(id) {
      const isDeleted = connection.write((statements) => {
        const thread = statements.readKey.get(id)?.thread
        if (thread === undefined) return false
        statements.raiseCounter.run(createCounter(statements)())
        statements.deleteThread.run(thread)
        statements.deleteMessages.run(thread)
        statements.deleteEvents.run(thread)
        statements.deleteCalls.run(thread)
        return true
      })
      if (isDeleted) hints.post([{ threadId: id, seq: 0 }])
      return isDeleted
    },

    async commit(commits) {
      const results = await commitGroup(commits, async (group) => write(group), isConflict)
      hints.post(changedThreads(commits, results))
      return results
    },

    ...createLedgerReader(createSqliteSource(connection)),

    async requestStop(threadId) {
      const request = connection.write((statements) => {
        const row = statements.readHead.get(threadId)
        if (row === undefined) return { kind: 'no-thread' } as const
        const { turnId, fence, seq } = row
        if (turnId === null) return { kind: 'idle' } as const
        statements.requestStop.run(createCounter(statements)(), row.thread)
        return { kind: 'requested', turnId, fence, seq } as const
      })
      if (request.kind !== 'requested') return request
      const { seq, ...requested } = request
      hints.post([{ threadId, seq, stop: true }])
      return requested
    },

    async findAbandonedRuns(limit, only) {
      return connection
        .read(({ findLeases, findLease }) =>
          only === undefined ? findLeases.all() : findLease.all(only),
        )
        .filter((lease) => !isHeld(lease, { now, isAlive }))
        .slice(0, limit)
        .map(({ threadId, turnId, holder, fence }) => ({ threadId, turnId, holder, fence }))
    },

    watch(listener) {
      stopPolling ??= watchForeignChanges(connection, pollMs, (found) => hints.post(found))
      const stop = hints.watch(listener)
      return () => {
        stop()
        if (hints.size > 0) return
        stopPolling?.()
        stopPolling = undefined
      }
    },

    async close() {
      stopPolling?.()
      stopPolling = undefined
      audit.close()
      connection.close()
    },
  }
}

/** Each number is written where it is used, before the next is asked for. */
const createCounter =
  ({ readCounter }: LedgerStatements): (() => number) =>
  () =>
    (readCounter.get()?.last ?? 0) + 1
