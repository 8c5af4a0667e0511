import { assertNever } from '../../core/assert-never.ts'
import { isRating } from '../../core/feedback.ts'
import { parseMessageId, parseThreadId } from '../../core/ids.ts'
import { withDefined } from '../../core/with-defined.ts'
import { ApiError } from '../../protocol/api-error.ts'
import { projectFeedback } from '../../views/shown-metadata.ts'
import type { ServerContext } from '../context.ts'
import { badRequest, notFound, runActive } from '../http-error.ts'
import { readJson } from '../read-json.ts'
import type { Route } from '../router.ts'
import { parseObject } from './threads.ts'

/** Feedback on answers (FK4). */
export function feedbackRoutes({ holdfast, limits }: ServerContext): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/api/messages/:id/feedback',
      async handle(request) {
        const { params, ownerId } = request
        const messageId = parseMessageId(params['id'])
        const body = parseObject(await readJson(request, limits.bodyBytes))
        const { rating, comment, threadId } = body
        if (!isRating(rating)) throw badRequest('"rating" is up, down or null.')
        if (comment !== undefined && typeof comment !== 'string') {
          throw badRequest('"comment" is a text.')
        }
        const given = withDefined(
          { ownerId, by: ownerId, rating },
          { comment, threadId: threadId === undefined ? undefined : parseThreadId(threadId) },
        )
        const result = await holdfast.giveFeedback(messageId, given)
        switch (result.kind) {
          case 'given': {
            const { feedback, seq } = result
            return Response.json({
              messageId,
              feedback: feedback && projectFeedback(feedback),
              seq,
            })
          }
          case 'run-active':
            throw runActive(result.turnId)
          case 'not-an-answer':
            throw new ApiError(409, 'not-an-answer', 'This message is not an answer.')
          case 'no-message':
            throw notFound('message')
          default:
            return assertNever(result)
        }
      },
    },
  ]
}
