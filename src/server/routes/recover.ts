import { ApiError } from '../../protocol/api-error.ts'
import type { ServerContext } from '../context.ts'
import type { HandlerOptions } from '../handler-options.ts'
import type { Route } from '../router.ts'
import { hasBearer } from '../bearer-secret.ts'

/**
 * For short-lived processes (OP4): a timer of the platform, or a run's own hand-over, calls it, and it continues
 * abandoned runs. It has a secret of its own, because its caller is not a user.
 */
export function recoverRoutes(
  { holdfast }: ServerContext,
  { recoverSecret, waitUntil }: HandlerOptions,
): readonly Route[] {
  if (recoverSecret === undefined) return []
  return [
    {
      method: 'POST',
      path: '/api/recover',
      isPublic: true,
      async handle({ request }) {
        checkSecret(request.headers, recoverSecret)
        const before = new Set(holdfast.running())
        const recovered = await holdfast.recover()
        const begun = holdfast.running().filter((threadId) => !before.has(threadId))
        // Without `waitUntil` only the open request keeps a short-lived process alive.
        if (waitUntil === undefined) await Promise.all(begun.map((id) => holdfast.settled(id)))
        const unfinished = (await holdfast.store.findAbandonedRuns(mostCounted)).length
        return Response.json({ recovered, unfinished })
      },
    },
  ]
}

/** The caller repeats the request while the number is above zero, so it need not be exact. */
const mostCounted = 100

function checkSecret(headers: Headers, secret: string): void {
  if (hasBearer(headers, secret)) return
  throw new ApiError(
    401,
    'not-authenticated',
    'This route needs `Authorization: Bearer <the option recoverSecret of createHandler>`.',
  )
}
