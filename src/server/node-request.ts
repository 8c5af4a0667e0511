/**
 * What the framework passed to `toNodeHandler`, by the `Request` that was made of it. Middleware before the handler
 * puts its results there (`req.user`, `req.session`), and a web-standard request has no place for them.
 */
const nodeRequests = new WeakMap<Request, object>()

export function rememberNodeRequest(request: Request, passed: object): void {
  nodeRequests.set(request, passed)
}

/**
 * The request as Express, Nest, Fastify or Node's own server passed it, for `authenticate`: it has what session or
 * sign-in middleware before the handler has put there. Undefined where the request did not come through
 * `toNodeHandler`, `toNodeListener` or `listen`, and for a copy of it (`new Request(request)`).
 *
 * The type parameter is not checked.
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
