import { HoldfastError } from '../core/holdfast-error.ts'
import { parseOwnerId, parseThreadId, type Seq, type ThreadId } from '../core/ids.ts'
import { withDefined } from '../core/with-defined.ts'
import { defaultLimit } from '../protocol/page-query.ts'
import type { PageOrder } from '../store/store.ts'
import { type ExportQuery, exportQuery } from '../transfer/export-threads.ts'
import type { ShownInput } from '../views/queue-view.ts'
import type { ToolNames } from '../views/ui-part.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'
import { checkNames } from './check-names.ts'
import type { Engine } from './engine.ts'
import { type FeedbackResult, type FeedbackToGive, giveFeedback } from './give-feedback.ts'
import { type PageFormat, pageFormats, type PageItems, readMessagePage } from './message-page.ts'
import {
  type PostedMessage,
  postMessage,
  type PostOptions,
  type PostResult,
} from './post-message.ts'
import { createQueues, type Queues } from './queues.ts'
import { createShares, type Shares } from './shares.ts'
import { type ShowResult, showVersion } from './show-version.ts'
import { search, type SearchPage, type SearchRequest } from './search.ts'
import {
  createThreads,
  deleteOwner,
  type OwnerReceipt,
  type ThreadScope,
  type Threads,
} from './threads.ts'

/** What `messages` takes. */
export interface MessagesQuery<Format extends PageFormat = 'ui'> extends ThreadScope {
  /** @default 'ui' */
  readonly format?: Format
  /** From 1 to 200. A page may have fewer where its messages are large. @default 25 */
  readonly limit?: number
  /** `nextCursor` of the page before, of the same thread in the same order. @default the newest */
  readonly cursor?: string
  /** @default 'newest-first' */
  readonly order?: PageOrder
  /** `exclude` leaves out the turn that is being produced, and says in `live` which it is. @default 'include' */
  readonly live?: 'include' | 'exclude'
  /** `lazy` leaves out results over 16 kB, and says where each can be read. @default 'full' */
  readonly results?: 'full' | 'lazy'
  /** For `ui`: the major version of the AI SDK that reads it. @default what every version understands */
  readonly sdk?: SdkVersion
  /** For `ui`: whether each tool part says the tool's name beside its type. @default 'omit' */
  readonly toolNames?: ToolNames
  /** What the addresses of results that were left out begin with: the `basePath` of the handler. @default empty */
  readonly basePath?: string
}

/** One page of a thread. */
export interface MessagesPage<Format extends PageFormat = 'ui'> {
  /** In the order that was asked for. */
  readonly results: readonly PageItems[Format][]
  /** For the next page; null at the end. */
  readonly nextCursor: string | null
  readonly hasMore: boolean
  /** The thread's seq at this read: `subscribe` from there misses nothing. */
  readonly seq: Seq
  /** The same with which history it belongs to, for `after` of the event feed (OP6). */
  readonly place?: string
  /** With `live: 'exclude'`: the turn that was left out, or null. */
  readonly live?: { readonly messageId: string } | null
  /** The inputs that wait for their turn, in the order in which they are answered (IN2). */
  readonly queue: readonly ShownInput[]
}

/**
 * What a server component, a job or a script needs, without HTTP. The HTTP routes call these. Ids are plain strings; one
 * that cannot be an id is a `HoldfastError` with the code `bad-id`. What is not there is `null`, `false` or `no-thread`.
 */
export interface Library {
  /** Threads: their list, titles, metadata, end. */
  readonly threads: Threads
  /** Inputs that wait for their turn: what is there, and how it is changed, withdrawn or sent on. */
  readonly queues: Queues
  /** Links by which anybody may read a thread as it was at a moment. */
  readonly shares: Shares
  /** One page of a thread, newest first; null if there is no such thread. */
  messages<Format extends PageFormat = 'ui'>(
    threadId: string,
    query?: MessagesQuery<Format>,
  ): Promise<MessagesPage<Format> | null>
  /** Finds words in the titles and texts of an owner's threads, as they are shown now; newest first. */
  search(request: SearchRequest): Promise<SearchPage>
  /** Stores a message, an assistant's too, and answers nothing. */
  post(threadId: string, message: PostedMessage, options?: PostOptions): Promise<PostResult>
  /**
   * Shows another version of a message, and the thread below it as it was left (VR1): by the id that `versions` of a
   * message gives, or by any message on a hidden path. The model is sent what is shown. Refused while a turn runs.
   */
  show(threadId: string, version: string, scope?: ThreadScope): Promise<ShowResult>
  /**
   * Stores what a person thinks of an answer, one that is hidden too (FK4); the last word of each person counts. It is in
   * the metadata of the message and never sent to a model; hooks are told.
   */
  giveFeedback(messageId: string, feedback: FeedbackToGive): Promise<FeedbackResult>
  /**
   * One thread, those of an owner, or all, as JSON text in pieces: what `holdfast export` writes and `importThreads`
   * reads. Throws `thread-not-found` if the thread is not there.
   */
  export(query?: ExportQuery): AsyncGenerator<string, void>
  /**
   * Removes every thread of an owner with all that is in it, and says how much that was. Runs are stopped as by
   * `threads.delete`. Nothing of the owner is left in the store's rows; a new message of theirs begins anew.
   */
  deleteOwner(ownerId: string): Promise<OwnerReceipt>
}

const queryNames = [
  ...(['ownerId', 'format', 'limit', 'cursor', 'order', 'live', 'results'] as const),
  ...(['sdk', 'toolNames', 'basePath'] as const),
]

export function createLibrary(engine: Engine, newThreadId: () => ThreadId): Library {
  const { store } = engine
  return {
    threads: createThreads(engine, newThreadId),
    queues: createQueues(engine),
    shares: createShares(engine),
    messages: (threadId, query = {}) => readMessages(engine, threadId, query),
    search: (request) => search(store, request),
    post: (threadId, message, options) => postMessage(engine, threadId, message, options),
    show: (threadId, version, scope) => showVersion(engine, threadId, version, scope),
    giveFeedback: (messageId, feedback) => giveFeedback(engine, messageId, feedback),
    async *export(query = {}) {
      checkNames('export', query, ['threadId', 'ownerId', 'format'])
      yield* exportQuery(store, query)
    },
    deleteOwner: (ownerId) => deleteOwner(engine, ownerId),
  }
}

const queryWords: Readonly<Partial<Record<keyof MessagesQuery, readonly unknown[]>>> = {
  format: pageFormats,
  order: ['newest-first', 'oldest-first'],
  live: ['include', 'exclude'],
  results: ['full', 'lazy'],
  sdk: [5, 6, 7],
  toolNames: ['include', 'omit'],
}

function checkWord(name: string, query: object, words: readonly unknown[]): void {
  const value: unknown = Object.entries(query).find(([key]) => key === name)?.[1]
  if (value === undefined || words.includes(value)) return
  throw new HoldfastError('bad-request', `"${name}" is one of ${words.join(', ')}.`)
}

async function readMessages<Format extends PageFormat>(
  { store }: Engine,
  threadId: string,
  query: MessagesQuery<Format>,
): Promise<MessagesPage<Format> | null> {
  checkNames('messages', query, queryNames)
  for (const [name, words] of Object.entries(queryWords)) checkWord(name, query, words)
  const { ownerId, format, limit, ...rest } = query
  const wanted = ownerId === undefined ? undefined : parseOwnerId(ownerId)
  const page = await readMessagePage<Format>(
    store,
    withDefined(
      {
        threadId: parseThreadId(threadId),
        format: format ?? ('ui' as Format),
        limit: limit ?? defaultLimit,
      },
      rest,
    ),
  )
  if (page === null || (wanted !== undefined && page.ownerId !== wanted)) return null
  const { ownerId: _, live, ...shown } = page
  if (query.live !== 'exclude') return shown
  return { ...shown, live: live === null ? null : { messageId: live } }
}
