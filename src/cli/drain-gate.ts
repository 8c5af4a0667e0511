import { closing } from '../engine/engine.ts'
import type { Handler } from '../server/create-handler.ts'
import { toErrorResponse } from '../server/http-error.ts'

/** Wraps a handler and tracks the responses in flight. */
export interface DrainGate {
  readonly handler: Handler
  /** From now on nothing new is begun; streams of existing turns are still served. */
  readonly shut: () => void
  /** Resolves when every response to a request that began something has been sent completely. */
  readonly drained: () => Promise<void>
}

export function createDrainGate(handler: Handler): DrainGate {
  const open = new Set<Promise<void>>()
  let isShut = false
  return {
    async handler(request) {
      // A load balancer that asks is to send its requests elsewhere.
      const isProbe = new URL(request.url).pathname === '/api/ready'
      if (isShut && (isProbe || request.method !== 'GET')) return toErrorResponse(closing())
      if (request.method === 'GET') return handler(request)
      // The listener aborts the request when its response has been sent, or when the client has disconnected.
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
