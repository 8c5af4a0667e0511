import { setTimeout as pause } from 'node:timers/promises'
import { callsOf } from '../../core/message.ts'
import {
  badOption,
  callback,
  checkOptions,
  describeValue,
  milliseconds,
  type OptionTable,
} from '../../core/check-options.ts'
import type { Seq, ThreadId } from '../../core/ids.ts'
import { createHintBoard } from '../hint-board.ts'
import { type AppendPlan, planAppend } from '../plan-append.ts'
import { toRewriteFault } from '../rewrite-fault.ts'
import type { Append, AppendResult, Hint, Store } from '../store.ts'
import { appendToLedger } from './append-to-ledger.ts'
import { createSqliteAudit } from './audit.ts'
import { isHeld } from './check-lease.ts'
import { createConnection } from './connection.ts'
import { insertEmptyThread } from './create-thread.ts'
import { watchForeignChanges } from './foreign-changes.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { isHolderAlive, processHolder } from './process-holder.ts'
import { readChanges } from './read-changes.ts'
import { readPage } from './read-page.ts'
import { isLocked } from './sqlite-error.ts'
import { createSteadyRuns, UnsteadyError } from './steady-runs.ts'
import { mostBytes, readMessageRow, readTurn } from './read-turn.ts'

export interface SqliteStoreOptions {
  readonly now?: () => number
  /** Whether the process behind a holder still lives; a dead one's lease counts as run out. */
  readonly isAlive?: (holder: string) => boolean
  /** How often to look for changes by other processes, while somebody watches. */
  readonly pollMs?: number
  /** How long to wait for another process that is writing. */
  readonly busyTimeoutMs?: number
}

export const sqliteRules: OptionTable<SqliteStoreOptions> = {
  now: callback('the system’s clock'),
  isAlive: callback('asks the operating system'),
  pollMs: milliseconds(1, 3_600_000, '50'),
  busyTimeoutMs: milliseconds(0, 600_000, '1,500'),
}

const retryMs = 10

/** The verbs of a connection, when they may have to wait. */
interface AsyncConnection {
  read<Result>(work: (statements: LedgerStatements) => Result): Promise<Result>
  write<Result>(work: (statements: LedgerStatements) => Result): Promise<Result>
}

interface Planned {
  readonly append: Append
  readonly plan: AppendPlan
}

/** One file for one machine; any number of its processes may use it at once. Opened at once. */
export function sqlite(file: string, options: SqliteStoreOptions = {}): Store {
  // SQLite takes an empty name for a database of its own that nobody can find again.
  if (typeof file !== 'string' || file.trim() === '') {
    throw badOption(`sqlite takes the name of a file, not ${describeValue(file)}.`)
  }
  checkOptions('sqlite', options, sqliteRules)
  const { now = Date.now, isAlive = isHolderAlive, pollMs = 50, busyTimeoutMs = 1_500 } = options
  const connection = createConnection(file, busyTimeoutMs)
  const hints = createHintBoard()
  const holder = processHolder()
  const full = mostBytes('full')
  const audit = createSqliteAudit({ file, busyTimeoutMs, now, isAlive })
  let stopPolling: (() => void) | undefined

  /** Another process may hold the file for a moment. The waiting is ours, not SQLite's: others go on meanwhile. */
  const patiently = async <Result>(work: () => Result): Promise<Result> => {
    const begun = performance.now()
    for (;;) {
      try {
        return work()
      } catch (error) {
        if (!isLocked(error) || performance.now() - begun >= busyTimeoutMs) throw error
        await pause(retryMs)
      }
    }
  }
  const read: AsyncConnection['read'] = (work) => patiently(() => connection.read(work))
  const write: AsyncConnection['write'] = (work) => patiently(() => connection.write(work))

  const runs = createSteadyRuns()
  const commitPlans = (plans: readonly Planned[], isShort = true): readonly AppendResult[] => {
    try {
      return connection.write((statements) => {
        const nextCounter = createCounter(statements)
        const context = { now, isAlive, nextCounter, runs }
        return plans.map(({ append, plan }) => {
          const result = isShort ? runs.append(statements, append, plan) : undefined
          return result ?? appendToLedger(statements, append, plan, context)
        })
      })
    } catch (error) {
      // Nothing of it was written, whatever it seemed to leave.
      for (const { append } of plans) runs.forget(append.threadId)
      if (error instanceof UnsteadyError) return commitPlans(plans, false)
      throw error
    }
  }

  return {
    kind: 'sqlite',
    // A database in memory is seen by its own connection only.
    ...(file === ':memory:' ? {} : { audit }),
    holder: () => holder,

    async createThread(wanted) {
      return write((statements) => {
        const { id, ownerId, title, at } = wanted
        const found = statements.readThread.get(id)
        if (found !== undefined) {
          return found.ownerId === ownerId
            ? { kind: 'exists', thread: { ...found } }
            : { kind: 'taken' }
        }
        const counter = createCounter(statements)()
        insertEmptyThread(statements, wanted, counter)
        const dates = { createdAt: at, updatedAt: at }
        return {
          kind: 'created',
          thread: { id, ownerId, title, ...dates, seq: 0, activity: counter },
        }
      })
    },

    async readThread(id) {
      return read(({ readThread }) => {
        const found = readThread.get(id)
        return found === undefined ? null : { ...found }
      })
    },

    async listThreads({ ownerId, limit, before }) {
      const found = await read(({ listThreads }) =>
        listThreads.all(ownerId, before ?? Number.MAX_SAFE_INTEGER, limit + 1),
      )
      return {
        threads: found.slice(0, limit).map((thread) => ({ ...thread })),
        hasMore: found.length > limit,
      }
    },

    async deleteThread(id) {
      const isDeleted = await write((statements) => {
        const thread = statements.readPlace.get(id)?.thread
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

    async commit(appends) {
      const plans = appends.map((append) => ({ append, plan: planAppend(append.events) }))
      const results = await patiently(() => commitPlans(plans))
      const changed = new Map<ThreadId, Hint>()
      for (const [index, { append, plan }] of plans.entries()) {
        const result = results[index]
        if (result?.kind !== 'appended' || plan.size === 0) continue
        changed.set(append.threadId, { threadId: append.threadId, seq: result.seq })
      }
      hints.post([...changed.values()])
      return results
    },

    async rewriteThread({ threadId, expectedSeq, from, appends }) {
      const planned = appends.map((append) => ({
        append: { threadId, ...append },
        plan: planAppend(append.events),
      }))
      const end = connection.write((statements): 'stale' | 'leased' | Seq => {
        const row = statements.readLease.get(threadId)
        if (row === undefined || row.seq !== expectedSeq) return 'stale'
        if (isHeld(row, { now, isAlive })) return 'leased'
        statements.deleteMessagesFrom.run(row.thread, from)
        statements.deleteEventsFrom.run(row.thread, from)
        statements.deleteCallsFrom.run(row.thread, from)
        runs.forget(threadId)
        const context = { now, isAlive, nextCounter: createCounter(statements), runs }
        let seq = row.seq
        for (const { append, plan } of planned) {
          const result = appendToLedger(statements, append, plan, context)
          if (result.kind !== 'appended') throw toRewriteFault(result)
          seq = result.seq
        }
        return seq
      })
      if (typeof end === 'string') return end
      hints.post([{ threadId, seq: end }])
      return 'rewritten'
    },

    async readPage(query) {
      return read((statements) => readPage(statements, query))
    },

    async readChanges(query) {
      return read((statements) => readChanges(statements, query))
    },

    async readMessage(threadId, messageId) {
      return read((statements) => {
        const thread = statements.readPlace.get(threadId)?.thread
        if (thread === undefined) return null
        const row = statements.readMessage.get(thread, messageId)
        return row === undefined ? null : readMessageRow(statements, thread, row, full)
      })
    },

    async findTurn(messageId) {
      return read((statements) => {
        const row = statements.findTurn.get(messageId)
        if (row === undefined) return null
        const { thread, threadId, ownerId } = row
        return { threadId, ownerId, turn: readTurn(statements, thread, row, full) }
      })
    },

    async readCall(threadId, callId) {
      return read((statements) => {
        const thread = statements.readPlace.get(threadId)?.thread
        if (thread === undefined) return null
        // One that has no row is of the turn that is running.
        const place =
          statements.readLife.get(thread, callId)?.turn ?? statements.findRunning.get(thread)?.seq
        const row = place === undefined ? undefined : statements.readMessageAt.get(thread, place)
        if (row === undefined) return null
        const turn = readTurn(statements, thread, row, full)
        for (const call of callsOf(turn)) if (call.id === callId) return { call, turn }
        return null
      })
    },

    async requestStop(threadId) {
      const request = await write((statements) => {
        const row = statements.readLease.get(threadId)
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

    async findAbandonedRuns(limit) {
      const leases = await read(({ findLeases }) => findLeases.all())
      return leases
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
