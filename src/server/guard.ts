import { type OwnerId, parseOwnerId } from '../core/ids.ts'
import type { HandlerOptions } from './handler-options.ts'
import { HttpError } from './http-error.ts'

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i

/**
 * Where a request comes from (HT4). Pages of other sites are refused on every route, reads too; and
 * without authentication only a loopback name is answered, so that no foreign name that points here works.
 */
export function checkOrigin(
  request: Request,
  url: URL,
  { authenticate, allowedOrigins = [] }: HandlerOptions,
): void {
  if (authenticate === undefined && !loopback.test(url.hostname)) {
    throw new HttpError(403, 'foreign-host', 'Without authentication this server is local only.')
  }
  const origin = request.headers.get('origin')
  const isForeign =
    origin === null
      ? request.headers.get('sec-fetch-site') === 'cross-site'
      : origin !== url.origin && !allowedOrigins.includes(origin)
  if (isForeign) {
    throw new HttpError(403, 'foreign-origin', 'Pages of other sites may not call this server.')
  }
}

const local = parseOwnerId('local')

/** Who is asking; 401 for nobody. */
export async function identify(
  request: Request,
  { authenticate }: HandlerOptions,
): Promise<OwnerId> {
  if (authenticate === undefined) return local
  const caller = await authenticate(request)
  if (caller === null) throw new HttpError(401, 'not-authenticated', 'Say who you are.')
  return parseOwnerId(caller.id)
}

/** For the few routes that everyone may ask. */
export const nobody = parseOwnerId('nobody')
