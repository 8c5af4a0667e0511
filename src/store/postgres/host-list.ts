import pg from 'pg'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { ServerRole } from './connection.ts'

/** Which servers of an address will do, in libpq's words. */
export type SessionAttrs = (typeof sessionAttrs)[number]

const sessionAttrs = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const

/** The servers that an address names, in the order in which they are tried. */
export interface HostList {
  /** An address for each server, as the driver takes it. */
  readonly urls: readonly [string, ...string[]]
  readonly sessionAttrs: SessionAttrs
}

/**
 * Reads an address with one server or several, as libpq does: `postgres://a,b:5433/db`, or
 * `postgres:///db?host=a,b&port=5432,5433`, with `target_session_attrs`. The driver knows neither.
 *
 * Nothing of an address is told in an error: it may hold a password.
 */
export function parseHostList(url: string): HostList {
  const found = /^(postgres(?:ql)?:\/\/)([^/?#]*)([^?#]*)(?:\?([^#]*))?/.exec(url)
  if (found === null) throw badAddress()
  const [, scheme = '', authority = '', path = '', query = ''] = found
  const parameters = new URLSearchParams(query)
  const attrs = parseSessionAttrs(parameters.get('target_session_attrs'))
  const at = authority.lastIndexOf('@')
  const [user, hosts] = [authority.slice(0, at + 1), authority.slice(at + 1)]
  const named = parameters.get('host')
  const isInQuery = named !== null && (named.includes(',') || hosts === '')
  const ports = parameters.get('port')?.split(',') ?? []
  const isPlain = !isInQuery && !hosts.includes(',') && ports.length < 2
  parameters.delete('target_session_attrs')
  const urls = isPlain
    ? [attrs === 'any' ? url : join(scheme + authority + path, parameters)]
    : (isInQuery ? named : hosts).split(',').map((host, index, all) => {
        const port = ports.length > 1 ? ports[index] : ports[0]
        if (host === '' || (ports.length > 1 && ports.length !== all.length)) throw badAddress()
        const own = new URLSearchParams(parameters)
        own.delete('host')
        own.delete('port')
        if (port !== undefined && port !== '') own.set('port', port)
        if (isInQuery) own.set('host', host)
        return join(`${scheme}${user}${isInQuery ? '' : host}${path}`, own)
      })
  for (const each of urls) assertAddress(each)
  return { urls: urls as [string, ...string[]], sessionAttrs: attrs }
}

const join = (address: string, parameters: URLSearchParams): string =>
  parameters.size === 0 ? address : `${address}?${parameters.toString()}`

function parseSessionAttrs(word: string | null): SessionAttrs {
  const known = sessionAttrs.find((each) => each === (word ?? 'any'))
  if (known !== undefined) return known
  throw new HoldfastError(
    'store-unreachable',
    `target_session_attrs is one of ${sessionAttrs.join(', ')}.`,
  )
}

/** The driver parses the address only when it connects, and shows all of it, password included. */
function assertAddress(url: string): void {
  try {
    void new pg.Client({ connectionString: url })
  } catch {
    throw badAddress()
  }
}

const badAddress = () =>
  new HoldfastError('store-unreachable', 'The address is not a valid postgres:// URL.')

/** Whether a server will do. `isLastResort`: no standby was found, and one was only preferred. */
export function suits(attrs: SessionAttrs, role: ServerRole, isLastResort: boolean): boolean {
  switch (attrs) {
    case 'any':
      return true
    case 'read-write':
      return !role.isStandby && !role.isReadOnly
    case 'read-only':
      return role.isStandby || role.isReadOnly
    case 'primary':
      return !role.isStandby
    case 'standby':
      return role.isStandby
    case 'prefer-standby':
      return role.isStandby || isLastResort
  }
}
