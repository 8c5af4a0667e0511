/**
 * What the framework passed to `toNodeHandler`, by the `Request` that was made of it. Middleware before the
 * handler leaves what it found there (`req.user`, `req.session`), and a web-standard request has no place for it.
 */
const nodeRequests = new WeakMap<Request, object>()

export function rememberNodeRequest(request: Request, passed: object): void {
  nodeRequests.set(request, passed)
}

/**
 * The request as Express, Nest, Fastify or Node's own server passed it, for `authenticate`: what a session or
 * sign-in middleware before the handler has put there is found on it. Undefined where the request did not come through
 * `toNodeHandler`, `toNodeListener` or `listen`, and for a copy of it (`new Request(request)`).
 *
 * The type is what you say it is; nothing is checked.
 *
 * @example
 * createHandler(holdfast, {
 *   authenticate: (request) => {
 *     const user = nodeRequestOf<express.Request>(request)?.user
 *     return user === undefined ? null : { id: user.id }
 *   },
 * })
 */
export const nodeRequestOf = <Passed extends object>(request: Request): Passed | undefined =>
  nodeRequests.get(request) as Passed | undefined
