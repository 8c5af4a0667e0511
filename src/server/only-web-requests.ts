import { badOption } from '../core/check-options.ts'
import { ApiError } from '../protocol/api-error.ts'
import { hasMethods, isObject } from './check-arguments.ts'
import { toErrorResponse } from './http-error.ts'
import { logToStandardError } from './log-error.ts'

/**
 * The same handler, for callers that pass it what is no `Request`: most often it is passed to Node's own server or to Express
 * without `toNodeHandler`. Where their response is beside it, that gets the sentence, because a rejection would end the
 * process; any other call rejects with it.
 */
export const onlyWebRequests =
  (handler: (request: Request) => Promise<Response>) =>
  (request: Request, ...others: readonly unknown[]): Promise<Response> =>
    isWebRequest(request) ? handler(request) : refuse(others[0])

/** By its shape: platforms have classes of their own. The headers of Node's and of Express have no methods. */
const isWebRequest = (value: unknown): boolean =>
  isObject(value) && typeof value['url'] === 'string' && hasMethods(value['headers'], ['get'])

const notWrapped = new ApiError(
  500,
  'internal',
  'This handler takes a web Request. For node:http and Express wrap it: toNodeHandler(handler).',
)

async function refuse(outgoing: unknown): Promise<Response> {
  const { message } = notWrapped
  if (!isNodeResponse(outgoing)) throw badOption(message)
  logToStandardError(message)
  const response = toErrorResponse(notWrapped)
  if (outgoing.headersSent !== true) {
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  }
  outgoing.end(await response.clone().text())
  return response
}

/** A `ServerResponse`, as far as it is used here. */
interface NodeResponseLike {
  readonly headersSent?: boolean
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown
  end(body: string): unknown
}

const isNodeResponse = (value: unknown): value is NodeResponseLike =>
  hasMethods(value, ['writeHead', 'end'])
