import type { ThreadId } from '../../core/ids.ts'
import { defaultLimit, parseLimit } from '../../paging/limit.ts'
import {
  type MessagePageQuery,
  pageFormats,
  readMessagePage,
} from '../../store/read-message-page.ts'
import type { SdkVersion } from '../../views/ui-vocabulary.ts'
import { findThread, oneOf, parameter, type ServerContext } from '../context.ts'
import { badRequest, notFound } from '../http-error.ts'
import type { Route } from '../router.ts'

export function messageRoutes(context: ServerContext): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/threads/:id/messages',
      async handle(request) {
        const { id } = await findThread(context, request)
        const { url } = request
        const isOlder = ['vercel_format', 'page_size', 'entity', 'sort'].some((name) =>
          url.searchParams.has(name),
        )
        return Response.json(
          isOlder ? await readOlder(context, id, url) : await readPage(context, id, url),
        )
      },
    },
  ]
}

async function readPage(context: ServerContext, threadId: ThreadId, url: URL): Promise<object> {
  const format = oneOf(url, 'format', pageFormats) ?? 'ui'
  const live = oneOf(url, 'live', ['include', 'exclude'])
  const results = oneOf(url, 'results', ['full', 'lazy'])
  const sdk = sdkOf(url)
  if (live !== undefined && format !== 'ui') throw badRequest('"live" goes with format=ui only.')
  const page = await read(context, {
    threadId,
    format,
    limit: parseLimit(parameter(url, 'limit') ?? defaultLimit),
    ...cursorOf(url),
    ...(live === undefined ? {} : { live }),
    ...(results === undefined ? {} : { results }),
    ...(sdk === undefined ? {} : { sdk }),
  })
  const { live: left, ...rest } = page
  if (live !== 'exclude') return rest
  return { ...rest, live: left === null ? null : { messageId: left } }
}

const entities = ['USER', 'AI_TOOL', 'TOOL', 'AI_MESSAGE'] as const

/** The older query (FD8): other names for the same page. */
async function readOlder(context: ServerContext, threadId: ThreadId, url: URL): Promise<object> {
  const isVercel = (oneOf(url, 'vercel_format', ['true', 'false']) ?? 'true') === 'true'
  const sort = oneOf(url, 'sort', ['creation_date', '-creation_date']) ?? '-creation_date'
  const wanted = parameter(url, 'entity')?.split(',')
  const unknown = wanted?.find((word) => !entities.some((known) => known === word))
  if (unknown !== undefined) throw badRequest(`"entity" is a list of ${entities.join(', ')}.`)
  const pageSize = parseLimit(parameter(url, 'page_size') ?? defaultLimit, 'page_size')
  const page = await read(context, {
    threadId,
    format: isVercel ? 'vercel' : 'entities',
    limit: pageSize,
    order: sort === '-creation_date' ? 'newest-first' : 'oldest-first',
    ...cursorOf(url),
  })
  const results = page.results.filter(
    (row) => wanted === undefined || !('entity' in row) || wanted.includes(row.entity),
  )
  return {
    next_cursor: page.nextCursor,
    has_more: page.hasMore,
    page_size: pageSize,
    results,
  }
}

async function read({ holdfast }: ServerContext, query: MessagePageQuery) {
  const page = await readMessagePage(holdfast.store, query)
  if (page === null) throw notFound('thread')
  return page
}

function cursorOf(url: URL): { readonly cursor?: string } {
  const cursor = parameter(url, 'cursor')
  return cursor === undefined ? {} : { cursor }
}

/** `?sdk=5|6|7`: the vocabulary that the client understands. */
export function sdkOf(url: URL): SdkVersion | undefined {
  const sdk = oneOf(url, 'sdk', ['5', '6', '7'])
  return sdk === undefined ? undefined : (Number(sdk) as SdkVersion)
}
