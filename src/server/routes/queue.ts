import { parseMessageId } from '../../core/ids.ts'
import { withDefined } from '../../core/with-defined.ts'
import { projectQueue } from '../../views/queue-view.ts'
import { checkText } from '../check-text.ts'
import { orNotFound, type ServerContext, threadOf } from '../context.ts'
import { badRequest, notFound } from '../http-error.ts'
import { readJson } from '../read-json.ts'
import type { Route, RouteRequest } from '../router.ts'
import { inPlace } from './chat.ts'
import { parseObject } from './threads.ts'

/** Queued inputs (IN2). */
export function queueRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, limits } = context
  const { queues } = holdfast
  const messageOf = ({ params }: RouteRequest) => parseMessageId(params['messageId'])
  return [
    {
      method: 'GET',
      path: '/api/threads/:id/queue',
      async handle(request) {
        const { ownerId } = request
        const queue = orNotFound(await queues.list(threadOf(request), { ownerId }))
        return Response.json({ results: projectQueue(queue), nextCursor: null, hasMore: false })
      },
    },
    {
      method: 'PATCH',
      path: '/api/threads/:id/queue/:messageId',
      async handle(request) {
        const { ownerId } = request
        const { text, before } = parseObject(await readJson(request.request, limits.bodyBytes))
        if (text !== undefined && typeof text !== 'string') throw badRequest('"text" is a text.')
        checkText('message', [text], limits.textChars)
        if (before !== undefined && before !== null && typeof before !== 'string') {
          throw badRequest('"before" must be the id of a queued message, or null.')
        }
        const change = withDefined({}, { text, before })
        const id = threadOf(request)
        const input = orNotFound(await queues.update(id, messageOf(request), change, { ownerId }))
        return Response.json(projectQueue([input])[0])
      },
    },
    {
      method: 'DELETE',
      path: '/api/threads/:id/queue/:messageId',
      async handle(request) {
        const { ownerId } = request
        const isGone = await queues.withdraw(threadOf(request), messageOf(request), { ownerId })
        if (!isGone) throw notFound('thread')
        return new Response(null, { status: 204 })
      },
    },
    {
      method: 'POST',
      path: '/api/threads/:id/queue/release',
      async handle(request) {
        const { ownerId } = request
        const id = threadOf(request)
        const released = await inPlace(context, request, id, async () => {
          const queue = await queues.release(id, { ownerId })
          const isRunning = holdfast.running().includes(id)
          return { kind: isRunning ? 'started' : 'released', queue }
        })
        const queue = orNotFound(released.queue)
        return Response.json({ results: projectQueue(queue), nextCursor: null, hasMore: false })
      },
    },
  ]
}
