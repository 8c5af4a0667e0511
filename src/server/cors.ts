import type { HandlerOptions } from './handler-options.ts'

/** The CORS headers that let a page of another, allowed origin read a response. */
export function addCorsHeaders(
  request: Request,
  response: Response,
  { allowedOrigins = [] }: HandlerOptions,
): void {
  const origin = request.headers.get('origin')
  if (origin === null || !allowedOrigins.includes(origin)) return
  response.headers.set('access-control-allow-origin', origin)
  // A page that may call the server may do so as the signed-in user, by cookie too.
  response.headers.set('access-control-allow-credentials', 'true')
  // Without this a page can read neither when to retry (429, 503), nor which protocol a stream uses.
  response.headers.set(
    'access-control-expose-headers',
    'retry-after, x-vercel-ai-ui-message-stream, x-vercel-ai-data-stream',
  )
  response.headers.append('vary', 'origin')
}

/** The response to a CORS preflight; null for any other request. */
export function answerPreflight(request: Request): Response | null {
  const requestedMethod = request.headers.get('access-control-request-method')
  if (request.method !== 'OPTIONS' || requestedMethod === null) return null
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
      // All requested headers: which header carries the credentials is decided by the host application.
      'access-control-allow-headers':
        request.headers.get('access-control-request-headers') ??
        'content-type, authorization, last-event-id',
      'access-control-max-age': '600',
    },
  })
}
