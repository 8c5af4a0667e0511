import { type OwnerId, parseMessageId } from '../../core/ids.ts'
import type { InputQueue } from '../../core/queued-input.ts'
import { withDefined } from '../../core/with-defined.ts'
import { projectQueue } from '../../views/queue-view.ts'
import { checkText } from '../check-text.ts'
import { orNotFound, type ServerContext, threadOf } from '../context.ts'
import { badRequest, notFound } from '../http-error.ts'
import { toJsonResponse } from '../json-response.ts'
import { readJson } from '../read-json.ts'
import type { Route, RouteRequest } from '../router.ts'
import { inPlace } from './chat.ts'
import { parseObject } from './threads.ts'

/** Queued inputs (IN2). They may have a megabyte together: the responses count for their owner (OP7a). */
export function queueRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, limits, inFlight, reads } = context
  const { queues } = holdfast
  const messageOf = ({ params }: RouteRequest) => parseMessageId(params['messageId'])
  const show = (ownerId: OwnerId, queue: InputQueue) => {
    const page = { results: projectQueue(queue), nextCursor: null, hasMore: false }
    return toJsonResponse(context, ownerId, page)
  }
  return [
    {
      method: 'GET',
      path: '/api/threads/:id/queue',
      async handle(request) {
        const { ownerId } = request
        inFlight.admit(ownerId)
        const read = () => queues.list(threadOf(request), { ownerId })
        return show(ownerId, orNotFound(await reads.gateOf(ownerId)(read)))
      },
    },
    {
      method: 'PATCH',
      path: '/api/threads/:id/queue/:messageId',
      async handle(request) {
        const { ownerId } = request
        const { text, before } = parseObject(await readJson(request, limits.bodyBytes))
        if (text !== undefined && typeof text !== 'string') throw badRequest('"text" is a text.')
        checkText('message', [text], limits.textChars)
        if (before !== undefined && before !== null && typeof before !== 'string') {
          throw badRequest('"before" must be the id of a queued message, or null.')
        }
        const change = withDefined({}, { text, before })
        inFlight.admit(ownerId)
        const id = threadOf(request)
        const input = orNotFound(await queues.update(id, messageOf(request), change, { ownerId }))
        return toJsonResponse(context, ownerId, projectQueue([input])[0])
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
        inFlight.admit(ownerId)
        const released = await inPlace(context, request, id, async () => {
          const queue = await queues.release(id, { ownerId })
          const isRunning = holdfast.running().includes(id)
          return { kind: isRunning ? 'started' : 'released', queue }
        })
        return show(ownerId, orNotFound(released.queue))
      },
    },
  ]
}
