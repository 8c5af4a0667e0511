import {
  callback,
  checkOptions,
  flag,
  having,
  type OptionTable,
  text,
  wholeNumber,
} from '../core/check-options.ts'
import { type Change, foldThread, type ThreadView } from '../core/fold-thread.ts'
import type { Json } from '../core/json.ts'
import type { Message, UserPart } from '../core/message.ts'
import { type EventFrame, toChanges } from '../protocol/event-frame.ts'
import type { ApiError } from '../protocol/api-error.ts'
import { type Api, apiRules, createApi, type ApiOptions } from './api.ts'
import { type Connection, type ConnectionEvent, nextConnection } from './connection.ts'
import { createExternalStore, type ObservableStore } from './external-store.ts'
import { followThread } from './follow-thread.ts'
import { browserNetwork, type Network } from './network.ts'

/** A message that was written here and is not stored yet, or could not be. */
export interface PendingMessage {
  /** The id that it has once it is stored. */
  readonly id: string
  readonly parts: readonly UserPart[]
  /** `failed`: it can be tried again or discarded. */
  readonly state: 'sending' | 'failed'
  /** Why it could not be sent. */
  readonly error?: string
}

/** A thread as a page shows it at one moment. */
export interface ThreadSnapshot {
  readonly threadId: string
  /** `loading` until the newest messages have been read for the first time. A new thread is `ready` at once. */
  readonly status: 'loading' | 'ready'
  /** Empty as long as nobody and nothing has given it one. */
  readonly title: string
  /** What has been loaded, oldest first. The same object as before where nothing changed. */
  readonly messages: readonly Message[]
  /** What was written here and is not in `messages` yet, oldest first. */
  readonly pending: readonly PendingMessage[]
  /** There are messages before the first one here. */
  readonly hasOlder: boolean
  /** The next page is on its way. */
  readonly isLoadingOlder: boolean
  /** The last turn is being produced. False while it waits for a person. */
  readonly isRunning: boolean
  /** How this page is connected to the server. */
  readonly connection: Connection
  /** The server cannot store anything right now; what is shown is stored. */
  readonly isSavingInterrupted: boolean
}

/** A thread, live while somebody subscribes, and what can be done with it. */
export interface ThreadClient extends ObservableStore<ThreadSnapshot> {
  /** Loads one page more. Does nothing when there is none, or one is on its way. */
  readonly loadOlder: () => Promise<void>
  /**
   * Sends a message. It is in `pending` at once, and stays there as `failed` when this rejects. `replaces` is the id
   * of the message that it is an edit of; what followed that one leaves the thread.
   */
  readonly send: (
    parts: readonly UserPart[],
    options?: { readonly replaces?: string },
  ) => Promise<void>
  /** Sends a message again that failed, under the same id: it is stored once, whatever happened. */
  readonly retry: (pendingId: string) => Promise<void>
  /** Takes a message out of `pending`. One that is on its way may be stored all the same. */
  readonly discard: (pendingId: string) => void
  /** Puts back what could not be sent before the page was left, to be tried again or discarded. */
  readonly restore: (unsent: readonly PendingMessage[]) => void
  readonly stop: () => Promise<void>
  /** Answers again. @default messageId the last turn */
  readonly regenerate: (messageId?: string) => Promise<void>
  /** Goes on with a turn that ran out of steps or was broken off. */
  readonly continue: () => Promise<void>
  /** Accepts or rejects a call that waits. Rejects when somebody else was first, or the arguments do not fit. */
  readonly decide: (callId: string, decision: DecisionAnswer) => Promise<void>
  /** Several at once, in one request (AP6). */
  readonly decideAll: (callIds: readonly string[], decision: DecisionAnswer) => Promise<void>
  /** Says what became of a call whose outcome is unknown: run it again, it worked (with what `result`), skip it. */
  readonly resolve: (
    callId: string,
    resolution: 'retry' | 'done' | 'skip',
    result?: Json,
  ) => Promise<void>
}

/** What a person says about a call that waits for approval. */
export interface DecisionAnswer {
  readonly decision: 'accept' | 'reject'
  /** With `accept`: other arguments than the model gave. @default those of the model */
  readonly args?: Json
  /** With `reject`: why; the model is told. @default no reason */
  readonly feedback?: string
}

/** The options of `createThreadClient`. */
export interface ThreadClientOptions extends ApiOptions {
  readonly threadId: string
  readonly pageSize?: number
  /** A chat that does not exist yet: it begins with its first message. */
  readonly isNew?: boolean
  readonly random?: () => number
  readonly newId?: () => string
  readonly network?: Network
}

export const threadClientRules: OptionTable<ThreadClientOptions> = {
  ...apiRules,
  threadId: text(),
  pageSize: wholeNumber(1, 200, '30'),
  isNew: flag('false'),
  random: callback('Math.random'),
  newId: callback('random ids'),
  network: having('a network', ['isOnline', 'guard', 'wait'], 'the browser’s'),
}

interface LedgerPage {
  readonly results: readonly Message[]
  readonly nextCursor: string | null
  readonly seq: number
}

/**
 * A thread as a page shows it. It runs the same fold as the server over the same events; what it shows
 * is what is stored, and what was written here and is on its way.
 */
export function createThreadClient(options: ThreadClientOptions): ThreadClient {
  checkOptions('createThreadClient', options, threadClientRules)
  const { threadId, pageSize = 30, network = browserNetwork } = options
  const api: Api = createApi(options)
  const base = `/api/threads/${encodeURIComponent(threadId)}`
  const newId = options.newId ?? (() => crypto.randomUUID())
  let view: ThreadView = { seq: 0, messages: [] }
  let cursor: string | null = null
  let exists = options.isNew !== true

  const store = createExternalStore<ThreadSnapshot>(
    {
      threadId,
      status: exists ? 'loading' : 'ready',
      title: '',
      messages: [],
      pending: [],
      hasOlder: false,
      isLoadingOlder: false,
      isRunning: false,
      connection: { status: 'idle' },
      isSavingInterrupted: false,
    },
    () => {
      if (exists) connect()
      return leave
    },
  )
  let disconnect = () => {}

  const show = (change: Partial<ThreadSnapshot> = {}) =>
    store.update((snapshot) => {
      const stored = new Set(view.messages.map(({ id }) => id as string))
      const last = view.messages.at(-1)
      const pending = (change.pending ?? snapshot.pending).filter(({ id }) => !stored.has(id))
      return {
        ...snapshot,
        ...change,
        messages: view.messages,
        title: view.title ?? change.title ?? snapshot.title,
        hasOlder: cursor !== null,
        isRunning: last?.role === 'assistant' && last.progress.status === 'running',
        pending:
          pending.length === snapshot.pending.length
            ? (change.pending ?? snapshot.pending)
            : pending,
      }
    })

  const connect = () => {
    disconnect()
    const controller = new AbortController()
    disconnect = () => controller.abort()
    const onConnection = (event: ConnectionEvent) => {
      const connection = nextConnection(store.getSnapshot().connection, event)
      // A new connection is told again, if it is still so.
      const saving = event.type === 'opened' ? { isSavingInterrupted: false } : {}
      if (!controller.signal.aborted) show({ connection, ...saving })
      return connection.status === 'backing-off' ? connection.delayMs : null
    }
    void followThread(
      {
        api,
        threadId,
        position: () => view.seq,
        load: loadNewest,
        onFrame: (frame: EventFrame) => apply(toChanges(frame)),
        onSaving: ({ status }) => show({ isSavingInterrupted: status === 'saving-interrupted' }),
        onConnection,
        random: options.random ?? Math.random,
        isOnline: network.isOnline,
        guard: network.guard,
        wait: network.wait,
      },
      controller.signal,
    )
  }

  const leave = () => {
    disconnect()
    show({ connection: nextConnection(store.getSnapshot().connection, { type: 'stopped' }) })
  }

  const apply = (changes: readonly Change[]) => {
    const next = foldThread(view, changes)
    if (next === view) return
    view = next
    show()
  }

  const readPage = (from: string | null, signal?: AbortSignal): Promise<LedgerPage> => {
    const place = from === null ? '' : `&cursor=${encodeURIComponent(from)}`
    const path = `${base}/messages?format=ledger&results=lazy&limit=${pageSize}${place}`
    return api.get<LedgerPage>(path, signal)
  }

  const loadNewest = async (signal: AbortSignal) => {
    // What is here already is a place to follow from: who comes back sees it at once, and then the rest.
    if (view.seq > 0) return
    const [thread, page] = await Promise.all([
      api.get<{ readonly title: string }>(base, signal),
      readPage(null, signal),
    ])
    view = windowOf(page.seq, page.results.toReversed(), page.nextCursor)
    cursor = page.nextCursor
    show({ status: 'ready', title: thread.title })
  }

  /** The answer to it is followed, not read: closing it changes nothing about the run. */
  const ask = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await api.open(path, init)
    await response.body?.cancel()
  }

  const post = async (message: PendingMessage, replaces?: string) => {
    const { id, parts } = message
    const put = (state: PendingMessage) =>
      show({
        pending: [...store.getSnapshot().pending.filter((other) => other.id !== id), state],
      })
    put({ id, parts, state: 'sending' })
    try {
      await ask('/api/chat', {
        id: threadId,
        messages: [{ id, role: 'user', parts }],
        trigger: 'submit-message',
        ...(replaces === undefined ? {} : { messageId: replaces }),
      })
      if (!exists) {
        exists = true
        connect()
      }
    } catch (error) {
      put({ id, parts, state: 'failed', error: (error as ApiError).message })
      throw error
    }
  }

  return {
    ...store,
    async loadOlder() {
      if (cursor === null || store.getSnapshot().isLoadingOlder) return
      show({ isLoadingOlder: true })
      try {
        const page = await readPage(cursor)
        cursor = page.nextCursor
        const messages = [...page.results.toReversed(), ...view.messages]
        view = { ...view, ...windowOf(view.seq, messages, page.nextCursor) }
      } finally {
        show({ isLoadingOlder: false })
      }
    },
    send: (parts, { replaces } = {}) =>
      post({ id: replaces ?? newId(), parts, state: 'sending' }, replaces),
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
    async stop() {
      await api.post(`/api/chat/${encodeURIComponent(threadId)}/stop`, {})
    },
    regenerate: (messageId) =>
      ask('/api/chat', { id: threadId, messages: [], trigger: 'regenerate-message', messageId }),
    continue: () => ask(`/api/chat/${encodeURIComponent(threadId)}/continue`, {}),
    async decide(callId, answer) {
      await api.post(`${base}/tool-calls/${encodeURIComponent(callId)}/decision`, answer)
    },
    async decideAll(callIds, answer) {
      const decisions = callIds.map((callId) => ({ ...answer, callId }))
      await api.post(`${base}/decisions`, { decisions })
    },
    async resolve(callId, resolution, result) {
      const body = result === undefined ? { resolution } : { resolution, result }
      await api.post(`${base}/tool-calls/${encodeURIComponent(callId)}/resolve`, body)
    },
  }
}

/** With more before it, the view begins at its oldest message; else at the thread's beginning. */
function windowOf(
  seq: number,
  messages: readonly Message[],
  nextCursor: string | null,
): ThreadView & { readonly from: number } {
  return { seq, from: nextCursor === null ? 0 : (messages[0]?.seq ?? 0), messages }
}
