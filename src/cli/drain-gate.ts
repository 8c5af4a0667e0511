import type { Handler } from '../server/create-handler.ts'
import { safetyHeaders } from '../server/safety-headers.ts'

/** Stands before a handler and knows what is still being answered. */
export interface DrainGate {
  readonly handler: Handler
  /** From now on nothing new is begun; what is under way is still shown. */
  readonly shut: () => void
  /** Resolves when every answer to a request that began something has been sent to its end. */
  readonly drained: () => Promise<void>
}

export function createDrainGate(handler: Handler): DrainGate {
  const open = new Set<Promise<void>>()
  let isShut = false
  return {
    async handler(request) {
      if (request.method === 'GET') return handler(request)
      if (isShut) {
        const error = { code: 'closing', message: 'This server is closing. Try again in a moment.' }
        const headers = { ...safetyHeaders, 'retry-after': '1' }
        return Response.json({ error }, { status: 503, headers })
      }
      // The listener aborts the request when its answer is out, or when nobody wants it any more.
      const answered = new Promise<void>((resolve) => {
        request.signal.addEventListener('abort', () => resolve())
      })
      open.add(answered)
      void answered.then(() => open.delete(answered))
      return handler(request)
    },
    shut() {
      isShut = true
    },
    async drained() {
      await Promise.all(open)
    },
  }
}
