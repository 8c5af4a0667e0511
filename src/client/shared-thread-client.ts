import { checkOptions, type OptionTable, text, wholeNumber } from '../core/check-options.ts'
import type { Json } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import { ApiError } from '../protocol/api-error.ts'
import { type ApiOptions, apiRules, createApi } from './api.ts'
import type { Connection } from './connection.ts'
import { createExternalStore } from './external-store.ts'
import type { ThreadClient, ThreadSnapshot } from './thread-snapshot.ts'

/** The options of `createSharedThreadClient`. */
export interface SharedThreadClientOptions extends ApiOptions {
  /** The id of the link. */
  readonly shareId: string
  /**
   * How many messages are read at once.
   * @default 30
   */
  readonly pageSize?: number
}

export const sharedThreadClientRules: OptionTable<SharedThreadClientOptions> = {
  ...apiRules,
  shareId: text(),
  pageSize: wholeNumber(1, 200, '30'),
}

/** A shared thread: it can be read and not written to. */
export interface SharedThreadClient extends ThreadClient {
  /** When it was shared, as an ISO date; null until it has been read. */
  readonly sharedAt: () => string | null
  /** Reads a result that a page left out because of its size. */
  readonly loadResult: (callId: string) => Promise<Json>
}

interface SharedPage {
  readonly title: string
  readonly sharedAt: string
  readonly results: readonly Message[]
  readonly nextCursor: string | null
}

/**
 * A thread as a link shows it (FK5). It is read with the first subscriber, and does not change: nothing is followed.
 * Methods that would change the thread reject with the code `read-only`.
 */
export function createSharedThreadClient(options: SharedThreadClientOptions): SharedThreadClient {
  checkOptions('createSharedThreadClient', options, sharedThreadClientRules)
  const { shareId, pageSize = 30, ...rest } = options
  const api = createApi(rest)
  const base = `/api/shares/${encodeURIComponent(shareId)}`
  let cursor: string | null = null
  let sharedAt: string | null = null
  let isRead = false
  let isWatched = false
  /** The first read, while it is in flight. There is one at a time: each would add its messages. */
  let reading: AbortController | null = null

  const readPage = (from: string | null, signal?: AbortSignal): Promise<SharedPage> => {
    const edge = from === null ? '' : `&cursor=${encodeURIComponent(from)}`
    return api.get(`${base}/messages?format=ledger&limit=${pageSize}${edge}`, signal)
  }

  const store = createExternalStore<ThreadSnapshot>(
    {
      ...{ threadId: shareId, status: 'loading', title: '', messages: [], pending: [], queue: [] },
      ...{ hasOlder: false, isLoadingOlder: false, isRunning: false, isSavingInterrupted: false },
      ...{ connection: { status: 'idle' }, choices: null, pinned: false, archived: false },
    },
    () => {
      isWatched = true
      void readFirst()
      return leave
    },
  )

  const showConnection = (connection: Connection) =>
    store.update((snapshot) => ({ ...snapshot, connection }))

  const add = (page: SharedPage, change: Partial<ThreadSnapshot>) => {
    cursor = page.nextCursor
    sharedAt = page.sharedAt
    store.update((snapshot) => ({
      ...snapshot,
      ...change,
      title: page.title,
      messages: [...page.results.toReversed(), ...snapshot.messages],
      hasOlder: cursor !== null,
    }))
  }

  const readFirst = async () => {
    if (isRead || !isWatched || reading !== null) return
    const own = new AbortController()
    reading = own
    showConnection({ status: 'connecting', attempt: 0 })
    try {
      const page = await readPage(null, own.signal)
      if (own.signal.aborted) return
      reading = null
      isRead = true
      add(page, { status: 'ready', connection: { status: 'idle' } })
    } catch (error) {
      if (own.signal.aborted) return
      reading = null
      showConnection({
        status: 'refused',
        code: error instanceof ApiError ? error.code : 'unreachable',
      })
    }
  }

  const leave = () => {
    isWatched = false
    if (reading === null) return
    reading.abort()
    reading = null
    showConnection({ status: 'idle' })
  }

  const refuse = async (): Promise<never> => {
    throw new ApiError(405, 'read-only', 'This shared conversation is read-only.')
  }

  return {
    ...store,
    sharedAt: () => sharedAt,
    async loadOlder() {
      if (cursor === null || store.getSnapshot().isLoadingOlder) return
      store.update((snapshot) => ({ ...snapshot, isLoadingOlder: true }))
      try {
        add(await readPage(cursor), {})
      } finally {
        store.update((snapshot) => ({ ...snapshot, isLoadingOlder: false }))
      }
    },
    async loadResult(callId) {
      const path = `${base}/tool-calls/${encodeURIComponent(callId)}`
      return (await api.get<{ readonly result: Json }>(path)).result
    },
    reconnect: () => void readFirst(),
    discard: () => {},
    restore: () => {},
    choose: () => {},
    send: refuse,
    editQueued: refuse,
    moveQueued: refuse,
    withdraw: refuse,
    release: refuse,
    retry: refuse,
    stop: refuse,
    regenerate: refuse,
    show: refuse,
    fork: refuse,
    continue: refuse,
    decide: refuse,
    decideAll: refuse,
    resolve: refuse,
    giveFeedback: refuse,
  }
}
