import { setImmediate } from 'node:timers/promises'
import type { NewThreadEvent } from '../../core/event.ts'
import { badRequestFault, HoldfastError } from '../../core/holdfast-error.ts'
import { type OwnerId, parseOwnerId, parseThreadId, type ThreadId } from '../../core/ids.ts'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import type { ListedThread, ThreadRecord } from '../../core/thread.ts'
import { withDefined } from '../../core/with-defined.ts'
import {
  defaultLimit,
  parseCursor,
  parseLimit,
  toCursor,
  withCursor,
} from '../../protocol/page-query.ts'
import type { CreateThreadResult, Store } from '../../store/store.ts'
import { sameJson } from '../../views/same-json.ts'
import { appendThreadEvents } from '../run/append-thread-events.ts'
import { checkNames } from '../options/check-names.ts'
import { pauseOf } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { type ForkOptions, type ForkResult, forkThread } from './fork-thread.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import { findThread, parseTitle, type ThreadScope } from '../thread-scope.ts'
import { toGivenJson } from '../to-json.ts'

export { parseTitle, type ThreadScope }

/** The arguments of `threads.create`. */
export interface ThreadToMake {
  /** @default one is generated */
  readonly id?: string
  /** The owner: the only one who may read it and write to it. */
  readonly ownerId: string
  /** At most 500 characters. @default empty */
  readonly title?: string
  /** See `ThreadChange.metadata`. @default none */
  readonly metadata?: JsonObject
}

/** The changes of `threads.update`; absent fields stay as they are. */
export interface ThreadChange {
  /** At most 500 characters. The title then counts as set by a person; an empty one as unset. */
  readonly title?: string
  /** Pins it (FK2). */
  readonly pinned?: boolean
  /** Moves it to the archive, out of the list; a new message moves it back (FK2). */
  readonly archived?: boolean
  /**
   * Replaces all of the metadata: any JSON object of at most 16,384 characters. It belongs to the host application: it
   * is not sent to the model, is in no event, and clients see it only with `threadMetadata` of the handler.
   */
  readonly metadata?: JsonObject
}

/** The query of `threads.list`. */
export interface ThreadsQuery {
  readonly ownerId: string
  /** From 1 to 200. @default 25 */
  readonly limit?: number
  /** `nextCursor` of the previous page. @default the list's beginning */
  readonly cursor?: string | null
  /** Only archived threads. @default only those that are not */
  readonly archived?: boolean
  /** Only pinned threads. @default pinned or not */
  readonly pinned?: boolean
  /**
   * Only threads whose metadata has these keys with these values. All of the owner's threads are scanned, page by page,
   * until the page is full.
   * @default all
   */
  readonly metadata?: JsonObject
}

/** One page of threads, newest activity first. */
export interface ThreadsPage {
  readonly results: readonly ListedThread[]
  /** For the next page; null at the end. */
  readonly nextCursor: string | null
  readonly hasMore: boolean
}

/** What `deleteOwner` removed. */
export interface OwnerReceipt {
  readonly ownerId: string
  readonly threads: number
  /** Messages and turns, including replaced ones. */
  readonly messages: number
  /** When it was done, in milliseconds since 1970. */
  readonly deletedAt: number
}

/**
 * Operations on threads, without HTTP. Ids are plain strings; one that cannot be an id is a `HoldfastError` `bad-id`.
 */
export interface Threads {
  /** `exists`: it exists and belongs to this owner; nothing was changed. `taken`: the id belongs to another owner. */
  create(thread: ThreadToMake): Promise<CreateThreadResult>
  /** Threads of one owner, newest activity first. A cursor of another list is refused as `bad-cursor`. */
  list(query: ThreadsQuery): Promise<ThreadsPage>
  /** Null if there is none. */
  get(threadId: string, scope?: ThreadScope): Promise<ThreadRecord | null>
  /**
   * Null if there is none. A function gets the stored thread, and is called again if the thread was changed meanwhile,
   * so that two writers that each change a part of the metadata both succeed.
   */
  update(
    threadId: string,
    change: ThreadChange | ((thread: ThreadRecord) => ThreadChange),
    scope?: ThreadScope,
  ): Promise<ThreadRecord | null>
  /**
   * Creates a new thread of the same owner with all that is visible up to a message, independent from then on (VR4).
   * Turns and calls get new ids; a turn that runs or waits is not copied.
   */
  fork(threadId: string, options?: ForkOptions): Promise<ForkResult>
  /**
   * Removes it and all that is in it; false if there was none. A run in it is stopped, on whatever server it is, and
   * writes nothing more; the signal of a tool that has started is aborted. Followers of the thread see it end.
   */
  delete(threadId: string, scope?: ThreadScope): Promise<boolean>
}

const mostMetadataChars = 16_384

export function createThreads(engine: Engine, newThreadId: () => ThreadId): Threads {
  const { store, clock } = engine
  return {
    async create(wanted) {
      checkNames('threads.create', wanted, ['id', 'ownerId', 'title', 'metadata'])
      const { id, title, metadata } = wanted
      const thread = {
        id: id === undefined ? newThreadId() : parseThreadId(id),
        ownerId: parseOwnerId(wanted.ownerId),
        title: title === undefined ? '' : parseTitle(title),
        at: clock.now(),
      }
      return store.createThread(
        withDefined(thread, {
          metadata: metadata === undefined ? undefined : parseMetadata(metadata),
        }),
      )
    },
    list: (query) => listThreads(store, query),
    get: (threadId, scope) => findThread(store, threadId, scope),
    async update(threadId, change, scope) {
      return retryWhileStale(pauseOf(clock), async () => {
        const thread = await findThread(store, threadId, scope)
        if (thread === null) return null
        const wanted = typeof change === 'function' ? change(thread) : change
        checkNames('threads.update', wanted, ['title', 'pinned', 'archived', 'metadata'])
        // Everything is validated before any of it is stored.
        const events = toThreadEvents(thread, wanted, clock.now())
        const to = wanted.metadata === undefined ? undefined : parseMetadata(wanted.metadata)
        if (to !== undefined) {
          const { id, incarnation, metadata: from } = thread
          const set = await store.setThreadMetadata({ threadId: id, incarnation, from, to })
          if (set !== 'set') return 'stale'
        }
        if (events.length > 0) await appendThreadEvents(engine, thread.id, events, thread)
        return findThread(store, threadId, scope)
      })
    },
    fork: (threadId, options) => forkThread(engine, newThreadId, threadId, options),
    async delete(threadId, scope) {
      const isGone = (await deleteThread(store, threadId, scope)) !== null
      // Files that only this thread referred to are removed; should this fail, the next collection removes them.
      if (isGone) await engine.files.collect().catch(() => undefined)
      return isGone
    },
  }
}

/** An unchanged title is stored too: it counts as set by a person from then on. Unchanged flags are not. */
function toThreadEvents(
  thread: ThreadRecord,
  { title, pinned, archived }: ThreadChange,
  at: number,
): readonly NewThreadEvent[] {
  const renamed = title === undefined ? undefined : parseTitle(title)
  const given = {
    pinned: parseFlag('pinned', pinned),
    archived: parseFlag('archived', archived),
  }
  const flags = withDefined(
    {},
    {
      pinned: given.pinned === thread.pinned ? undefined : given.pinned,
      archived: given.archived === thread.archived ? undefined : given.archived,
    },
  )
  return [
    ...(renamed === undefined ? [] : [{ type: 'thread-renamed', title: renamed, at } as const]),
    ...(Object.keys(flags).length === 0 ? [] : [{ type: 'thread-flagged', ...flags, at } as const]),
  ]
}

export function parseFlag(name: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value
  throw badRequestFault(`"${name}" is true or false.`)
}

/** The thread that was found and no other: somebody else may have created one under its id since (HT2). */
async function deleteThread(store: Store, threadId: string, scope?: ThreadScope) {
  const thread = await findThread(store, threadId, scope)
  if (thread === null) return null
  const { id, incarnation } = thread
  return store.deleteThread(id, { incarnation })
}

/** The number of threads that are scanned before other work may run. */
const atOnce = 200

async function listThreads(store: Store, query: ThreadsQuery): Promise<ThreadsPage> {
  checkNames('threads.list', query, [
    ...(['ownerId', 'limit', 'cursor', 'archived', 'pinned', 'metadata'] as const),
  ])
  const ownerId = parseOwnerId(query.ownerId)
  const limit = parseLimit(query.limit ?? defaultLimit)
  const wanted = query.metadata === undefined ? undefined : parseMetadata(query.metadata)
  const archived = parseFlag('archived', query.archived) ?? false
  const isPinned = parseFlag('pinned', query.pinned) === true
  const filter = { archived, ...(isPinned ? { pinned: true as const } : {}) }
  // A cursor is valid for the list that it belongs to.
  const kinds = `${archived ? ' archived' : ''}${isPinned ? ' pinned' : ''}`
  const list = `threads ${ownerId}${kinds}${wanted === undefined ? '' : ` ${JSON.stringify(wanted)}`}`
  const before = withCursor(query.cursor, (cursor) => parseCursor(list, cursor))
  const { threads, hasMore } =
    wanted === undefined
      ? await store.listThreads({ ownerId, limit, before, filter })
      : await findMatching(store, { ownerId, limit, before, filter }, wanted)
  const last = threads.at(-1)
  return {
    results: threads,
    nextCursor: hasMore && last !== undefined ? toCursor(list, last.activity) : null,
    hasMore,
  }
}

async function findMatching(
  store: Store,
  { limit, before, ...query }: Parameters<Store['listThreads']>[0],
  wanted: JsonObject,
): ReturnType<Store['listThreads']> {
  const found: ListedThread[] = []
  let from = before
  for (;;) {
    const page = await store.listThreads({ ...query, limit: atOnce, before: from })
    for (const thread of page.threads) {
      if (!hasMetadata(thread, wanted)) continue
      // One match more than a page holds shows that there is another page.
      if (found.length === limit) return { threads: found, hasMore: true }
      found.push(thread)
    }
    from = page.threads.at(-1)?.activity ?? null
    if (!page.hasMore || from === null) return { threads: found, hasMore: false }
    await setImmediate()
  }
}

const hasMetadata = ({ metadata }: ListedThread, wanted: JsonObject): boolean =>
  Object.entries(wanted).every(
    ([key, value]) => Object.hasOwn(metadata, key) && sameJson(metadata[key], value),
  )

/**
 * Deletes thread by thread until none is found, so that a thread created meanwhile is deleted too. A message that
 * arrives after that begins a new thread.
 */
export async function deleteOwner(engine: Engine, owner: string): Promise<OwnerReceipt> {
  const { store, clock } = engine
  const ownerId: OwnerId = parseOwnerId(owner)
  let threads = 0
  let messages = 0
  for (;;) {
    const before = threads
    const page = await store.listThreads({ ownerId, limit: atOnce, before: null })
    for (const { id } of page.threads) {
      const deleted = await deleteThread(store, id, { ownerId })
      if (deleted === null) continue
      threads++
      messages += deleted.messages
    }
    if (page.threads.length === 0) {
      await engine.files.removeOwner(ownerId)
      return { ownerId, threads, messages, deletedAt: clock.now() }
    }
    if (threads === before && !(await isGoing(store, page.threads, ownerId))) {
      throw new HoldfastError('store-failed', 'The store lists threads that it cannot delete.')
    }
  }
}

/** Another process may be deleting them. */
async function isGoing(
  store: Store,
  threads: readonly ListedThread[],
  ownerId: OwnerId,
): Promise<boolean> {
  const [first] = threads
  return first === undefined || (await findThread(store, first.id, { ownerId })) === null
}

export function parseMetadata(value: unknown): JsonObject {
  const metadata = isJsonObject(value) ? toGivenJson('metadata', value, mostMetadataChars) : null
  if (!isJsonObject(metadata)) throw badRequestFault('"metadata" is a JSON object.')
  return metadata
}
