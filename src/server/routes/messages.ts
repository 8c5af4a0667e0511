import { assertNever } from '../../core/assert-never.ts'
import { type MessageId, parseMessageId } from '../../core/ids.ts'
import { parseVersionId } from '../../core/versions.ts'
import { withDefined } from '../../core/with-defined.ts'
import { defaultLimit, parseLimit } from '../../protocol/page-query.ts'
import {
  type MessagePageQuery,
  pageFormats,
  readMessagePage,
} from '../../engine/threads/message-page.ts'
import { type EntityKind, entityKinds } from '../../views/entity-rows.ts'
import type { SdkVersion } from '../../views/ui-vocabulary.ts'
import type { MessagesQuery } from '../../engine/library.ts'
import { oneOf, orNotFound, parameter, type ServerContext, threadOf } from '../context.ts'
import { badRequest, notFound, runActive } from '../http-error.ts'
import { toJsonResponse } from '../json-response.ts'
import type { Route, RouteRequest } from '../router.ts'

/** Any of these parameters selects the older query. */
const olderNames = ['vercel_format', 'page_size', 'entity', 'sort'] as const

export function messageRoutes(context: ServerContext): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/threads/:id/messages',
      async handle(request) {
        const { url } = request
        const isOlder = olderNames.some((name) => url.searchParams.has(name))
        context.inFlight.admit(request.ownerId)
        const page = isOlder
          ? await readOlder(context, request, url)
          : await readPage(context, request, url)
        return toJsonResponse(context, request.ownerId, page)
      },
    },
    {
      method: 'POST',
      path: '/api/threads/:id/messages/:messageId/show',
      async handle(request) {
        const { ownerId, params } = request
        const version = parseVersion(params['messageId'] ?? '')
        const shown = await context.holdfast.show(threadOf(request), version, { ownerId })
        switch (shown.kind) {
          case 'shown': {
            const { kind, ...answer } = shown
            return Response.json(answer)
          }
          case 'run-active':
            throw runActive(shown.turnId)
          case 'no-message':
            throw notFound('message')
          case 'no-thread':
            throw notFound('thread')
          default:
            return assertNever(shown)
        }
      },
    },
  ]
}

async function readPage(
  { holdfast, reads }: ServerContext,
  request: RouteRequest,
  url: URL,
): Promise<object> {
  const { ownerId, basePath } = request
  const threadId = threadOf(request)
  const format = oneOf(url, 'format', pageFormats) ?? 'ui'
  const toolNames = oneOf(url, 'toolNames', ['include', 'omit'])
  if (toolNames !== undefined && format !== 'ui') {
    throw badRequest('"toolNames" needs format=ui: every other format has the names.')
  }
  const limit = parseLimit(parameter(url, 'limit') ?? defaultLimit)
  const wanted = { ownerId, basePath, format, limit, ...rangeOf(url) }
  const query = withDefined(wanted, { sdk: sdkOf(url), toolNames })
  const read = () => holdfast.messages(threadId, query)
  return orNotFound(await reads.gateOf(ownerId)(read))
}

/** A value that cannot be stored as an id is refused before it is looked up (HT3). A place may follow the id. */
function parseVersion(text: string): string {
  const [{ id } = { id: text }] = parseVersionId(text)
  parseMessageId(id)
  return text
}

/** The older query (FD8): rows, or the messages that they form, with other names and in another shape. */
async function readOlder(context: ServerContext, request: RouteRequest, url: URL): Promise<object> {
  const threadId = threadOf(request)
  const newer = ['format', 'limit', 'sdk', 'toolNames'].find((name) => url.searchParams.has(name))
  if (newer !== undefined) {
    throw badRequest(`"${newer}" cannot be combined with ${olderNames.join(', ')}.`)
  }
  const isVercel = oneOf(url, 'vercel_format', ['true', 'false']) === 'true'
  const sort = oneOf(url, 'sort', ['creation_date', '-creation_date']) ?? '-creation_date'
  const entities = entitiesOf(url)
  const pageSize = parseLimit(parameter(url, 'page_size') ?? defaultLimit, 'page_size')
  const page = await readOlderPage(context, request, {
    threadId,
    basePath: request.basePath,
    format: isVercel ? 'vercel' : 'entities',
    limit: pageSize,
    order: sort === '-creation_date' ? 'newest-first' : 'oldest-first',
    older: { entities },
    ...rangeOf(url),
  })
  return {
    next_cursor: page.nextCursor,
    has_more: page.hasMore,
    page_size: pageSize,
    results: page.results,
    ...liveOf(url, page.live),
  }
}

/** A comma-separated list; null for all. */
function entitiesOf(url: URL): readonly EntityKind[] | null {
  const list = parameter(url, 'entity')
  if (list === undefined) return null
  return list.split(',').map((word) => {
    const kind = entityKinds.find((known) => known === word.trim())
    if (kind === undefined) throw badRequest(`"entity" is a list of ${entityKinds.join(', ')}.`)
    return kind
  })
}

/** The parameters that both queries share. */
function rangeOf(url: URL): Pick<MessagesQuery, 'cursor' | 'live' | 'results'> {
  const cursor = parameter(url, 'cursor')
  const live = oneOf(url, 'live', ['include', 'exclude'])
  const results = oneOf(url, 'results', ['full', 'lazy'])
  return withDefined({}, { cursor, live, results })
}

/** A client that excludes the live turn is sent its id. */
const liveOf = (url: URL, left: MessageId | null): object =>
  parameter(url, 'live') === 'exclude' ? { live: left === null ? null : { messageId: left } } : {}

/** One read: the page contains the thread's owner, and another owner's thread is treated as not existing (HT2). */
async function readOlderPage(
  { holdfast, reads }: ServerContext,
  { ownerId }: RouteRequest,
  query: MessagePageQuery,
) {
  const page = await reads.gateOf(ownerId)(() => readMessagePage(holdfast.store, query))
  if (page === null || page.ownerId !== ownerId) throw notFound('thread')
  return page
}

/** `?sdk=5|6|7`: the version whose chunk types the client understands. */
export function sdkOf(url: URL): SdkVersion | undefined {
  const sdk = oneOf(url, 'sdk', ['5', '6', '7'])
  return sdk === undefined ? undefined : (Number(sdk) as SdkVersion)
}
