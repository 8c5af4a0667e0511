import { toReadableThrown } from '../core/error-text.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import { addCorsHeaders, answerPreflight } from './cors.ts'
import { checkOrigin } from './guard.ts'
import type { HandlerOptions, RequestRecord } from './handler-options.ts'
import { toErrorResponse } from './http-error.ts'
import { logToStandardError, summarizeError } from './log-error.ts'
import { withSafetyHeaders } from './safety-headers.ts'

/** What the log says of a request besides how it ended. */
export interface Answering {
  readonly url: URL
  /** The route, once it is known: ids are not logged. */
  route: string
}

/**
 * Everything that holds for every answer, whichever handler gives it: where a request may come from, what browsers are
 * told, what caches keep, how a failure looks, and the line in the log. Never rejects.
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
  // What one person may read is not for the cache of a proxy, nor of the browser's next user.
  if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
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

/** Refused because the host's own code threw, with words that only the log may have (HT6). */
const isHostFault = (error: unknown): boolean =>
  error instanceof HoldfastError && error.code === 'bad-choices' && error.cause !== undefined

/** A 5xx tells the client that it has been logged, so it is, also where nobody gave a log or the log throws. */
function writeLog(record: RequestRecord, { log }: HandlerOptions): void {
  try {
    log?.(record)
  } catch (thrown) {
    logToStandardError(toReadableThrown(thrown))
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
