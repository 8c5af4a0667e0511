import { checkOptions } from '../core/check-options.ts'
import { type ApiOptions, apiRules, createApi } from './api.ts'
import { createExternalStore, type ExternalStore } from './external-store.ts'

export interface ThreadItem {
  readonly id: string
  readonly title: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly seq: number
}

export interface ThreadListSnapshot {
  readonly status: 'loading' | 'ready' | 'failed'
  readonly threads: readonly ThreadItem[]
  readonly hasMore: boolean
  readonly error?: string
}

export interface ThreadListClient extends ExternalStore<ThreadListSnapshot> {
  readonly refresh: () => Promise<void>
  readonly loadMore: () => Promise<void>
  readonly rename: (id: string, title: string) => Promise<void>
  /** Leaves the list at once; it is deleted only when `commit` is called, and back after `undo`. */
  readonly remove: (id: string) => {
    readonly commit: () => Promise<void>
    readonly undo: () => void
  }
}

interface ThreadPage {
  readonly results: readonly ThreadItem[]
  readonly nextCursor: string | null
}

/** The list of threads, newest activity first. */
export function createThreadListClient(options: ApiOptions = {}): ThreadListClient {
  checkOptions('createThreadListClient', options, apiRules)
  const api = createApi(options)
  const removed = new Set<string>()
  let all: readonly ThreadItem[] = []
  let cursor: string | null = null

  const store = createExternalStore<ThreadListSnapshot>(
    { status: 'loading', threads: [], hasMore: false },
    () => {
      void refresh()
      return () => {}
    },
  )

  const show = (status: ThreadListSnapshot['status'], error?: string) =>
    store.update(() => ({
      status,
      threads: all.filter(({ id }) => !removed.has(id)),
      hasMore: cursor !== null,
      ...(error === undefined ? {} : { error }),
    }))

  const read = (from: string | null) =>
    api.get<ThreadPage>(
      `/api/threads?limit=50${from === null ? '' : `&cursor=${encodeURIComponent(from)}`}`,
    )

  const refresh = async () => {
    try {
      const page = await read(null)
      all = page.results
      cursor = page.nextCursor
      show('ready')
    } catch (error) {
      show('failed', error instanceof Error ? error.message : String(error))
    }
  }

  return {
    ...store,
    refresh,
    async loadMore() {
      if (cursor === null) return
      const page = await read(cursor)
      const known = new Set(all.map(({ id }) => id))
      all = [...all, ...page.results.filter(({ id }) => !known.has(id))]
      cursor = page.nextCursor
      show('ready')
    },
    async rename(id, title) {
      const renamed = await api.patch<ThreadItem>(`/api/threads/${encodeURIComponent(id)}`, {
        title,
      })
      all = all.map((thread) => (thread.id === id ? renamed : thread))
      show('ready')
    },
    remove(id) {
      removed.add(id)
      show('ready')
      return {
        async commit() {
          await api.delete(`/api/threads/${encodeURIComponent(id)}`)
          all = all.filter((thread) => thread.id !== id)
          removed.delete(id)
        },
        undo() {
          removed.delete(id)
          show('ready')
        },
      }
    },
  }
}
