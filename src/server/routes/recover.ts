import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '../../protocol/api-error.ts'
import type { ServerContext } from '../context.ts'
import type { HandlerOptions } from '../handler-options.ts'
import type { Route } from '../router.ts'

/**
 * For processes that live shortly (OP4): a timer of the platform, or a run's own hand-over, calls it, and it carries on
 * what nobody runs any more. It has a secret of its own, because whoever calls it is nobody's user.
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
        checkSecret(request.headers.get('authorization'), recoverSecret)
        const before = new Set(holdfast.running())
        const recovered = await holdfast.recover()
        const begun = holdfast.running().filter((threadId) => !before.has(threadId))
        // Without `waitUntil` nothing but the request that is not yet answered keeps a short-lived process.
        if (waitUntil === undefined) await Promise.all(begun.map((id) => holdfast.settled(id)))
        const unfinished = (await holdfast.store.findAbandonedRuns(mostCounted)).length
        return Response.json({ recovered, unfinished })
      },
    },
  ]
}

/** Whoever sees more than none calls again, so the exact number is of no use. */
const mostCounted = 100

function checkSecret(said: string | null, secret: string): void {
  const given = /^Bearer (.+)$/i.exec(said ?? '')?.[1] ?? ''
  // Hashed, so that neither the length nor the first wrong character shows in the time it takes.
  if (timingSafeEqual(hash(given), hash(secret))) return
  throw new ApiError(
    401,
    'not-authenticated',
    'This route is called with `Authorization: Bearer <the secret that createHandler was given as recoverSecret>`.',
  )
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
