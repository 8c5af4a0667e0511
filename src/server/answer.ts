import { callObserver } from '../core/call-observer.ts'
import { toReadableThrown } from '../core/error-text.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import { addCorsHeaders, answerPreflight } from './cors.ts'
import { checkOrigin } from './guard.ts'
import type { HandlerOptions, RequestRecord } from './handler-options.ts'
import { toErrorResponse } from './http-error.ts'
import { logToStandardError, summarizeError } from './log-error.ts'
import { withSafetyHeaders } from './safety-headers.ts'

/** What the log contains about a request besides its result. */
export interface Answering {
  readonly url: URL
  /** The route, once it is known: ids are not logged. */
  route: string
}

/**
 * What applies to every response of every handler: allowed origins, security headers, caching, the form of errors, and
 * the log. Never rejects.
 */
export async function answer(
  request: Request,
  options: HandlerOptions,
  work: (answering: Answering) => Promise<Response>,
): Promise<Response> {
  const started = performance.now()
  const answering: Answering = { url: new URL(request.url), route: '' }
  let error: unknown
  const respond = async (): Promise<Response> => {
    try {
      checkOrigin(request, answering.url, options)
      return answerPreflight(request) ?? (await work(answering))
    } catch (thrown) {
      error = toReadableThrown(thrown)
      return toErrorResponse(error)
    }
  }
  const response = withSafetyHeaders(await respond())
  addCorsHeaders(request, response, options)
  // A response is private to one owner: neither a proxy nor the browser's next user may get it from a cache.
  if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
  // Links are read by anybody, search engines too, which must keep neither what a link shows nor that there was one (FK5).
  if (answering.url.pathname.includes('/api/shares/')) {
    response.headers.set('x-robots-tag', 'noindex, nofollow')
  }
  const record: RequestRecord = {
    method: request.method,
    route: answering.route,
    status: response.status,
    ms: performance.now() - started,
    ...(response.status >= 500 || isHostFault(error) ? { error } : {}),
  }
  writeLog(record, options)
  return request.method === 'HEAD' ? withoutBody(response) : response
}

/**
 * The request was refused because a function of the host application threw; its error text is for the log only (HT6).
 */
const isHostFault = (error: unknown): boolean =>
  error instanceof HoldfastError && error.code === 'bad-choices' && error.cause !== undefined

/** A 5xx response states that the error has been logged, so it is, also without a `log` option or when that throws. */
function writeLog(record: RequestRecord, { log }: HandlerOptions): void {
  callObserver(
    () => log?.(record),
    (thrown) => logToStandardError(toReadableThrown(thrown)),
  )
  if (log !== undefined || record.error === undefined) return
  // An unreachable database is no bug of ours: one line for each request, without the stack.
  logToStandardError(record.status === 500 ? record.error : summarizeError(record.error))
}

async function withoutBody(response: Response): Promise<Response> {
  // A stream that will not be read is cancelled, so that its slot becomes free.
  await response.body?.cancel()
  return new Response(null, response)
}
