import type { OwnerId } from '../core/ids.ts'
import { ApiError } from '../protocol/api-error.ts'
import type { BodyMeter } from './body-bytes.ts'
import { badRequest, MethodNotAllowed } from './http-error.ts'

export interface RouteRequest {
  readonly request: Request
  readonly url: URL
  /** The decoded values of each `:name`. */
  readonly params: Readonly<Record<string, string>>
  readonly ownerId: OwnerId
  /** The prefix of every returned address. */
  readonly basePath: string
  /** Counts what is held of the request's body. */
  readonly bodyMeter: BodyMeter
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/api/threads/:id` */
  readonly path: string
  readonly handle: (request: RouteRequest) => Promise<Response>
  /** Open to everyone: the response contains nothing about any owner. */
  readonly isPublic?: true
  /**
   * Open to everyone whom the server accepts at all: without `authenticate` its own machine, with it everyone (FK5).
   */
  readonly isForReaders?: true
}

export interface Match {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

/** Finds the route of a request; 404 for an unknown path, 405 for a known path with another method. */
export function matchRoute(routes: readonly Route[], method: string, pathname: string): Match {
  const wanted = method === 'HEAD' ? 'GET' : method
  const segments = pathname.split('/')
  const allowed: string[] = []
  for (const route of routes) {
    const params = matchPath(route.path.split('/'), segments)
    if (params === null) continue
    if (route.method === wanted) return { route, params }
    allowed.push(route.method)
  }
  if (allowed.length > 0) throw new MethodNotAllowed(allowed)
  throw new ApiError(404, 'not-found', 'This path does not exist.')
}

function matchPath(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | null {
  if (pattern.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] as string
    if (part.startsWith(':') && segment !== '') params[part.slice(1)] = decode(segment)
    else if (part !== segment) return null
  }
  return params
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw badRequest('The path has an invalid percent encoding.')
  }
}
