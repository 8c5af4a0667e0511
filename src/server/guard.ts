import { type OwnerId, parseOwnerId } from '../core/ids.ts'
import { ApiError } from '../protocol/api-error.ts'
import type { HandlerOptions } from './handler-options.ts'
import { isLoopbackAddress, isLoopbackName } from './loopback.ts'
import { peerOf } from './peer-address.ts'
import { forwardedPlaces, parseHost, requestHost } from './request-host.ts'

/**
 * Checks the origin of a request (HT4). Pages of other sites are refused on every route, reads too; and without
 * authentication only loopback host names are accepted, so that no foreign name that resolves to this machine works.
 */
export function checkOrigin(request: Request, url: URL, options: HandlerOptions): void {
  const { authenticate, allowedOrigins = [], trustProxy = false } = options
  const { hostname, origins, source } = requestHost(request, url, options)
  if (authenticate === undefined && !isLoopbackName(hostname)) {
    throw new ApiError(
      403,
      'foreign-host',
      `Without authentication this server responds only to a loopback name, and the request was for "${shorten(hostname)}". Pass createHandler the option \`authenticate\`.`,
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
      ? '; if your own proxy sends X-Forwarded-Host, set `trustProxy`'
      : ''
  throw foreign(
    `A page of ${shorten(origin)} may not call this server, which is ${own} ${source}. If the page is yours, add its origin to the option \`allowedOrigins\` of createHandler${proxyHint}.`,
  )
}

const foreign = (message: string): ApiError => new ApiError(403, 'foreign-origin', message)

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

const local = parseOwnerId('local')

/** The caller's owner id; 401 without one. */
export async function identify(request: Request, options: HandlerOptions): Promise<OwnerId> {
  const { authenticate } = options
  if (authenticate === undefined) {
    checkLocal(request, options)
    return local
  }
  const caller = await authenticate(request)
  // A function in plain JavaScript may return undefined.
  if (caller === null || caller === undefined) {
    throw new ApiError(
      401,
      'not-authenticated',
      'Not signed in: `authenticate` found no user in this request.',
    )
  }
  try {
    return parseOwnerId(caller.id)
  } catch (error) {
    // Not the caller's fault: 500, and a line in the log that names the option.
    throw new TypeError(
      'The option `authenticate` returns { id } with a string of 1 to 200 characters, or null.',
      { cause: error },
    )
  }
}

/**
 * Without authentication everybody is one owner, so every caller has to be on this machine (HT4). The host name proves
 * nothing, since a client can send any: only the socket does, or the host application's statement that it listens on
 * loopback only.
 */
function checkLocal(request: Request, { localOnly = false }: HandlerOptions): void {
  const peer = peerOf(request)
  const isHere = peer === undefined ? localOnly : isLoopbackAddress(peer)
  if (!isHere) {
    throw noAuthentication(
      peer === undefined
        ? 'it cannot tell whether you are on its machine. Pass createHandler the option `authenticate`; or `localOnly: true`, if the server listens only on a loopback address.'
        : `it responds only to its own machine, and you are at ${peer}. Pass createHandler the option \`authenticate\`.`,
    )
  }
  const { addresses, hosts } = forwardedPlaces(request.headers)
  const isForwarded =
    addresses.some((address) => !isLoopbackAddress(address)) ||
    hosts.some((host) => !isLoopbackName(parseHost(host)?.hostname ?? ''))
  if (isForwarded) {
    throw noAuthentication(
      'it responds only to its own machine, and by the headers of a proxy you are elsewhere. Pass createHandler the option `authenticate`.',
    )
  }
}

const noAuthentication = (reason: string): ApiError =>
  new ApiError(403, 'no-authentication', `This server has no authentication, so ${reason}`)

/** The owner id for public routes. */
export const nobody = parseOwnerId('nobody')
