import { assertNever } from '../../core/assert-never.ts'
import { type OwnerId, parseMessageId, parseThreadId } from '../../core/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import type { ListedThread, ThreadRecord } from '../../core/thread.ts'
import { withDefined } from '../../core/with-defined.ts'
import {
  parseFlag,
  parseMetadata,
  parseTitle,
  type ThreadChange,
} from '../../engine/threads/threads.ts'
import { ApiError } from '../../protocol/api-error.ts'
import { defaultLimit, parseLimit } from '../../protocol/page-query.ts'
import { toIsoDate } from '../../views/iso-date.ts'
import { projectQueue } from '../../views/queue-view.ts'
import {
  asOwner,
  checkMadeUpId,
  readOwnThread,
  orNotFound,
  parameter,
  type ServerContext,
  threadOf,
} from '../context.ts'
import { badRequest, notFound, runActive } from '../http-error.ts'
import { toJsonResponse } from '../json-response.ts'
import { readJson } from '../read-json.ts'
import type { Route, RouteRequest } from '../router.ts'

const mostPrepared = 10_000

export function threadRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, limits, threadMetadata, inFlight, reads } = context
  const { threads } = holdfast
  const list = (thread: ListedThread) => toThreadJson(thread, threadMetadata !== 'hidden')
  /** With its queue, which may have a megabyte: the response counts for its owner (OP7a). */
  const show = (ownerId: OwnerId, thread: ThreadRecord, status?: number) => {
    const shown = { ...list(thread), queue: projectQueue(thread.queue) }
    return toJsonResponse(context, ownerId, shown, status)
  }
  const prepared = new Set<OwnerId>()
  /** Once for each owner: whoever lists their threads may search next. */
  const prepareSearch = (ownerId: OwnerId): void => {
    if (prepared.has(ownerId)) return
    // Forgetting them all costs each one look at their index.
    if (prepared.size >= mostPrepared) prepared.clear()
    prepared.add(ownerId)
    holdfast.prepareSearch(ownerId)
  }
  const readChange = async (request: RouteRequest): Promise<[JsonObject, ThreadChange]> => {
    const body = parseObject(await readJson(request, limits.bodyBytes))
    const { title, pinned, archived, metadata } = body
    if (metadata !== undefined && threadMetadata !== 'write') {
      throw new ApiError(
        403,
        'forbidden',
        'Clients may not set the metadata of a thread on this server.',
      )
    }
    const change = withDefined(
      {},
      {
        title: title === undefined ? undefined : parseTitle(title),
        pinned: parseFlag('pinned', pinned),
        archived: parseFlag('archived', archived),
        metadata: metadata === undefined ? undefined : parseMetadata(metadata),
      },
    )
    return [body, change]
  }
  return [
    {
      method: 'POST',
      path: '/api/threads',
      async handle(request) {
        const { ownerId } = request
        const [body, change] = await readChange(request)
        const { pinned: _, archived: __, ...given } = change
        const id = body['id'] === undefined ? undefined : parseThreadId(body['id'])
        inFlight.admit(ownerId)
        if (id !== undefined) await checkMadeUpId(context, request, id)
        const created = await threads.create(withDefined({ ...given, ownerId }, { id }))
        if (created.kind === 'taken') throw notFound('thread')
        return show(ownerId, created.thread, created.kind === 'created' ? 201 : 200)
      },
    },
    {
      method: 'GET',
      path: '/api/threads',
      async handle({ url, ownerId }) {
        const limit = parseLimit(parameter(url, 'limit') ?? defaultLimit)
        const wanted = {
          cursor: parameter(url, 'cursor'),
          archived: parseOne(url, 'archived'),
          pinned: parseOne(url, 'pinned'),
        }
        inFlight.admit(ownerId)
        const read = () => threads.list(withDefined({ ownerId, limit }, wanted))
        const page = await reads.gateOf(ownerId)(read)
        prepareSearch(ownerId)
        return toJsonResponse(context, ownerId, { ...page, results: page.results.map(list) })
      },
    },
    {
      method: 'GET',
      path: '/api/threads/:id',
      async handle(request) {
        const { ownerId } = request
        inFlight.admit(ownerId)
        return show(ownerId, await reads.gateOf(ownerId)(() => readOwnThread(context, request)))
      },
    },
    {
      method: 'PATCH',
      path: '/api/threads/:id',
      async handle(request) {
        const id = threadOf(request)
        return asOwner(context, request, id, async () => {
          const [, change] = await readChange(request)
          if (Object.keys(change).length === 0) {
            throw badRequest('"title", "pinned" or "archived" is required.')
          }
          const { ownerId } = request
          inFlight.admit(ownerId)
          return show(ownerId, orNotFound(await threads.update(id, change, { ownerId })))
        })
      },
    },
    {
      method: 'POST',
      path: '/api/threads/:id/fork',
      async handle(request) {
        const { ownerId } = request
        const id = threadOf(request)
        const forked = await asOwner(context, request, id, async () => {
          const body = parseObject(await readJson(request, limits.bodyBytes))
          const { messageId, title } = body
          const newId = body['id'] === undefined ? undefined : parseThreadId(body['id'])
          if (newId !== undefined) await checkMadeUpId(context, request, newId)
          const wanted = {
            id: newId,
            messageId: messageId === undefined ? undefined : parseMessageId(messageId),
            title: title === undefined ? undefined : parseTitle(title),
          }
          inFlight.admit(ownerId)
          const leave = context.jobs.acquire(ownerId)
          return threads.fork(id, withDefined({ ownerId }, wanted)).finally(leave)
        })
        switch (forked.kind) {
          case 'forked':
          case 'exists':
            return show(ownerId, forked.thread, forked.kind === 'forked' ? 201 : 200)
          case 'run-active':
            throw runActive(forked.turnId)
          case 'no-message':
            throw notFound('message')
          case 'taken':
          case 'no-thread':
            throw notFound('thread')
          default:
            return assertNever(forked)
        }
      },
    },
    {
      method: 'DELETE',
      path: '/api/threads/:id',
      async handle(request) {
        const { ownerId } = request
        if (!(await threads.delete(threadOf(request), { ownerId }))) throw notFound('thread')
        return new Response(null, { status: 204 })
      },
    },
  ]
}

function toThreadJson(thread: ListedThread, showsMetadata: boolean) {
  const { id, title, titledBy, pinned, archived, metadata, createdAt, updatedAt, seq } = thread
  const { forkedFrom } = thread
  const dates = { createdAt: toIsoDate(createdAt), updatedAt: toIsoDate(updatedAt) }
  const own = showsMetadata ? { metadata } : {}
  return withDefined(
    { id, title, titledBy, pinned, archived, ...own, ...dates, seq },
    { forkedFrom },
  )
}

/** A filter of a list: `1` selects these only; any other value is refused. */
function parseOne(url: URL, name: string): true | undefined {
  const value = parameter(url, name)
  if (value === undefined || value === '1') return value === undefined ? undefined : true
  throw badRequest(`"${name}" is 1, or is left out.`)
}

export function parseObject(body: Json): Readonly<Record<string, Json>> {
  if (!isJsonObject(body)) throw badRequest('The body is a JSON object.')
  return body
}
