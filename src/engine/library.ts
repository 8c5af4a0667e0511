import { HoldfastError } from '../core/holdfast-error.ts'
import { parseOwnerId, parseStoredThreadId, type Seq, type ThreadId } from '../core/ids.ts'
import { withDefined } from '../core/with-defined.ts'
import { defaultLimit } from '../protocol/page-query.ts'
import type { PageOrder } from '../store/store.ts'
import { type ExportQuery, exportQuery } from '../transfer/export-threads.ts'
import type { ShownInput } from '../views/queue-view.ts'
import type { ToolNames } from '../views/ui-part.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'
import { checkNames } from './options/check-names.ts'
import type { Engine } from './engine.ts'
import { type FeedbackResult, type FeedbackToGive, giveFeedback } from './threads/give-feedback.ts'
import {
  type PageFormat,
  pageFormats,
  type PageItems,
  readMessagePage,
} from './threads/message-page.ts'
import {
  type PostedMessage,
  postMessage,
  type PostOptions,
  type PostResult,
} from './threads/post-message.ts'
import { createQueues, type Queues } from './input/queues.ts'
import { createShares, type Shares } from './threads/shares.ts'
import { type ShowResult, showVersion } from './threads/show-version.ts'
import { search, type SearchPage, type SearchRequest } from './threads/search.ts'
import type { SearchFiller } from './threads/search-filler.ts'
import {
  createThreads,
  deleteOwner,
  type OwnerReceipt,
  type ThreadScope,
  type Threads,
} from './threads/threads.ts'

/** The options of `messages`. */
export interface MessagesQuery<Format extends PageFormat = 'ui'> extends ThreadScope {
  /** @default 'ui' */
  readonly format?: Format
  /** From 1 to 200. A page may have fewer where its messages are large. @default 25 */
  readonly limit?: number
  /** `nextCursor` of the previous page, of the same thread in the same order. @default the newest */
  readonly cursor?: string | null
  /** @default 'newest-first' */
  readonly order?: PageOrder
  /** `exclude` leaves out the turn that is being produced, and `live` identifies it. @default 'include' */
  readonly live?: 'include' | 'exclude'
  /** `lazy` leaves out results over 16 kB, with an address for each. @default 'full' */
  readonly results?: 'full' | 'lazy'
  /** For `ui`: the major version of the AI SDK that reads it. @default what every version understands */
  readonly sdk?: SdkVersion
  /** For `ui`: whether each tool part has the tool's name beside its type. @default 'omit' */
  readonly toolNames?: ToolNames
  /** The prefix of the addresses of results that were left out: the `basePath` of the handler. @default empty */
  readonly basePath?: string
}

/** One page of a thread. */
export interface MessagesPage<Format extends PageFormat = 'ui'> {
  /** In the requested order. */
  readonly results: readonly PageItems[Format][]
  /** For the next page; null at the end. */
  readonly nextCursor: string | null
  readonly hasMore: boolean
  /** The thread's seq at this read: `subscribe` from there misses nothing. */
  readonly seq: Seq
  /** The place: the seq together with the history it belongs to, for `after` of the event feed (OP6). */
  readonly place?: string
  /** With `live: 'exclude'`: the turn that was left out, or null. */
  readonly live?: { readonly messageId: string } | null
  /** The queued inputs, in the order in which they are answered (IN2). */
  readonly queue: readonly ShownInput[]
}

/**
 * What a server component, a job or a script needs, without HTTP. The HTTP routes call these. Ids are plain strings;
 * one that cannot be an id is a `HoldfastError` with the code `bad-id`. What does not exist is `null`, `false` or
 * `no-thread`.
 */
export interface Library {
  /** Threads: list, titles, metadata, deletion. */
  readonly threads: Threads
  /** Queued inputs: list, change, withdraw, release. */
  readonly queues: Queues
  /** Links by which anybody may read a thread as it was at one moment. */
  readonly shares: Shares
  /** One page of a thread, newest first; null if there is no such thread. */
  messages<Format extends PageFormat = 'ui'>(
    threadId: string,
    query?: MessagesQuery<Format>,
  ): Promise<MessagesPage<Format> | null>
  /** Finds words in the titles and texts of an owner's threads, as they are visible now; newest first. */
  search(request: SearchRequest): Promise<SearchPage>
  /**
   * Begins to fill the index of search for an owner, in the background: so that the first search of a person with a long
   * history need not wait for it. The server does so when it first lists the threads of a person, and after an import.
   */
  prepareSearch(ownerId: string): void
  /** Stores a message, an assistant's too, without answering it. */
  post(threadId: string, message: PostedMessage, options?: PostOptions): Promise<PostResult>
  /**
   * Shows another version of a message, and the thread below it as it was left (VR1): by an id in `versions` of a
   * message, or by any message on a hidden path. The model is sent what is visible. Refused while a turn runs.
   */
  show(threadId: string, version: string, scope?: ThreadScope): Promise<ShowResult>
  /**
   * Stores a person's feedback on an answer, a hidden one too (FK4); the last feedback of each person counts. It is in
   * the metadata of the message and never sent to a model; hooks receive it.
   */
  giveFeedback(messageId: string, feedback: FeedbackToGive): Promise<FeedbackResult>
  /**
   * One thread, those of an owner, or all, as JSON text in chunks: what `holdfast export` writes and `importThreads`
   * reads. Throws `thread-not-found` if the thread does not exist.
   */
  export(query?: ExportQuery): AsyncGenerator<string, void>
  /**
   * Removes every thread of an owner with all its content, and returns the counts. Runs are stopped as by
   * `threads.delete`. Nothing of the owner is left in the store's rows; a new message of theirs begins a new thread.
   */
  deleteOwner(ownerId: string): Promise<OwnerReceipt>
}

const queryNames = [
  ...(['ownerId', 'format', 'limit', 'cursor', 'order', 'live', 'results'] as const),
  ...(['sdk', 'toolNames', 'basePath'] as const),
]

export function createLibrary(
  engine: Engine,
  newThreadId: () => ThreadId,
  filler: SearchFiller,
): Library {
  const { store } = engine
  return {
    threads: createThreads(engine, newThreadId),
    queues: createQueues(engine),
    shares: createShares(engine),
    messages: (threadId, query = {}) => readMessages(engine, threadId, query),
    search: (request) => search(store, filler, request),
    prepareSearch: (ownerId) => filler.prepare(parseOwnerId(ownerId)),
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
        threadId: parseStoredThreadId(threadId),
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
