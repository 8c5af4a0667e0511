import type { HandlerOptions } from './handler-options.ts'
import { badRequest } from './http-error.ts'

/** The host name and scheme that a request was sent to, as far as they can be known (HT4). */
export interface RequestHost {
  readonly hostname: string
  /** The origins that a page of this server can have. */
  readonly origins: readonly string[]
  /** Where the name was found, for an error message. */
  readonly source: string
}

/**
 * The name is the one in `Host`. The request's own address is set by the framework, and `next start` sets `localhost`
 * for every request; it is used only without a `Host`. Forwarding headers of a proxy are trusted with `trustProxy`
 * alone, since anyone can send them.
 *
 * The scheme is the proxy's, else that of the address. A server that receives `http:` may be behind a proxy that
 * terminates TLS, so its pages may be `https:` as well; never the other way round, or a page injected into an open
 * network could act as one that came over TLS. Without authentication there is no such proxy.
 */
export function requestHost(
  { headers }: Request,
  url: URL,
  { authenticate, trustProxy = false }: HandlerOptions,
): RequestHost {
  const proxy = trustProxy ? readForwarded(headers) : {}
  const given = proxy.host ?? headers.get('host')
  const name = parseHost(given ?? url.host)
  if (name === null) throw badRequest('The host name of the request is invalid.')
  return {
    hostname: name.hostname,
    origins: schemesOf(proxy.proto, url.protocol, authenticate !== undefined).map(
      // Through URL, which omits the scheme's default port, as browsers do.
      (scheme) => new URL(`${scheme}://${given ?? url.host}`).origin,
    ),
    source:
      proxy.host !== undefined
        ? 'by what its proxy says'
        : given === null
          ? 'by the address of the request'
          : 'by the Host header',
  }
}

function schemesOf(
  proto: string | undefined,
  protocol: string,
  isAuthenticated: boolean,
): readonly ('http' | 'https')[] {
  if (proto === 'http' || proto === 'https') return [proto]
  if (protocol === 'https:') return ['https']
  return isAuthenticated ? ['http', 'https'] : ['http']
}

/** Null for what is no host, or more than one. Only the text keeps the port as it was written. */
export function parseHost(host: string): URL | null {
  return /^[^\s/\\?#@,]+$/.test(host) ? URL.parse(`http://${host}`) : null
}

interface Forwarded {
  readonly host?: string
  readonly proto?: string
}

/** The first of several proxies is the one that the browser called. */
function readForwarded(headers: Headers): Forwarded {
  const first = (name: string) => headers.get(name)?.split(',')[0]?.trim()
  const standard = new Map(
    (first('forwarded') ?? '').split(';').map((pair) => {
      const [name = '', value = ''] = pair.split('=', 2)
      return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1')]
    }),
  )
  const host = first('x-forwarded-host') ?? standard.get('host')
  const proto = (first('x-forwarded-proto') ?? standard.get('proto'))?.toLowerCase()
  return { ...(host === undefined ? {} : { host }), ...(proto === undefined ? {} : { proto }) }
}

/** Every address and name that forwarding headers contain, whoever wrote them. */
export function forwardedPlaces(headers: Headers): {
  readonly addresses: readonly string[]
  readonly hosts: readonly string[]
} {
  const list = (name: string) =>
    (headers.get(name) ?? '')
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== '')
  const standard = (name: string) =>
    list('forwarded').flatMap((element) =>
      element
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.toLowerCase().startsWith(`${name}=`))
        .map((pair) => pair.slice(name.length + 1).replace(/^"(.*)"$/, '$1')),
    )
  return {
    addresses: [...list('x-forwarded-for'), ...list('x-real-ip'), ...standard('for')],
    hosts: [...list('x-forwarded-host'), ...standard('host')],
  }
}
