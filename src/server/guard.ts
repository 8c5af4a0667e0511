import { type OwnerId, parseOwnerId } from '../core/ids.ts'
import type { HandlerOptions } from './handler-options.ts'
import { ApiError } from '../protocol/api-error.ts'

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i

/**
 * Where a request comes from (HT4). Pages of other sites are refused on every route, reads too; and
 * without authentication only a loopback name is answered, so that no foreign name that points here works.
 */
export function checkOrigin(request: Request, url: URL, options: HandlerOptions): void {
  const { authenticate, allowedOrigins = [] } = options
  if (authenticate === undefined && !loopback.test(url.hostname)) {
    throw new ApiError(403, 'foreign-host', 'Without authentication this server is local only.')
  }
  const origin = request.headers.get('origin')
  const isForeign =
    origin === null
      ? request.headers.get('sec-fetch-site') === 'cross-site'
      : !ownOrigins(request, url, options).includes(origin) && !allowedOrigins.includes(origin)
  if (isForeign) {
    throw new ApiError(403, 'foreign-origin', 'Pages of other sites may not call this server.')
  }
}

/**
 * The origins of this server's own pages. Behind a proxy that ends TLS a request comes in as `http:`
 * though its page is `https:` at the same name. Without authentication there is no such proxy.
 */
function ownOrigins(
  { headers }: Request,
  { protocol, host, origin }: URL,
  { authenticate, trustProxy = false }: HandlerOptions,
): readonly string[] {
  const asked = trustProxy ? headers.get('x-forwarded-proto')?.split(',')[0]?.trim() : undefined
  // Through URL, which leaves out the port that a scheme has anyway, as browsers do.
  const originAs = (scheme: string) => new URL(`${scheme}://${host}`).origin
  if (asked === 'http' || asked === 'https') return [originAs(asked)]
  const isPlain = authenticate !== undefined && protocol === 'http:'
  return isPlain ? [origin, originAs('https')] : [origin]
}

const local = parseOwnerId('local')

/** Who is asking; 401 for nobody. */
export async function identify(
  request: Request,
  { authenticate }: HandlerOptions,
): Promise<OwnerId> {
  if (authenticate === undefined) return local
  const caller = await authenticate(request)
  if (caller === null) throw new ApiError(401, 'not-authenticated', 'Say who you are.')
  return parseOwnerId(caller.id)
}

/** For the few routes that everyone may ask. */
export const nobody = parseOwnerId('nobody')
