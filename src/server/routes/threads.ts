import { parseThreadId } from '../../core/ids.ts'
import { isJsonObject, type Json } from '../../core/json.ts'
import type { ThreadRecord } from '../../core/thread.ts'
import { defaultLimit, parseCursor, parseLimit, toCursor } from '../../protocol/page-query.ts'
import { toIsoDate } from '../../views/iso-date.ts'
import { checkMadeUpId, findThread, isOwned, parameter, type ServerContext } from '../context.ts'
import { badRequest, notFound } from '../http-error.ts'
import { readJson } from '../read-json.ts'
import type { Route } from '../router.ts'

const longestTitle = 500

export function threadRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, limits } = context
  const { store, clock } = holdfast
  return [
    {
      method: 'POST',
      path: '/api/threads',
      async handle({ request, ownerId }) {
        const body = parseObject(await readJson(request, limits.bodyBytes))
        const wanted = body['id'] === undefined ? undefined : parseThreadId(body['id'])
        const title = body['title'] === undefined ? '' : parseTitle(body['title'])
        if (wanted !== undefined && !isOwned(await store.readThread(wanted), { ownerId })) {
          checkMadeUpId(context, wanted)
        }
        const id = wanted ?? holdfast.newThreadId()
        const created = await store.createThread({ id, ownerId, title, at: clock.now() })
        if (created.kind === 'taken') throw notFound('thread')
        const status = created.kind === 'created' ? 201 : 200
        return Response.json(toThreadJson(created.thread), { status })
      },
    },
    {
      method: 'GET',
      path: '/api/threads',
      async handle({ url, ownerId }) {
        const limit = parseLimit(parameter(url, 'limit') ?? defaultLimit)
        const cursor = parameter(url, 'cursor')
        const list = `threads ${ownerId}`
        const before = cursor === undefined ? null : parseCursor(list, cursor)
        const { threads, hasMore } = await store.listThreads({ ownerId, limit, before })
        const last = threads.at(-1)
        return Response.json({
          results: threads.map(toThreadJson),
          nextCursor: hasMore && last !== undefined ? toCursor(list, last.activity) : null,
          hasMore,
        })
      },
    },
    {
      method: 'GET',
      path: '/api/threads/:id',
      handle: async (request) => Response.json(toThreadJson(await findThread(context, request))),
    },
    {
      method: 'PATCH',
      path: '/api/threads/:id',
      async handle(request) {
        const { id } = await findThread(context, request)
        const body = parseObject(await readJson(request.request, limits.bodyBytes))
        const title = parseTitle(body['title'])
        await holdfast.rename(id, title)
        return Response.json(toThreadJson(await findThread(context, request)))
      },
    },
    {
      method: 'DELETE',
      path: '/api/threads/:id',
      async handle(request) {
        const { id } = await findThread(context, request)
        await store.deleteThread(id)
        return new Response(null, { status: 204 })
      },
    },
  ]
}

function toThreadJson({ id, title, createdAt, updatedAt, seq }: ThreadRecord) {
  return { id, title, createdAt: toIsoDate(createdAt), updatedAt: toIsoDate(updatedAt), seq }
}

export function parseObject(body: Json): Readonly<Record<string, Json>> {
  if (!isJsonObject(body)) throw badRequest('The body is a JSON object.')
  return body
}

function parseTitle(value: Json | undefined): string {
  if (typeof value !== 'string' || value.length > longestTitle) {
    throw badRequest(`"title" is a text of at most ${longestTitle} characters.`)
  }
  // What a database cannot keep is replaced here, or the first answer would differ from every later one (LG5).
  return value.toWellFormed().replaceAll('\u0000', '\uFFFD')
}
