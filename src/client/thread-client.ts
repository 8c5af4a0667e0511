import { checkOptions } from '../core/check-options.ts'
import { type Change, foldThread, type ThreadView } from '../core/fold-thread.ts'
import { isTurn } from '../core/message.ts'
import { joinedInputs } from '../core/queue.ts'
import { type EventFrame, toChanges } from '../protocol/event-frame.ts'
import { ApiError } from '../protocol/api-error.ts'
import { type Api, createTimedApi } from './api.ts'
import { type ConnectionEffect, type ConnectionInput, nextConnection } from './connection.ts'
import { createExternalStore } from './external-store.ts'
import { followThread } from './follow-thread.ts'
import { createNetwork, systemClock } from './network.ts'
import { createPageReader, type ThreadDetails, viewOf, windowOf } from './thread-pages.ts'
import { createThreadVerbs } from './thread-verbs.ts'
import { type ThreadClientOptions, threadClientRules } from './thread-client-options.ts'
import type {
  PendingMessage,
  ShownVersion,
  ThreadClient,
  ThreadSnapshot,
} from './thread-snapshot.ts'

/** The most messages in one read, and the most reads in search of a message that is to be shown. */
const mostAtOnce = 200
const mostPages = 10

/**
 * A thread as a page shows it. It runs the same fold as the server over the same events: it shows what is stored, and
 * the messages written here that are in flight.
 */
export function createThreadClient(options: ThreadClientOptions): ThreadClient {
  checkOptions('createThreadClient', options, threadClientRules)
  const { threadId, pageSize = 30, clock = systemClock, random = Math.random } = options
  const network = options.network ?? createNetwork(clock)
  const api: Api = createTimedApi(options, clock)
  const base = `/api/threads/${encodeURIComponent(threadId)}`
  const { readPage, readNewest } = createPageReader(api, base)
  const newId = options.newId ?? (() => crypto.randomUUID())
  let view: ThreadView = { seq: 0, messages: [] }
  /** The view's place, as the server sent it. */
  let place = '0'
  let cursor: string | null = null
  let exists = options.isNew !== true
  let isWatched = false
  /** Incremented when everything is read again: a page that was requested before is then discarded. */
  let readings = 0
  let rereading: Promise<void> = Promise.resolve()
  /** Changes since everything was requested again; null: it was not. */
  let sinceOutdated: Change[] | null = null
  /** Changes since an older page was requested, which may not be in it. */
  let sinceRequested: Change[] | null = null

  const store = createExternalStore<ThreadSnapshot>(
    {
      threadId,
      status: exists ? 'loading' : 'ready',
      title: '',
      pinned: false,
      archived: false,
      messages: [],
      pending: [],
      queue: [],
      hasOlder: false,
      isLoadingOlder: false,
      isRunning: false,
      connection: { status: 'idle' },
      isSavingInterrupted: false,
      choices: null,
    },
    () => {
      isWatched = true
      if (exists) connect()
      return leave
    },
  )
  let disconnect = () => {}

  const show = (change: Partial<ThreadSnapshot> = {}) =>
    store.update((snapshot) => {
      // Messages that became visible again are not loaded yet: until they are, the previous messages stay, all of them.
      const messages = view.outdatedAt === undefined ? view.messages : snapshot.messages
      const { queue = snapshot.queue.length === 0 ? snapshot.queue : [] } = view
      const stored = storedIds({ ...view, messages })
      const last = messages.at(-1)
      const wanted = change.pending ?? snapshot.pending
      // An edit has the id of the message that it replaces: two rows with one id would be rendered in each other's
      // place.
      const pending = wanted.filter(({ id }) => !stored.has(id))
      return {
        ...snapshot,
        ...change,
        messages,
        queue,
        title: view.title ?? change.title ?? snapshot.title,
        pinned: view.pinned ?? change.pinned ?? snapshot.pinned,
        archived: view.archived ?? change.archived ?? snapshot.archived,
        hasOlder: cursor !== null,
        isRunning: last?.role === 'assistant' && last.progress.status === 'running',
        pending: pending.length === wanted.length ? wanted : pending,
      }
    })

  const connect = () => {
    disconnect()
    const controller = new AbortController()
    disconnect = () => controller.abort()
    const onConnection = (input: ConnectionInput): ConnectionEffect => {
      if (controller.signal.aborted) return { type: 'stop' }
      const { connection, effect } = nextConnection(store.getSnapshot().connection, input)
      // The server repeats the note on a new connection if saving is still interrupted.
      show(input.type === 'opened' ? { connection, isSavingInterrupted: false } : { connection })
      return effect
    }
    void followThread(
      {
        api,
        threadId,
        clock,
        network,
        random,
        position: () => view.seq,
        place: () => place,
        load: loadNewest,
        onFrame: (frame: EventFrame, reached) => {
          apply(toChanges(frame))
          place = reached
        },
        onSaving: ({ status }) => show({ isSavingInterrupted: status === 'saving-interrupted' }),
        onConnection,
      },
      controller.signal,
    )
  }

  const reconnect = () => {
    const { status } = store.getSnapshot().connection
    if (isWatched && exists && status !== 'connecting' && status !== 'live') connect()
  }

  const leave = () => {
    isWatched = false
    disconnect()
    const { connection } = nextConnection(store.getSnapshot().connection, { type: 'stopped' })
    show({ connection })
  }

  const apply = (changes: readonly Change[]) => {
    const next = foldThread(view, changes)
    sinceRequested?.push(...changes)
    sinceOutdated?.push(...changes)
    if (next === view) return
    view = next
    show()
    if (view.outdatedAt === undefined || sinceOutdated !== null) return
    // If this fails, the connection reads it: see `readAgain`.
    readAgain().catch(() => undefined)
  }

  const replaceView = (
    next: ThreadView,
    nextCursor: string | null,
    { forkedFrom }: ThreadDetails,
  ) => {
    readings++
    view = next
    cursor = nextCursor
    show({ status: 'ready', ...(forkedFrom === undefined ? {} : { forkedFrom }) })
  }

  const loadNewest = async (isStale: boolean, signal: AbortSignal) => {
    // A loaded view is a place to follow from: a returning subscriber sees it at once, and then the rest.
    const isLoaded = () => view.seq > 0 && !isStale && view.outdatedAt === undefined
    if (isLoaded()) return
    const { page, head } = await readNewest(pageSize, signal)
    // `readOnce` may have loaded it meanwhile, and what was read here may be older.
    if (isLoaded()) return
    place = page.place ?? String(page.seq)
    replaceView(viewOf(page, page.results, page.nextCursor, head), page.nextCursor, head)
  }

  /**
   * Reads what is visible now, as much as was loaded before and down to a message if one is wanted, and replaces the
   * view at once: until then the previous messages stay on the screen. Frames are applied meanwhile. If the connection
   * replaced the view meanwhile, the pages are discarded: the frames since do not continue them.
   */
  const readOnce = async (wanted: string | undefined): Promise<void> => {
    const reading = readings
    const changes: Change[] = []
    sinceOutdated = changes
    try {
      const limit = Math.min(mostAtOnce, Math.max(pageSize, view.messages.length))
      const { page: newest, head } = await readNewest(limit)
      let page = newest
      const newestFirst = [...page.results]
      for (let pages = 1; pages < mostPages && page.nextCursor !== null; pages++) {
        if (wanted === undefined || newestFirst.some(({ id }) => id === wanted)) break
        page = await readPage(page.nextCursor, mostAtOnce)
        // The thread may have changed between two pages: changes in the newer ones come with the frames.
        newestFirst.push(...page.results)
      }
      if (reading !== readings) return
      if (newest.seq > view.seq) place = newest.place ?? String(newest.seq)
      const asRead = viewOf(newest, newestFirst, page.nextCursor, head)
      replaceView(foldThread(asRead, changes), page.nextCursor, head)
    } finally {
      sinceOutdated = null
    }
  }

  /** One after the other: two concurrent reads would each miss changes that the other collects. */
  const readAgain = (wanted?: string, atLeast = 0): Promise<void> => {
    const isDone = () =>
      view.outdatedAt === undefined &&
      view.seq >= atLeast &&
      (wanted === undefined || view.messages.some(({ id }) => id === wanted))
    const done = rereading.then(async () => {
      // Again if another version was shown during the read, or the pages were discarded.
      for (let reads = 0; !isDone() && reads < mostPages; reads++) await readOnce(wanted)
    })
    rereading = done.catch(() => {
      // The connection reads it: it retries until it succeeds, and shows its state.
      if (isWatched && view.outdatedAt !== undefined) connect()
    })
    return done
  }

  const loadOlder = async (from: string) => {
    const reading = readings
    const edge = view.from ?? 0
    sinceRequested = []
    const page = await readPage(from, pageSize).catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'other-history') throw error
      // The view is not what is stored: everything is read again, and followed from there.
      await loadNewest(true, new AbortController().signal)
      if (isWatched) connect()
      return null
    })
    if (page === null || reading !== readings) return
    // The page as it was read; since then some of it may have changed, or be hidden.
    const asRead = windowOf(page.seq, page.results.toReversed(), page.nextCursor)
    const older = foldThread(asRead, sinceRequested).messages.filter(({ seq }) => seq < edge)
    cursor = page.nextCursor
    view = { ...view, from: asRead.from, messages: [...older, ...view.messages] }
  }

  /** The answer is followed, not read from the response: closing that does not affect the run. */
  const postJson = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await api.open(path, init)
    await response.body?.cancel()
  }

  const chosen = () => {
    const { choices } = store.getSnapshot()
    return choices === null ? {} : { choices }
  }

  const post = async (message: PendingMessage, replaces?: string) => {
    const { id, parts, whenBusy } = message
    const busy = whenBusy === undefined ? {} : { whenBusy }
    const put = (state: PendingMessage) =>
      show({
        pending: [...store.getSnapshot().pending.filter((other) => other.id !== id), state],
      })
    const own: PendingMessage = { id, parts, state: 'sending', ...busy }
    put(own)
    try {
      await postJson('/api/chat', {
        id: threadId,
        messages: [{ id, role: 'user', parts }],
        trigger: 'submit-message',
        ...chosen(),
        ...(replaces === undefined ? {} : { messageId: replaces }),
        ...busy,
      })
      // The message is stored, so the thread exists and the server is reachable. What is still being requested may
      // have been answered before, with the refusal that there is no such thread.
      exists = true
      if (isWatched && store.getSnapshot().connection.status !== 'live') connect()
    } catch (error) {
      // Else it was discarded, or is being sent again: then that request decides.
      const isCurrent = store.getSnapshot().pending.includes(own)
      const { message } = error as ApiError
      if (isCurrent) put({ id, parts, state: 'failed', error: message, ...busy })
      throw error
    }
  }

  return {
    ...store,
    ...createThreadVerbs(api, threadId),
    async loadOlder() {
      if (cursor === null || store.getSnapshot().isLoadingOlder) return
      show({ isLoadingOlder: true })
      try {
        await loadOlder(cursor)
      } finally {
        sinceRequested = null
        show({ isLoadingOlder: false })
      }
    },
    reconnect,
    send: (parts, { replaces, whenBusy } = {}) =>
      post(
        {
          ...{ id: replaces ?? newId(), parts, state: 'sending' },
          ...(whenBusy === undefined ? {} : { whenBusy }),
        },
        replaces,
      ),
    async retry(pendingId) {
      const message = store.getSnapshot().pending.find(({ id }) => id === pendingId)
      if (message !== undefined) await post(message)
    },
    discard: (pendingId) =>
      show({ pending: store.getSnapshot().pending.filter(({ id }) => id !== pendingId) }),
    restore(unsent) {
      const { pending } = store.getSnapshot()
      const isNew = ({ id }: PendingMessage) => !pending.some((other) => other.id === id)
      show({ pending: [...pending, ...unsent.filter(isNew)] })
    },
    choose: (choices) => show({ choices }),
    regenerate: (messageId) =>
      postJson('/api/chat', {
        id: threadId,
        messages: [],
        trigger: 'regenerate-message',
        ...chosen(),
        messageId,
      }),
    async show(versionId) {
      const path = `${base}/messages/${encodeURIComponent(versionId)}/show`
      const { seq, ...shown } = await api.post<ShownVersion & { readonly seq: number }>(path, {})
      await readAgain(shown.messageId, seq)
      return shown
    },
    continue: () => postJson(`/api/chat/${encodeURIComponent(threadId)}/continue`, {}),
  }
}

/** The ids of messages that have arrived: in the thread, in the queue, or joined to a turn. */
const storedIds = ({ messages, queue = [] }: ThreadView): ReadonlySet<string> =>
  new Set([
    ...messages.map(({ id }) => id as string),
    ...queue.map(({ id }) => id as string),
    ...messages.flatMap((message) => (isTurn(message) ? joinedInputs(message) : [])),
  ])
