import type { HandlerOptions } from './handler-options.ts'

/** What a browser wants to hear before it lets a page of another, allowed site read an answer. */
export function addCorsHeaders(
  request: Request,
  response: Response,
  { allowedOrigins = [] }: HandlerOptions,
): void {
  const origin = request.headers.get('origin')
  if (origin === null || !allowedOrigins.includes(origin)) return
  response.headers.set('access-control-allow-origin', origin)
  // A page that may call the server may do so as the person who is signed in there, by cookie too.
  response.headers.set('access-control-allow-credentials', 'true')
  // Without this a page is not shown when it may ask again (429, 503), nor which protocol a stream speaks.
  response.headers.set(
    'access-control-expose-headers',
    'retry-after, x-vercel-ai-ui-message-stream, x-vercel-ai-data-stream',
  )
  response.headers.append('vary', 'origin')
}

/** The question that a browser asks by itself; null for anything else. */
export function answerPreflight(request: Request): Response | null {
  const asks = request.headers.get('access-control-request-method')
  if (request.method !== 'OPTIONS' || asks === null) return null
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
      // Whatever the page wants to send: which header says who somebody is, is the host's to decide.
      'access-control-allow-headers':
        request.headers.get('access-control-request-headers') ??
        'content-type, authorization, last-event-id',
      'access-control-max-age': '600',
    },
  })
}
