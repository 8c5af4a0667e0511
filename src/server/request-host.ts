import type { HandlerOptions } from './handler-options.ts'
import { badRequest } from './http-error.ts'

/** Under which name a request was sent, and how, as far as that can be known (HT4). */
export interface RequestHost {
  readonly hostname: string
  /** The origins that a page of this server's own can have. */
  readonly origins: readonly string[]
  /** Where the name was found, in the words of an error. */
  readonly source: string
}

/**
 * The name is the one in `Host`. The request's own address is what a framework makes of it, and `next start`
 * says `localhost` to every request; it counts only where there is no `Host`. What a proxy says of the request
 * that it got is believed with `trustProxy` alone, since anyone can send such headers.
 *
 * The scheme is what the proxy says, else that of the address. A server that is asked over `http:` may
 * stand behind a proxy that ends TLS, so its pages may be `https:` as well; never the other way round, or a page
 * that somebody put into an open network could speak for one that came over TLS. Without authentication there
 * is no such proxy.
 */
export function requestHost(
  { headers }: Request,
  url: URL,
  { authenticate, trustProxy = false }: HandlerOptions,
): RequestHost {
  const proxy = trustProxy ? readForwarded(headers) : {}
  const given = proxy.host ?? headers.get('host')
  const name = parseHost(given ?? url.host)
  if (name === null) throw badRequest('The host that the request names is none.')
  return {
    hostname: name.hostname,
    origins: schemesOf(proxy.proto, url.protocol, authenticate !== undefined).map(
      // Through URL, which leaves out the port that a scheme has anyway, as browsers do.
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

/** Null for what is no name, or more than one. The port stays as it was written only in the text. */
export function parseHost(host: string): URL | null {
  return /^[^\s/\\?#@,]+$/.test(host) ? URL.parse(`http://${host}`) : null
}

interface Forwarded {
  readonly host?: string
  readonly proto?: string
}

/** The first of several proxies is the one that the browser asked. */
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

/** Every address and name that proxies say a request came from or was sent to, whoever wrote them. */
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
