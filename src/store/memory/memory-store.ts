import { callback, checkOptions, type OptionTable } from '../../core/check-options.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { Seq, ThreadId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { callsOf, type Message, type Turn } from '../../core/message.ts'
import { memoryFiles } from '../../files/memory-files.ts'
import { type ListedThread, longestTitle } from '../../core/thread.ts'
import { createLocalNotifier } from '../local-notifier.ts'
import { isAnother } from '../../core/thread-place.ts'
import { isHeld, type IsHolderAlive, isRunToStop, isStale, newThreadHead } from '../lease.ts'
import type { Append } from '../plan-commit.ts'
import { fitBytes, jsonLength, omitInChange, omitLargeOutputs } from '../large-outputs.ts'
import { drawMark } from '../place-evidence.ts'
import { judgeRewrite, planRewrite, toRewriteFault } from '../plan-rewrite.ts'
import type { ChangeNotification, NewThread, Store } from '../store.ts'
import { firstTitleGiver, passesFilter, toMetadataText } from '../thread-row.ts'
import { createMemoryFileRecords } from './memory-file-records.ts'
import { createPathRows, type PathRow, walkPath } from '../version-path.ts'
import { appendToMemory } from './memory-append.ts'
import { createMemoryShareRecords } from './memory-share-records.ts'
import { createMemorySearch } from './memory-search.ts'
import {
  type MemoryMessage,
  type MemoryThread,
  readMemoryChanges,
  readMemoryMessage,
  readMemoryPlace,
  readMemoryTurn,
} from './memory-thread.ts'

/** Options of `memory`. */
export interface MemoryStoreOptions {
  /** The clock of leases. @default a monotonic clock */
  readonly now?: () => number
  /**
   * Whether the process of a lease's holder lives. True: its lease binds even after its time. False: the process is gone,
   * and its runs are taken over at once. Undefined: unknown, and the lease's time decides.
   * @default unknown
   */
  readonly isAlive?: IsHolderAlive
}

export const memoryRules: OptionTable<MemoryStoreOptions> = {
  now: callback('a clock that does not jump'),
  isAlive: callback('not known: the lease’s time decides'),
}

/**
 * The reference implementation: the same rules as the databases, in the least code. Nothing outlives the
 * process.
 */
export function memory(options: MemoryStoreOptions = {}): Store {
  checkOptions('memory', options, memoryRules)
  const threads = new Map<ThreadId, MemoryThread>()
  const notifications = createLocalNotifier()
  // Only for leases, which never leave the process: setting the system's clock must not end them.
  const now = options.now ?? (() => Math.floor(performance.now()))
  const isAlive = options.isAlive ?? (() => undefined)
  const files = createMemoryFileRecords((id) => threads.get(id)?.thread.ownerId)
  const shares = createMemoryShareRecords(threads)
  let activity = 0
  let closed = false

  const nextActivity = () => ++activity
  const open = () => {
    if (closed) throw new HoldfastError('store-closed', 'The store has been closed.')
  }

  const newThread = (wanted: NewThread): MemoryThread => {
    const { id, ownerId, title, metadata, at } = wanted
    const incarnation = drawMark()
    return {
      thread: {
        id,
        ownerId,
        title: title.slice(0, longestTitle).toWellFormed(),
        titledBy: firstTitleGiver(wanted),
        pinned: false,
        archived: false,
        metadata: copyJson(metadata ?? {}),
        createdAt: at,
        updatedAt: at,
        seq: 0,
        activity: nextActivity(),
        queue: [],
        incarnation,
      },
      messages: [],
      events: [],
      inputs: new Map(),
      head: newThreadHead(ownerId, incarnation),
      mark: '',
    }
  }
  /** The thread that the append writes to; a new one is kept only if the append is not refused. */
  const threadFor = ({ threadId, create }: Append): MemoryThread | undefined => {
    const stored = threads.get(threadId)
    if (create === undefined) return stored
    if (stored === undefined) return newThread({ id: threadId, ...create })
    return stored.thread.ownerId === create.ownerId ? stored : undefined
  }

  return {
    kind: 'memory',
    files,
    defaultFileStore: memoryFiles,

    async createThread(wanted) {
      open()
      const found = threads.get(wanted.id)?.thread
      if (found !== undefined) {
        return found.ownerId === wanted.ownerId
          ? { kind: 'exists', thread: found }
          : { kind: 'taken' }
      }
      const stored = newThread(wanted)
      threads.set(wanted.id, stored)
      return { kind: 'created', thread: stored.thread }
    },

    async readThread(id) {
      open()
      return threads.get(id)?.thread ?? null
    },

    async listThreads({ ownerId, limit, before, filter }) {
      open()
      const mine = [...threads.values()]
        .map(({ thread: { queue: _, incarnation: _drawn, ...thread } }): ListedThread => thread)
        .filter((thread) => thread.ownerId === ownerId && passesFilter(thread, filter))
        .filter((thread) => before === null || thread.activity < before)
        .sort((left, right) => right.activity - left.activity)
      return { threads: mine.slice(0, limit), hasMore: mine.length > limit }
    },

    async setThreadMetadata({ threadId, incarnation, from, to }) {
      open()
      const stored = threads.get(threadId)
      if (stored === undefined) return 'no-thread'
      if (isAnother(incarnation ?? '', stored.head.incarnation)) return 'stale'
      if (toMetadataText(stored.thread.metadata) !== toMetadataText(from)) return 'stale'
      stored.thread = { ...stored.thread, metadata: copyJson(to) }
      return 'set'
    },

    async deleteThread(id, only = {}) {
      open()
      const stored = threads.get(id)
      if (stored === undefined || isStale(stored.head, only)) return null
      threads.delete(id)
      files.release(id)
      shares.release(id)
      notifications.post([{ threadId: id, seq: 0, incarnation: stored.head.incarnation }])
      return { messages: stored.messages.length }
    },

    async commit(commits) {
      open()
      const changed = new Map<ThreadId, ChangeNotification>()
      const results = commits.map((commit) => {
        const { append } = commit
        const stored = threadFor(append)
        if (stored === undefined) return { kind: 'no-thread' } as const
        const result = appendToMemory(stored, commit, { now, isAlive, nextActivity })
        if (result.kind === 'appended') threads.set(append.threadId, stored)
        if (result.kind === 'appended') files.commit(append.threadId, commit)
        if (result.kind === 'appended' && commit.size > 0) {
          changed.set(append.threadId, { threadId: append.threadId, seq: result.seq })
        }
        return result
      })
      notifications.post([...changed.values()])
      return results
    },

    async rewriteThread(rewrite) {
      open()
      const { threadId, from } = rewrite
      const commits = planRewrite(rewrite)
      const stored = threads.get(threadId)
      if (stored === undefined) return 'stale'
      const hasLease = isHeld(stored.head, { now, isAlive })
      const head = { ...stored.head, isHeld: hasLease, hasQueue: stored.thread.queue.length > 0 }
      const refusal = judgeRewrite(head, rewrite)
      if (refusal !== null) return refusal
      // Written to a copy, which replaces the thread once everything is written: a refusal must leave the
      // thread as it was.
      const copy: MemoryThread = {
        ...stored,
        messages: stored.messages.filter(({ seq }) => seq < from).map((entry) => ({ ...entry })),
        events: stored.events.filter(({ event }) => event.seq < from),
        inputs: new Map(stored.inputs),
      }
      for (const [id, turnId] of copy.inputs) {
        const isGone = stored.messages.some((entry) => entry.id === turnId && entry.seq >= from)
        if (isGone) copy.inputs.delete(id)
      }
      for (const commit of commits) {
        const result = appendToMemory(copy, commit, { now, isAlive, nextActivity })
        if (result.kind !== 'appended') throw toRewriteFault(result)
      }
      threads.set(threadId, copy)
      for (const commit of commits) files.commit(threadId, commit)
      notifications.post([{ threadId, seq: copy.thread.seq }])
      return 'rewritten'
    },

    async readPage(query) {
      open()
      const { threadId, limit, before, edge, live, results, maxBytes } = query
      const { order = 'newest-first' } = query
      const stored = threads.get(threadId)
      if (stored === undefined) return null
      const isRunning = (id: Message['id']) =>
        readMemoryTurn(stored, id)?.progress.status === 'running'
      const isNewest = order === 'newest-first'
      const isAfter = (seq: Seq) => before === null || (isNewest ? seq < before : seq > before)
      const kept = stored.messages
        .filter((entry) => entry.retiredSeq === null && isAfter(entry.seq))
        .filter((entry) => live === 'include' || !isRunning(entry.id))
      const shown = isNewest ? kept.toReversed() : kept
      const running = stored.messages.findLast(
        (entry) => entry.retiredSeq === null && isRunning(entry.id),
      )
      const { ownerId, seq, queue } = stored.thread
      const { incarnation } = stored.head
      const newest = stored.messages.at(-1)
      const inside = shown
        .slice(0, limit)
        .map((entry) => omitLargeOutputs(readMemoryMessage(stored, entry), results))
      const { items: messages, bytes } = takeFitting(inside, maxBytes)
      return {
        ownerId,
        seq,
        place: {
          ...{ seq, incarnation, mark: stored.mark },
          subject: newest === undefined ? '' : fingerprint(newest.id),
        },
        edge: stored.messages.find((entry) => entry.seq === edge)?.id ?? null,
        messages,
        hasMore: shown.length > messages.length,
        ...(maxBytes === undefined ? {} : { bytes }),
        live: live === 'exclude' ? (running?.id ?? null) : null,
        queue,
      }
    },

    async readChanges({ threadId, after, limit, results, maxBytes }) {
      open()
      const stored = threads.get(threadId)
      if (stored === undefined) return null
      const all = readMemoryChanges(stored, after)
      const within = all.slice(0, limit).map((change) => omitInChange(change, results))
      const { items: changes } = takeFitting(within, maxBytes)
      const { seq, queue } = stored.thread
      const reached = changes.length < all.length ? (changes.at(-1)?.seq ?? after) : seq
      return { seq, reached, changes, incarnation: stored.head.incarnation, queue }
    },

    async readPlace(threadId, seq) {
      open()
      const stored = threads.get(threadId)
      return stored === undefined ? null : readMemoryPlace(stored, seq)
    },

    async readPath(threadId, target) {
      open()
      const stored = threads.get(threadId)
      if (stored === undefined) return null
      const path = walkPath(createPathRows(stored.messages.map(toPathRow)), target)
      const { ownerId, seq } = stored.thread
      const { incarnation } = stored.head
      return path === null ? null : { ownerId, seq, incarnation, ...path }
    },

    async findInput(threadId, messageId) {
      open()
      const turnId = threads.get(threadId)?.inputs.get(messageId)
      return turnId === undefined ? null : { turnId }
    },

    async readMessage(threadId, messageId, results = 'full') {
      open()
      const stored = threads.get(threadId)
      const own = stored?.messages.filter((message) => message.id === messageId)
      const entry = own?.find(({ retiredSeq }) => retiredSeq === null) ?? own?.at(-1)
      if (stored === undefined || entry === undefined) return null
      return omitLargeOutputs(readMemoryMessage(stored, entry), results)
    },

    async findTurn(messageId, results = 'full') {
      open()
      for (const [threadId, stored] of threads) {
        const turn = readMemoryTurn(stored, messageId)
        if (turn === null) continue
        const { ownerId, seq, queue } = stored.thread
        const { incarnation } = stored.head
        const found = { threadId, ownerId, seq, incarnation, queue }
        return { ...found, turn: omitLargeOutputs(turn, results) }
      }
      return null
    },

    async readCall(threadId, callId, results = 'full') {
      open()
      const stored = threads.get(threadId)
      for (const entry of stored?.messages ?? []) {
        if (stored === undefined || 'user' in entry) continue
        const turn = readMemoryMessage(stored, entry) as Turn
        const { ownerId, seq, queue } = stored.thread
        const { incarnation } = stored.head
        const head = { threadId, ownerId, seq, incarnation, queue }
        for (const call of callsOf(turn)) {
          if (call.id !== callId) continue
          return { ...head, turn: omitLargeOutputs(turn, results), call }
        }
      }
      return null
    },

    async requestStop(threadId, only = {}) {
      open()
      const stored = threads.get(threadId)
      if (stored === undefined) return { kind: 'no-thread' }
      const { turnId, fence, seq } = stored.head
      if (turnId === null || !isRunToStop({ ...stored.head, turnId }, only)) return { kind: 'idle' }
      stored.head = { ...stored.head, stopFence: fence }
      notifications.post([{ threadId, seq, stop: true }])
      return { kind: 'requested', turnId, fence }
    },

    async findAbandonedRuns(limit, only) {
      open()
      return [...threads.values()]
        .filter(({ thread: { id } }) => only === undefined || id === only)
        .flatMap(({ thread: { id: threadId }, head }) => {
          const { holder, turnId, fence } = head
          const isOpen = holder !== null && turnId !== null
          return isOpen && !isHeld(head, { now, isAlive })
            ? [{ threadId, turnId, holder, fence }]
            : []
        })
        .slice(0, limit)
    },

    search: createMemorySearch(threads),
    shares,

    watch: (listener) => notifications.watch(listener),

    async close() {
      closed = true
    },
  }
}

const toPathRow = (entry: MemoryMessage): PathRow => ({
  ...entry,
  role: 'user' in entry ? entry.user.role : 'assistant',
})

/** Shared with no caller, as a value from a database. */
const copyJson = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject

/** The first item and those after it that fit, with their size. */
function takeFitting<Item>(
  items: readonly Item[],
  maxBytes: number | undefined,
): { readonly items: readonly Item[]; readonly bytes: number } {
  if (maxBytes === undefined) return { items, bytes: 0 }
  const sizes = items.map((item) => ({ bytes: jsonLength(item), omitted: [] }))
  const { count, bytes } = fitBytes(sizes, 'full', maxBytes)
  return { items: items.slice(0, count), bytes }
}
