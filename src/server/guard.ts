import { type OwnerId, parseOwnerId } from '../core/ids.ts'
import { ApiError } from '../protocol/api-error.ts'
import type { HandlerOptions } from './handler-options.ts'
import { isLoopbackAddress, isLoopbackName } from './loopback.ts'
import { peerOf } from './peer-address.ts'
import { forwardedPlaces, parseHost, requestHost } from './request-host.ts'

/**
 * Where a request comes from (HT4). Pages of other sites are refused on every route, reads too; and
 * without authentication only a loopback name is answered, so that no foreign name that points here works.
 */
export function checkOrigin(request: Request, url: URL, options: HandlerOptions): void {
  const { authenticate, allowedOrigins = [], trustProxy = false } = options
  const { hostname, origins, source } = requestHost(request, url, options)
  if (authenticate === undefined && !isLoopbackName(hostname)) {
    throw new ApiError(
      403,
      'foreign-host',
      `Without authentication this server answers to a loopback name only, and it was asked as "${shorten(hostname)}". Give createHandler the option \`authenticate\`.`,
    )
  }
  const origin = request.headers.get('origin')
  if (origin === null) {
    if (request.headers.get('sec-fetch-site') !== 'cross-site') return
    throw foreign('A page of another site may not call this server.')
  }
  if (origins.includes(origin) || allowedOrigins.includes(origin)) return
  if (origin === 'null') {
    throw foreign('A page that has no origin (a file, a sandbox) may not call this server.')
  }
  const { hosts } = forwardedPlaces(request.headers)
  const own = origins.map(shorten).join(' or ')
  const proxyHint =
    hosts.length > 0 && !trustProxy
      ? '; if a proxy of yours sends X-Forwarded-Host, set `trustProxy`'
      : ''
  throw foreign(
    `A page of ${shorten(origin)} may not call this server, which is ${own} ${source}. If the page is yours, name its origin in the option \`allowedOrigins\` of createHandler${proxyHint}.`,
  )
}

const foreign = (message: string): ApiError => new ApiError(403, 'foreign-origin', message)

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

const local = parseOwnerId('local')

/** Who is asking; 401 for nobody. */
export async function identify(request: Request, options: HandlerOptions): Promise<OwnerId> {
  const { authenticate } = options
  if (authenticate === undefined) {
    checkLocal(request, options)
    return local
  }
  const caller = await authenticate(request)
  // A caller in plain JavaScript may return nothing at all.
  if (caller === null || caller === undefined) {
    throw new ApiError(401, 'not-authenticated', 'Say who you are.')
  }
  try {
    return parseOwnerId(caller.id)
  } catch (error) {
    // Not the fault of who asks: 500, and a line in the log that says where to look.
    throw new TypeError(
      'The option `authenticate` returns { id } with a string of 1 to 200 characters, or null.',
      { cause: error },
    )
  }
}

/**
 * Without authentication everybody is one owner, so everybody has to be on this machine (HT4). A name proves
 * nothing, since a client can send any: only the socket does, or a host that says that it listens here only.
 */
function checkLocal(request: Request, { localOnly = false }: HandlerOptions): void {
  const peer = peerOf(request)
  const isHere = peer === undefined ? localOnly : isLoopbackAddress(peer)
  if (!isHere) {
    throw noAuthentication(
      peer === undefined
        ? 'it cannot see whether you are on its machine. Give createHandler the option `authenticate`; or `localOnly: true`, if the server listens on a loopback address alone.'
        : `it answers its own machine only, and you are at ${peer}. Give createHandler the option \`authenticate\`.`,
    )
  }
  const { addresses, hosts } = forwardedPlaces(request.headers)
  const isForwarded =
    addresses.some((address) => !isLoopbackAddress(address)) ||
    hosts.some((host) => !isLoopbackName(parseHost(host)?.hostname ?? ''))
  if (isForwarded) {
    throw noAuthentication(
      'it answers its own machine only, and a proxy says that you are elsewhere. Give createHandler the option `authenticate`.',
    )
  }
}

const noAuthentication = (why: string): ApiError =>
  new ApiError(403, 'no-authentication', `This server has no authentication, so ${why}`)

/** For the few routes that everyone may ask. */
export const nobody = parseOwnerId('nobody')
