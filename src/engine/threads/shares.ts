import { appendAll } from '../../core/append-all.ts'
import type { FileRecord } from '../../core/file.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { type CallId, parseThreadId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import { isShareId, type Share, withSharedFiles } from '../../core/share.ts'
import { withDefined } from '../../core/with-defined.ts'
import { toSharedCallAddress } from '../../protocol/addresses.ts'
import {
  defaultLimit,
  parseCursor,
  parseLimit,
  toCursor,
  withCursor,
} from '../../protocol/page-query.ts'
import type { ByteRange } from '../../files/file-store.ts'
import type { ShareRecords } from '../../store/share-records.ts'
import { createPacer } from '../../store/pacer.ts'
import { largestTurnBytes } from '../../store/store.ts'
import type { SdkVersion } from '../../views/ui-vocabulary.ts'
import { checkNames } from '../options/check-names.ts'
import type { Engine } from '../engine.ts'
import { type PageFormat, pageFormats, type PageItems, projectMessage } from './message-page.ts'
import { type ShareResult, shareThread } from './share-thread.ts'
import { findThread, type ThreadScope } from '../thread-scope.ts'

/** The options of `shares.messages`. */
export interface SharedMessagesQuery<Format extends PageFormat = 'ui'> {
  /** @default 'ui' */
  readonly format?: Format
  /** From 1 to 200. A page may have fewer where its messages are large. @default 25 */
  readonly limit?: number
  /** `nextCursor` of the previous page of the same link. @default the newest */
  readonly cursor?: string | null
  /** For `ui`: the major version of the AI SDK that reads it. @default what every version understands */
  readonly sdk?: SdkVersion
  /** The prefix of the addresses of files and large results: the `basePath` of the handler. @default empty */
  readonly basePath?: string
}

/** One page of a shared thread, newest first. */
export interface SharedMessagesPage<Format extends PageFormat = 'ui'> {
  /** The title of the thread when it was shared. */
  readonly title: string
  /** When it was shared, in milliseconds since 1970. */
  readonly sharedAt: number
  readonly results: readonly PageItems[Format][]
  /** For the next page; null at the end. */
  readonly nextCursor: string | null
  readonly hasMore: boolean
}

/** The result of a call that was too large for a page. */
export interface SharedResult {
  readonly id: CallId
  readonly name: string
  readonly result: Json
}

/**
 * Links by which anybody may read a thread as it was at one moment (FK5). The id of a link is the permission: the last
 * three methods check no owner. For a link that does not exist, was revoked, or belonged to a deleted thread they all
 * return null.
 */
export interface Shares {
  /**
   * Copies what is visible of the thread, up to the last answer that has ended, and creates a link. Later messages,
   * edits, version switches and ratings are not visible through it. At most 50 links for each thread (`shares-full`).
   */
  create(threadId: string, scope?: ThreadScope): Promise<ShareResult>
  /** Newest first; null if there is no such thread. */
  list(threadId: string, scope?: ThreadScope): Promise<readonly Share[] | null>
  /** Revokes the link, and deletes its copy. False: the thread has no link with this id. */
  revoke(threadId: string, shareId: string, scope?: ThreadScope): Promise<boolean>
  messages<Format extends PageFormat = 'ui'>(
    shareId: string,
    query?: SharedMessagesQuery<Format>,
  ): Promise<SharedMessagesPage<Format> | null>
  /** A file that a shared message refers to, and no other. */
  file(shareId: string, fileId: string): Promise<SharedFile | null>
  /** A result that a page left out because of its size. */
  result(shareId: string, callId: string, basePath?: string): Promise<SharedResult | null>
}

/** A file, and its bytes or a range of them; null if they are gone. */
export interface SharedFile {
  readonly file: Omit<FileRecord, 'ownerId'>
  read(range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>
}

export function createShares(engine: Engine): Shares {
  const used = (): ShareRecords => {
    const { shares } = engine.store
    if (shares !== undefined) return shares
    throw new HoldfastError('no-shares', 'This store does not support links to threads.')
  }
  const find = async (id: string) => (isShareId(id) ? used().read(id) : null)
  return {
    create: async (threadId, scope) => shareThread(engine, used(), parseThreadId(threadId), scope),
    async list(threadId, scope) {
      const records = used()
      const thread = await findThread(engine.store, threadId, scope)
      return thread === null ? null : records.list(thread.id, thread.incarnation)
    },
    async revoke(threadId, id, scope) {
      const records = used()
      const thread = await findThread(engine.store, threadId, scope)
      if (thread === null || !isShareId(id)) return false
      return records.remove(thread.id, id, thread.incarnation)
    },
    async messages(id, query = {}) {
      const { limit, before } = parseQuery(id, query)
      const found = await find(id)
      return found === null ? null : readPage(used(), found, query, limit, before)
    },
    async file(id, fileId) {
      const share = await find(id)
      if (share === null || !share.files.includes(fileId)) return null
      const { ownerId } = share
      const record = await engine.files.get(fileId, { ownerId })
      if (record === null) return null
      const { ownerId: _, ...file } = record
      // No owner id has a line feed: the readers of their links take turns with the owner, as one.
      const user = `links\n${ownerId}`
      return { file, read: (range) => engine.files.read(fileId, range, { user }) }
    },
    async result(id, callId, basePath = '') {
      const share = await find(id)
      if (share === null || !share.calls.includes(callId)) return null
      const found = await engine.store.readCall(share.threadId, callId, 'lazy')
      // The result of a succeeded call never changes: the current one is the one that was shared.
      if (found?.call.state !== 'succeeded' || found.call.output.kind !== 'inline') return null
      const { name, output } = found.call
      const text = withSharedFiles(JSON.stringify(output.value), share.id, basePath)
      return { id: callId, name, result: JSON.parse(text) as Json }
    },
  }
}

const listOf = (id: string): string => `share ${id}`

function parseQuery(
  id: string,
  query: SharedMessagesQuery<PageFormat>,
): { readonly limit: number; readonly before: number | null } {
  checkNames('shares.messages', query, ['format', 'limit', 'cursor', 'sdk', 'basePath'])
  const { format = 'ui', limit, cursor } = query
  if (!pageFormats.includes(format)) {
    throw new HoldfastError('bad-request', `"format" is one of ${pageFormats.join(', ')}.`)
  }
  return {
    limit: parseLimit(limit ?? defaultLimit),
    before: withCursor(cursor, (given) => parseCursor(listOf(id), given)),
  }
}

async function readPage<Format extends PageFormat>(
  records: ShareRecords,
  share: Share & { readonly title: string },
  { format, sdk, basePath = '' }: SharedMessagesQuery<Format>,
  limit: number,
  before: number | null,
): Promise<SharedMessagesPage<Format>> {
  const { id, title, createdAt: sharedAt } = share
  const page = await records.readTexts({ id, before, limit, maxBytes: largestTurnBytes })
  const options = withDefined(
    { lazyHref: (call: { readonly id: CallId }) => toSharedCallAddress(id, call.id, basePath) },
    { sdk },
  )
  const pace = createPacer()
  const results: PageItems[Format][] = []
  for (const { body } of page.texts) {
    const message = JSON.parse(withSharedFiles(body, id, basePath)) as Message
    appendAll(results, projectMessage(message, format ?? ('ui' as Format), options))
    await pace()
  }
  const last = page.texts.at(-1)?.nth
  const isMore = page.hasMore && last !== undefined
  return {
    title,
    sharedAt,
    results,
    nextCursor: isMore ? toCursor(listOf(id), last) : null,
    hasMore: isMore,
  }
}
