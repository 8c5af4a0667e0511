import { checkOptions, flag, type OptionTable } from '../core/check-options.ts'
import type { JsonObject } from '../core/json.ts'
import type { TitleGiver } from '../core/thread.ts'
import { ApiError } from '../protocol/api-error.ts'
import { type ApiOptions, apiRules, createApi } from './api.ts'
import { createExternalStore, type ExternalStore } from './external-store.ts'

/** A thread as the list shows it. */
export interface ThreadItem {
  readonly id: string
  readonly title: string
  /** Who set the title; null: nobody yet. */
  readonly titledBy: TitleGiver | null
  /** Whether it is pinned. */
  readonly pinned: boolean
  /** Whether it is archived: only the list of the archive contains it. */
  readonly archived: boolean
  /** The host application's metadata, if the server's option `threadMetadata` exposes it. */
  readonly metadata?: JsonObject
  /** When it was created, as an ISO date. */
  readonly createdAt: string
  /** When the last message or turn began or ended, as an ISO date. */
  readonly updatedAt: string
  /** The seq of its last change. */
  readonly seq: number
}

/** The list of threads at one moment. */
export interface ThreadListSnapshot {
  /** `failed`: the last read failed; `threads` are those of the read before. */
  readonly status: 'loading' | 'ready' | 'failed'
  /** Newest activity first, as far as they have been loaded. */
  readonly threads: readonly ThreadItem[]
  /** There are older ones. */
  readonly hasMore: boolean
  /** The error of the last read. */
  readonly error?: string
}

/** The changes of a thread; absent fields stay as they are. */
export interface ThreadItemChange {
  readonly title?: string
  readonly pinned?: boolean
  readonly archived?: boolean
}

/** Which threads a list contains. */
export interface ThreadListFilter {
  /** Only archived threads. @default only those that are not */
  readonly archived?: boolean
  /** Only pinned threads. @default pinned or not */
  readonly pinned?: boolean
}

/** The list of threads, and its operations. */
export interface ThreadListClient extends ExternalStore<ThreadListSnapshot> {
  /** Reads the first page again. Never rejects: a failure is in the snapshot. */
  readonly refresh: () => Promise<void>
  /** Reads the next page; rejects when that fails. Does nothing at the end of the list. */
  readonly loadMore: () => Promise<void>
  /** Renames a thread; rejects when that fails, and the list stays as it was. */
  readonly rename: (id: string, title: string) => Promise<void>
  /**
   * Renames, pins or archives a thread, or reverts that; it leaves the list if it no longer belongs there. Rejects when
   * that fails, and the list stays as it was.
   */
  readonly update: (id: string, change: ThreadItemChange) => Promise<void>
  /**
   * Removes the thread from the list at once; it is deleted only when `commit` is called, and restored by `undo`, or
   * when it could not be deleted: then `commit` rejects.
   */
  readonly remove: (id: string) => {
    readonly commit: () => Promise<void>
    readonly undo: () => void
  }
}

interface ThreadPage {
  readonly results: readonly ThreadItem[]
  readonly nextCursor: string | null
}

interface ChangesSince {
  readonly deleted: Set<string>
  /** As the responses returned them. */
  readonly updated: Map<string, ThreadItem>
}

/**
 * What has arrived, unless a later state of the thread is known: responses overtake each other. The seq does not count
 * against another thread that was created under the id.
 */
const newerOf = (arrived: ThreadItem, known: ThreadItem | undefined): ThreadItem =>
  known !== undefined && known.createdAt === arrived.createdAt && known.seq > arrived.seq
    ? known
    : arrived

/** Options of {@link createThreadListClient}. */
export interface ThreadListClientOptions extends ApiOptions, ThreadListFilter {}

export const listRules: OptionTable<ThreadListClientOptions> = {
  ...apiRules,
  archived: flag('false'),
  pinned: flag('false'),
}

/** The list of threads, newest activity first. */
export function createThreadListClient(options: ThreadListClientOptions = {}): ThreadListClient {
  checkOptions('createThreadListClient', options, listRules)
  const { archived = false, pinned = false, ...apiOptions } = options
  const api = createApi(apiOptions)
  // A server of an older version sends neither field.
  const belongs = (thread: ThreadItem) =>
    (thread.archived === true) === archived && (!pinned || thread.pinned)
  const filter = `${archived ? '&archived=1' : ''}${pinned ? '&pinned=1' : ''}`
  const removed = new Set<string>()
  let all: readonly ThreadItem[] = []
  let cursor: string | null = null
  /** What happened here since the list was last requested. A response to an earlier request is discarded. */
  let since: ChangesSince = { deleted: new Set(), updated: new Map() }
  let refreshing: Promise<void> = Promise.resolve()

  const store = createExternalStore<ThreadListSnapshot>(
    { status: 'loading', threads: [], hasMore: false },
    () => {
      void refresh()
      return () => {}
    },
  )

  const show = (status = store.getSnapshot().status, error?: string) =>
    store.update(() => ({
      status,
      threads: all.filter(({ id }) => !removed.has(id)),
      hasMore: cursor !== null,
      ...(error === undefined ? {} : { error }),
    }))

  const read = (from: string | null) =>
    api.get<ThreadPage>(
      `/api/threads?limit=50${filter}${from === null ? '' : `&cursor=${encodeURIComponent(from)}`}`,
    )

  const update = async (id: string, change: ThreadItemChange) => {
    const changed = await api.patch<ThreadItem>(`/api/threads/${encodeURIComponent(id)}`, change)
    const held = all.find((thread) => thread.id === id)
    const latest = newerOf(newerOf(changed, held), since.updated.get(id))
    since.updated.set(id, latest)
    const kept = belongs(latest) ? [latest] : []
    all = all.flatMap((thread) => (thread.id === id ? kept : [thread]))
    show()
    // The thread is back, and only the server knows its position.
    if (held === undefined && kept.length > 0) await refresh()
  }

  /** A page as it is now: it may have been read before what was changed or deleted here meanwhile. */
  const current = ({ results }: ThreadPage): readonly ThreadItem[] =>
    results
      .filter(({ id }) => !since.deleted.has(id))
      .map((thread) => newerOf(thread, since.updated.get(thread.id)))
      .filter(belongs)

  const refresh = () => {
    refreshing = readFirst()
    return refreshing
  }

  const readFirst = async () => {
    const own: ChangesSince = { deleted: new Set(), updated: new Map() }
    since = own
    try {
      const page = await read(null)
      if (since === own) {
        all = current(page)
        cursor = page.nextCursor
        show('ready')
      }
    } catch (error) {
      if (since === own) show('failed', error instanceof Error ? error.message : String(error))
    }
    // Who waits for a list that was requested again meanwhile waits for that one.
    if (since !== own) await refreshing
  }

  return {
    ...store,
    refresh,
    async loadMore() {
      if (cursor === null) return
      const own = since
      const from = cursor
      const page = await read(from)
      // The list was read again, or the same page came twice.
      if (since !== own || cursor !== from) return
      const known = new Set(all.map(({ id }) => id))
      all = [...all, ...current(page).filter(({ id }) => !known.has(id))]
      cursor = page.nextCursor
      show('ready')
    },
    rename: (id, title) => update(id, { title }),
    update,
    remove(id) {
      removed.add(id)
      show()
      const undo = () => {
        removed.delete(id)
        show()
      }
      return {
        async commit() {
          try {
            await api.delete(`/api/threads/${encodeURIComponent(id)}`)
          } catch (error) {
            const isGone = error instanceof ApiError && error.status === 404
            if (!isGone) {
              undo()
              throw error
            }
          }
          since.deleted.add(id)
          all = all.filter((thread) => thread.id !== id)
          removed.delete(id)
          // It is in the list if it was restored while it was being deleted.
          show()
        },
        undo,
      }
    },
  }
}
