import { checkOptions } from '../core/check-options.ts'
import { type Change, foldThread, type ThreadView } from '../core/fold-thread.ts'
import { isTurn, type Message } from '../core/message.ts'
import { joinedInputs } from '../core/queue.ts'
import { withDefined } from '../core/with-defined.ts'
import { type EventFrame, toChanges } from '../protocol/event-frame.ts'
import { ApiError } from '../protocol/api-error.ts'
import { parseShownQueue } from '../views/queue-view.ts'
import { type Api, createTimedApi } from './api.ts'
import { type ConnectionEffect, type ConnectionInput, nextConnection } from './connection.ts'
import { createExternalStore } from './external-store.ts'
import { followThread } from './follow-thread.ts'
import { createNetwork, systemClock } from './network.ts'
import { createThreadVerbs } from './thread-verbs.ts'
import { type ThreadClientOptions, threadClientRules } from './thread-client-options.ts'
import type {
  PendingMessage,
  ShownVersion,
  ThreadClient,
  ThreadSnapshot,
} from './thread-snapshot.ts'

/** How many messages one read has at most, and how many reads look for a message that was shown. */
const mostAtOnce = 200
const mostPages = 10

interface LedgerPage {
  readonly results: readonly Message[]
  readonly nextCursor: string | null
  readonly seq: number
  readonly place?: string
  readonly queue?: unknown
}

interface ThreadHead extends Pick<ThreadSnapshot, 'title' | 'pinned' | 'archived' | 'forkedFrom'> {
  readonly seq: number
}

/**
 * A thread as a page shows it. It runs the same fold as the server over the same events; what it shows
 * is what is stored, and what was written here and is on its way.
 */
export function createThreadClient(options: ThreadClientOptions): ThreadClient {
  checkOptions('createThreadClient', options, threadClientRules)
  const { threadId, pageSize = 30, clock = systemClock, random = Math.random } = options
  const network = options.network ?? createNetwork(clock)
  const api: Api = createTimedApi(options, clock)
  const base = `/api/threads/${encodeURIComponent(threadId)}`
  const newId = options.newId ?? (() => crypto.randomUUID())
  let view: ThreadView = { seq: 0, messages: [] }
  /** Where the view stands, as the server said it. */
  let place = '0'
  let cursor: string | null = null
  let exists = options.isNew !== true
  let isWatched = false
  /** Grows when what is held is read anew: a page that was asked for before is then of no use. */
  let readings = 0
  let rereading: Promise<void> = Promise.resolve()
  /** What happened since all that is held was asked for anew; null: it was not. */
  let sinceOutdated: Change[] | null = null
  /** What happened since an older page was asked for, which may not be in it. */
  let sinceAsked: Change[] | null = null

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
      // What was shown again is not held yet: until it has been read, what was there before stays, whole.
      const messages = view.outdatedAt === undefined ? view.messages : snapshot.messages
      const { queue = snapshot.queue.length === 0 ? snapshot.queue : [] } = view
      const stored = storedIds({ ...view, messages })
      const last = messages.at(-1)
      const wanted = change.pending ?? snapshot.pending
      // An edit has the id of the message that it replaces: two rows of one id would be drawn in each other's place.
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
      // A new connection is told again, if it is still so.
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
    sinceAsked?.push(...changes)
    sinceOutdated?.push(...changes)
    if (next === view) return
    view = next
    show()
    if (view.outdatedAt === undefined || sinceOutdated !== null) return
    // What cannot be read is read by the connection: see `readAgain`.
    readAgain().catch(() => undefined)
  }

  const readPage = (
    from: string | null,
    signal?: AbortSignal,
    limit = pageSize,
  ): Promise<LedgerPage> => {
    const edge = from === null ? '' : `&cursor=${encodeURIComponent(from)}`
    const path = `${base}/messages?format=ledger&results=lazy&limit=${limit}${edge}`
    return api.get<LedgerPage>(path, signal)
  }

  const loadNewest = async (isStale: boolean, signal: AbortSignal) => {
    // What is here already is a place to follow from: who comes back sees it at once, and then the rest.
    if (view.seq > 0 && !isStale && view.outdatedAt === undefined) return
    const [head, page] = await Promise.all([
      api.get<ThreadHead>(base, signal),
      readPage(null, signal),
    ])
    // What was said of the thread between the two reads is in neither, and comes with no frame.
    const thread = head.seq < page.seq ? await api.get<ThreadHead>(base, signal) : head
    const { title, pinned, archived, forkedFrom } = thread
    readings++
    view = {
      ...windowOf(page.seq, page.results.toReversed(), page.nextCursor),
      queue: parseShownQueue(page.queue),
      ...{ pinned, archived },
    }
    place = page.place ?? String(page.seq)
    cursor = page.nextCursor
    show({
      status: 'ready',
      title,
      pinned,
      archived,
      ...(forkedFrom === undefined ? {} : { forkedFrom }),
    })
  }

  /**
   * Reads what is shown now, as much of it as was held and down to a message if one is wanted, and puts it in the place
   * of what is held at once: in between, what was there before stays on the screen. Frames go on meanwhile.
   */
  const readOnce = async (wanted: string | undefined): Promise<void> => {
    const changes: Change[] = []
    sinceOutdated = changes
    try {
      const limit = Math.min(mostAtOnce, Math.max(pageSize, view.messages.length))
      let page = await readPage(null, undefined, limit)
      const { seq, place: reached = String(seq) } = page
      const queue = parseShownQueue(page.queue)
      const newestFirst = [...page.results]
      for (let pages = 1; pages < mostPages && page.nextCursor !== null; pages++) {
        if (wanted === undefined || newestFirst.some(({ id }) => id === wanted)) break
        page = await readPage(page.nextCursor, undefined, mostAtOnce)
        // Somebody wrote between two pages: what has changed in the newer ones comes with the frames.
        newestFirst.push(...page.results)
      }
      readings++
      if (seq > view.seq) place = reached
      const shown = windowOf(seq, newestFirst.toReversed(), page.nextCursor)
      const { title, pinned, archived } = view
      view = foldThread(withDefined({ ...shown, queue }, { title, pinned, archived }), changes)
      cursor = page.nextCursor
      show()
    } finally {
      sinceOutdated = null
    }
  }

  /** One after the other: two that read at once would each miss what the other was told of. */
  const readAgain = (wanted?: string, atLeast = 0): Promise<void> => {
    const isDone = () =>
      view.outdatedAt === undefined &&
      view.seq >= atLeast &&
      (wanted === undefined || view.messages.some(({ id }) => id === wanted))
    const done = rereading.then(async () => {
      // Again where another version was shown while this was read.
      for (let reads = 0; !isDone() && reads < mostPages; reads++) await readOnce(wanted)
    })
    rereading = done.catch(() => {
      // The connection reads it: it tries until it succeeds, and says that it does.
      if (isWatched && view.outdatedAt !== undefined) connect()
    })
    return done
  }

  const loadOlder = async (from: string) => {
    const reading = readings
    const edge = view.from ?? 0
    sinceAsked = []
    const page = await readPage(from).catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'other-history') throw error
      // What is shown is not what is stored: all of it is read anew, and followed from there.
      await loadNewest(true, new AbortController().signal)
      if (isWatched) connect()
      return null
    })
    if (page === null || reading !== readings) return
    // As it was when it was read; since then some of it may have changed, or be gone.
    const asRead = windowOf(page.seq, page.results.toReversed(), page.nextCursor)
    const older = foldThread(asRead, sinceAsked).messages.filter(({ seq }) => seq < edge)
    cursor = page.nextCursor
    view = { ...view, from: asRead.from, messages: [...older, ...view.messages] }
  }

  /** The answer to it is followed, not read: closing it changes nothing about the run. */
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
    put({ id, parts, state: 'sending', ...busy })
    try {
      await postJson('/api/chat', {
        id: threadId,
        messages: [{ id, role: 'user', parts }],
        trigger: 'submit-message',
        ...chosen(),
        ...(replaces === undefined ? {} : { messageId: replaces }),
        ...busy,
      })
      // It is stored, so the thread is there and the server too.
      exists = true
      reconnect()
    } catch (error) {
      const isDiscarded = !store.getSnapshot().pending.some((other) => other.id === id)
      const why = (error as ApiError).message
      if (!isDiscarded) put({ id, parts, state: 'failed', error: why, ...busy })
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
        sinceAsked = null
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

/** What has arrived: it has its place in the thread, waits for it, or joined a turn. */
const storedIds = ({ messages, queue = [] }: ThreadView): ReadonlySet<string> =>
  new Set([
    ...messages.map(({ id }) => id as string),
    ...queue.map(({ id }) => id as string),
    ...messages.flatMap((message) => (isTurn(message) ? joinedInputs(message) : [])),
  ])

/** With more before it, the view begins at its oldest message; else at the thread's beginning. */
function windowOf(
  seq: number,
  messages: readonly Message[],
  nextCursor: string | null,
): ThreadView & { readonly from: number } {
  return { seq, from: nextCursor === null ? 0 : (messages[0]?.seq ?? 0), messages }
}
