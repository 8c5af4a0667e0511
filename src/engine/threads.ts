import { setImmediate } from 'node:timers/promises'
import type { NewThreadEvent } from '../core/event.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import { type OwnerId, parseOwnerId, parseThreadId, type ThreadId } from '../core/ids.ts'
import { isJsonObject, type JsonObject } from '../core/json.ts'
import type { ListedThread, ThreadRecord } from '../core/thread.ts'
import { withDefined } from '../core/with-defined.ts'
import { defaultLimit, parseCursor, parseLimit, toCursor } from '../protocol/page-query.ts'
import type { CreateThreadResult, Store } from '../store/store.ts'
import { sameJson } from '../views/same-json.ts'
import { appendThreadEvents } from './append-thread-events.ts'
import { checkNames } from './check-names.ts'
import { pauseOf } from './clock.ts'
import type { Engine } from './engine.ts'
import { type ForkOptions, type ForkResult, forkThread } from './fork-thread.ts'
import { retryWhileStale } from '../store/retry-while-stale.ts'
import { findThread, parseTitle, type ThreadScope } from './thread-scope.ts'
import { toGivenJson } from './to-json.ts'

export { findThread, parseTitle, type ThreadScope }

/** What `threads.create` takes. */
export interface ThreadToMake {
  /** @default one is made */
  readonly id?: string
  /** Who may read it and write to it. */
  readonly ownerId: string
  /** At most 500 characters. @default empty */
  readonly title?: string
  /** See `ThreadChange.metadata`. @default none */
  readonly metadata?: JsonObject
}

/** What `threads.update` changes; what is absent stays. */
export interface ThreadChange {
  /** At most 500 characters. With it the title is a person's; empty: nobody's again. */
  readonly title?: string
  /** Keeps it at hand (FK2). */
  readonly pinned?: boolean
  /** Puts it away, out of the list; a message that comes takes it back (FK2). */
  readonly archived?: boolean
  /**
   * Takes the place of all there was: any JSON object of at most 16,384 characters. It is the host's own: the model is
   * not sent it, no event tells of it, and clients see it only where `threadMetadata` of the handler says so.
   */
  readonly metadata?: JsonObject
}

/** What `threads.list` takes. */
export interface ThreadsQuery {
  readonly ownerId: string
  /** From 1 to 200. @default 25 */
  readonly limit?: number
  /** `nextCursor` of the page before. @default the list's beginning */
  readonly cursor?: string
  /** Only those in the archive. @default only those that are not */
  readonly archived?: boolean
  /** Only those that are pinned. @default pinned or not */
  readonly pinned?: boolean
  /**
   * Only threads whose metadata has these keys with these values. All of the owner's threads are looked through, page by
   * page, until the page is full.
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
  /** Messages and turns, those that had been replaced too. */
  readonly messages: number
  /** When it was done, in milliseconds since 1970. */
  readonly deletedAt: number
}

/** The threads, without HTTP. Ids are plain strings; one that cannot be an id is a `HoldfastError` `bad-id`. */
export interface Threads {
  /** `exists`: it was there and is this owner's; nothing was changed. `taken`: the id is another owner's. */
  create(thread: ThreadToMake): Promise<CreateThreadResult>
  /** Of one owner, newest activity first. A cursor of another list is refused as `bad-cursor`. */
  list(query: ThreadsQuery): Promise<ThreadsPage>
  /** Null if there is none. */
  get(threadId: string, scope?: ThreadScope): Promise<ThreadRecord | null>
  /**
   * Null if there is none. A function is given the thread as it is stored and called again if somebody else
   * changed it meanwhile, so that two who each change a part of the metadata both prevail.
   */
  update(
    threadId: string,
    change: ThreadChange | ((thread: ThreadRecord) => ThreadChange),
    scope?: ThreadScope,
  ): Promise<ThreadRecord | null>
  /**
   * A new thread of the same owner with all that is shown up to a message, independent from then on (VR4). Turns and
   * calls get ids of their own; a turn that runs or waits is not copied.
   */
  fork(threadId: string, options?: ForkOptions): Promise<ForkResult>
  /**
   * Removes it and all that is in it; false if there was none. A run in it is stopped, on whatever server it is, and
   * writes nothing more; a tool that has begun is told by its signal. Who follows the thread sees it end.
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
        // All of it is looked at before any of it is stored.
        const events = toThreadEvents(thread, wanted, clock.now())
        const to = wanted.metadata === undefined ? undefined : parseMetadata(wanted.metadata)
        if (to !== undefined) {
          const set = await store.setThreadMetadata({
            threadId: thread.id,
            from: thread.metadata,
            to,
          })
          if (set !== 'set') return 'stale'
        }
        if (events.length > 0) await appendThreadEvents(engine, thread.id, events)
        return findThread(store, threadId, scope)
      })
    },
    fork: (threadId, options) => forkThread(engine, newThreadId, threadId, options),
    async delete(threadId, scope) {
      const thread = await findThread(store, threadId, scope)
      const isGone = thread !== null && (await deleteThread(store, thread.id)) !== null
      // What only it named goes with it; should this fail, the next look finds it.
      if (isGone) await engine.files.collect().catch(() => undefined)
      return isGone
    },
  }
}

/** A title is stored though it be the same: it is a person's from then on. Flags that are as they were are not. */
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
  throw badRequest(`"${name}" is true or false.`)
}

/** A run is told to stop before its thread goes: it would learn of it only when it writes next. */
async function deleteThread(store: Store, id: ThreadId) {
  await store.requestStop(id)
  return store.deleteThread(id)
}

/** How many threads are looked at between two moments at which others may work. */
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
  // A cursor counts for the list that it is of.
  const kinds = `${archived ? ' archived' : ''}${isPinned ? ' pinned' : ''}`
  const list = `threads ${ownerId}${kinds}${wanted === undefined ? '' : ` ${JSON.stringify(wanted)}`}`
  const before = query.cursor === undefined ? null : parseCursor(list, query.cursor)
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
      // One more than a page has: only that says whether there is another page.
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
 * Thread by thread, until a look finds none, so that one which is made meanwhile goes too. A message that comes after
 * that look begins a new thread.
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
      const deleted = await deleteThread(store, id)
      if (deleted === null) continue
      threads++
      messages += deleted.messages
    }
    if (page.threads.length === 0) {
      await engine.files.removeOwner(ownerId)
      return { ownerId, threads, messages, deletedAt: clock.now() }
    }
    if (threads === before && !(await isGoing(store, page.threads))) {
      throw new HoldfastError('store-failed', 'The store lists threads that it cannot delete.')
    }
  }
}

/** Somebody else may be deleting them. */
async function isGoing(store: Store, threads: readonly ListedThread[]): Promise<boolean> {
  const [first] = threads
  return first === undefined || (await store.readThread(first.id)) === null
}

export function parseMetadata(value: unknown): JsonObject {
  const metadata = isJsonObject(value) ? toGivenJson('metadata', value, mostMetadataChars) : null
  if (!isJsonObject(metadata)) throw badRequest('"metadata" is a JSON object.')
  return metadata
}

const badRequest = (message: string): HoldfastError => new HoldfastError('bad-request', message)
