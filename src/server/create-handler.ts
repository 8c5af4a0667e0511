import type { Holdfast } from '../engine/create-holdfast.ts'
import { createServerContext } from './context.ts'
import { addCorsHeaders, answerPreflight } from './cors.ts'
import { checkOrigin, identify, nobody } from './guard.ts'
import type { HandlerOptions, RequestRecord } from './handler-options.ts'
import { toErrorResponse } from './http-error.ts'
import { logToStandardError, summarizeError } from './log-error.ts'
import { checkHandlerOptions } from './option-rules.ts'
import { matchRoute, type Route } from './router.ts'
import { aboutRoutes } from './routes/about.ts'
import { chatRoutes } from './routes/chat.ts'
import { eventRoutes } from './routes/events.ts'
import { importRoutes } from './routes/import.ts'
import { messageRoutes } from './routes/messages.ts'
import { threadRoutes } from './routes/threads.ts'
import { toolCallRoutes } from './routes/tool-calls.ts'
import { withSafetyHeaders } from './safety-headers.ts'

export type Handler = (request: Request) => Promise<Response>

/**
 * The whole HTTP contract as one web-standard function, for anything that calls such functions. Answers every
 * failure itself; never rejects. Whoever has no `authenticate` serves it with `listen`: see there.
 */
export function createHandler(holdfast: Holdfast, given: HandlerOptions = {}): Handler {
  const options = checkHandlerOptions(given)
  const context = createServerContext(holdfast, options)
  const routes: readonly Route[] = [
    ...aboutRoutes(context),
    ...threadRoutes(context),
    ...messageRoutes(context),
    ...eventRoutes(context),
    ...toolCallRoutes(context),
    ...chatRoutes(context),
    ...importRoutes(context),
  ]

  return async (request) => {
    const started = performance.now()
    const url = new URL(request.url)
    let route = ''
    let error: unknown
    const respond = async (): Promise<Response> => {
      try {
        checkOrigin(request, url, options)
        const preflight = answerPreflight(request)
        if (preflight !== null) return preflight
        const match = matchRoute(routes, request.method, url.pathname)
        route = match.route.path
        const ownerId = match.route.isPublic === true ? nobody : await identify(request, options)
        return await match.route.handle({ request, url, params: match.params, ownerId })
      } catch (thrown) {
        error = thrown
        return toErrorResponse(thrown)
      }
    }
    const response = withSafetyHeaders(await respond())
    addCorsHeaders(request, response, options)
    // What one person may read is not for the cache of a proxy, nor of the browser's next user.
    if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
    const record: RequestRecord = {
      method: request.method,
      route,
      status: response.status,
      ms: performance.now() - started,
      ...(response.status >= 500 ? { error } : {}),
    }
    writeLog(record, options)
    return request.method === 'HEAD' ? withoutBody(response) : response
  }
}

/** A 5xx tells the client that it has been logged, so it is, also where nobody gave a log or the log throws. */
function writeLog(record: RequestRecord, { log }: HandlerOptions): void {
  try {
    log?.(record)
  } catch (error) {
    logToStandardError(error)
  }
  if (log !== undefined || record.error === undefined) return
  // A database that is away is no bug of ours: one line for each request, and not where it was met.
  logToStandardError(record.status === 500 ? record.error : summarizeError(record.error))
}

async function withoutBody(response: Response): Promise<Response> {
  // A stream that nobody will read gives its place back.
  await response.body?.cancel()
  return new Response(null, response)
}
