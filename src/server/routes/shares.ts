import { assertNever } from '../../core/assert-never.ts'
import { isShareId, type Share } from '../../core/share.ts'
import { withDefined } from '../../core/with-defined.ts'
import { pageFormats } from '../../engine/threads/message-page.ts'
import { ApiError } from '../../protocol/api-error.ts'
import { defaultLimit, parseLimit } from '../../protocol/page-query.ts'
import { toIsoDate } from '../../views/iso-date.ts'
import { asOwner, oneOf, orNotFound, parameter, type ServerContext, threadOf } from '../context.ts'
import { notFound } from '../http-error.ts'
import { toJsonResponse } from '../json-response.ts'
import type { Route, RouteRequest } from '../router.ts'
import { serveFile } from '../serve-file.ts'
import { sdkOf } from './messages.ts'

/** Not cached, so that a revoked link shows nothing from then on. */
const cacheControl = 'no-store'

/** Links to threads (FK5): created and revoked by the owner, read by anybody who has one. */
export function shareRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, inFlight, reads, sharing, transfers } = context
  const { shares, store } = holdfast
  /**
   * A link that does not exist, was revoked or is switched off gets the same error. `reader` is who the response counts
   * for: nobody knows who reads a link, and an owner can make any number of them, so all readers of one owner's links
   * have one set of limits, beside the owner's own (OP7a).
   */
  const findLink = async ({ params }: RouteRequest) => {
    const { id } = params
    if (!sharing || !isShareId(id)) throw noLink()
    // What is shown is read with the link again: it may have been revoked while the request waited for its turn.
    // Undefined: the store has no links, which that read reports.
    const share = await store.shares?.read(id)
    if (share === null) throw noLink()
    // No owner id has a line feed: no owner is mistaken for the readers of another's links.
    return { id, reader: `links\n${share?.ownerId}` }
  }
  return [
    {
      method: 'POST',
      path: '/api/threads/:id/shares',
      async handle(request) {
        const { ownerId, basePath } = request
        const id = threadOf(request)
        const result = await asOwner(context, request, id, async () => {
          if (sharing) return reads.gateOf(ownerId)(() => shares.create(id, { ownerId }))
          throw new ApiError(403, 'sharing-off', 'Threads are not shared on this server.')
        })
        switch (result.kind) {
          case 'shared':
            return Response.json(toShareJson(result.share, basePath), { status: 201 })
          case 'nothing-to-share':
            throw new ApiError(409, 'nothing-to-share', 'Nothing in this thread can be shared yet.')
          case 'no-thread':
            throw notFound('thread')
          default:
            return assertNever(result)
        }
      },
    },
    {
      method: 'GET',
      path: '/api/threads/:id/shares',
      async handle(request) {
        const { ownerId, basePath } = request
        const found = orNotFound(await shares.list(threadOf(request), { ownerId }))
        const results = found.map((share) => toShareJson(share, basePath))
        return Response.json({ results, nextCursor: null, hasMore: false })
      },
    },
    {
      method: 'DELETE',
      path: '/api/threads/:id/shares/:shareId',
      async handle(request) {
        const { ownerId, params } = request
        const id = params['shareId'] ?? ''
        if (!(await shares.revoke(threadOf(request), id, { ownerId }))) throw noLink()
        return new Response(null, { status: 204 })
      },
    },
    {
      method: 'GET',
      path: '/api/shares/:id/messages',
      isForReaders: true,
      async handle(request) {
        const { url, basePath } = request
        const { id, reader } = await findLink(request)
        const format = oneOf(url, 'format', pageFormats) ?? 'ui'
        const limit = parseLimit(parameter(url, 'limit') ?? defaultLimit)
        const query = withDefined(
          { format, limit, basePath },
          { cursor: parameter(url, 'cursor'), sdk: sdkOf(url) },
        )
        inFlight.admit(reader)
        const page = await reads.gateOf(reader)(() => shares.messages(id, query))
        if (page === null) throw noLink()
        const shown = { ...page, sharedAt: toIsoDate(page.sharedAt) }
        return toJsonResponse(context, reader, shown)
      },
    },
    {
      method: 'GET',
      path: '/api/shares/:id/tool-calls/:callId',
      isForReaders: true,
      async handle(request) {
        const { id, reader } = await findLink(request)
        inFlight.admit(reader)
        const callId = request.params['callId'] ?? ''
        const read = () => shares.result(id, callId, request.basePath)
        const result = await reads.gateOf(reader)(read)
        if (result === null) throw noLink()
        return toJsonResponse(context, reader, result)
      },
    },
    {
      method: 'GET',
      path: '/api/shares/:id/files/:fileId',
      isForReaders: true,
      async handle(request) {
        const { id, reader } = await findLink(request)
        const found = await shares.file(id, request.params['fileId'] ?? '')
        if (found === null) throw noLink()
        return serveFile(request.request, {
          ...found,
          cacheControl,
          admit: () => {
            inFlight.admit(reader)
            return transfers.acquire(reader)
          },
        })
      },
    },
  ]
}

const noLink = (): ApiError =>
  new ApiError(
    404,
    'share-not-found',
    'This conversation does not exist, or it is no longer shared.',
  )

const toShareJson = ({ id, seq, createdAt }: Share, basePath: string) => ({
  id,
  url: `${basePath}/api/shares/${id}/messages`,
  seq,
  createdAt: toIsoDate(createdAt),
})
