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
      'access-control-allow-headers': 'content-type, authorization, last-event-id',
      'access-control-max-age': '600',
    },
  })
}
