import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkOptions } from '../core/check-options.ts'
import { checkHandler, checkNodeResponse } from './check-arguments.ts'
import type { Handler } from './create-handler.ts'
import type { NodeListenerOptions } from './listen-options.ts'
import { logToStandardError } from './log-error.ts'
import { serve } from './node-listener.ts'
import { nodeListenerRules } from './option-rules.ts'

/** A request as Node's own server, Express, Connect and Nest pass it. */
export interface NodeRequest extends IncomingMessage {
  /** The body as a parser before the handler parsed it. */
  readonly body?: unknown
  /** The whole address, where the framework cuts the mount path off `url`. */
  readonly originalUrl?: string
  /** The path that the handler is mounted at. */
  readonly baseUrl?: string
}

/** A request as Fastify passes it. */
export interface FastifyRequestLike {
  readonly raw: IncomingMessage
  readonly body?: unknown
}

/** A reply as Fastify passes it. */
export interface FastifyReplyLike {
  readonly raw: ServerResponse
  /** Makes Fastify send no response of its own. */
  hijack(): unknown
}

/** The result of `toNodeHandler`: a listener of Node's server, a middleware of Express, a route handler of Fastify. */
export type NodeHandler = (
  request: NodeRequest | FastifyRequestLike,
  response: ServerResponse | FastifyReplyLike,
) => void

/**
 * A web-standard handler for Node's own server and for frameworks built on it. In Express and Nest it is mounted at any
 * path, which is then the `basePath` of the handler unless that option is set; in Fastify it is the handler of a
 * wildcard route, and `basePath` is the path before `/api`. A body that a parser has already read is taken from `body`;
 * if it was read and is not there, the response is 500 and the log tells what to do. The handler responds to everything
 * under its path and never calls `next`.
 *
 * @example
 * app.use('/chat/v1', toNodeHandler(createHandler(holdfast, { authenticate })))
 */
export function toNodeHandler(handler: Handler, options: NodeListenerOptions = {}): NodeHandler {
  checkHandler('toNodeHandler', handler, 'toNodeHandler(createHandler(holdfast))')
  checkOptions('toNodeHandler', options, nodeListenerRules)
  const { stallMs = 30_000, onError = logToStandardError } = options
  return (request, response) => {
    checkNodeResponse('toNodeHandler', response)
    const { body } = request
    const incoming = 'raw' in request ? request.raw : request
    const outgoing = 'raw' in response ? response.raw : response
    // Otherwise Fastify would respond too, as soon as this returns.
    if ('hijack' in response) response.hijack()
    void serve(handler, { incoming, passed: request, body }, outgoing, stallMs, onError)
  }
}
