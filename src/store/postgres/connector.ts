import pg from 'pg'
import { badOption } from '../../core/check-options.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { type PostgresConnection, openConnection, type ServerRole } from './connection.ts'
import { toConnectFault } from './postgres-error.ts'
import { getTypeParser } from './statement.ts'

/** Connects to the servers of one URL. */
export interface Connector {
  /** Connects to a suitable server: tries each once, beginning with the last one that succeeded. */
  readonly connect: () => Promise<PostgresConnection>
  /** A client that is not yet connected and has no time limit, for the last server that succeeded. */
  createClient(): pg.Client
  /** Whether the URL selects servers by role, so that another server can replace one that was demoted. */
  readonly selectsByRole: boolean
}

export function createConnector(url: string, connectTimeoutMs: number): Connector {
  const hosts = parseHostList(url)
  /** The index of the last server that succeeded. */
  let current = 0
  const configOf = (index: number): pg.ClientConfig => ({
    connectionString: hosts.urls[index],
    application_name: 'holdfast',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectTimeoutMs,
    types: { getTypeParser },
  })

  const connectTo = async (index: number, isLastResort: boolean): Promise<PostgresConnection> => {
    const connection = await openConnection(configOf(index), connectTimeoutMs).catch(
      (error: unknown) => {
        throw toConnectFault(error)
      },
    )
    if (suits(hosts.sessionAttrs, connection.role, isLastResort)) return connection
    void connection.close()
    throw unsuited()
  }

  return {
    selectsByRole: hosts.sessionAttrs !== 'any',
    createClient: () => new pg.Client(configOf(current)),
    connect: async () => {
      const isPreference = hosts.sessionAttrs === 'prefer-standby'
      const first = current
      let fault: unknown
      for (const isLastResort of isPreference ? [false, true] : [false]) {
        for (let step = 0; step < hosts.urls.length; step++) {
          const index = (first + step) % hosts.urls.length
          try {
            const connection = await connectTo(index, isLastResort)
            current = index
            return connection
          } catch (error) {
            // Of several errors, that of a server that answered but is not suitable explains more than that
            // of an unreachable one.
            const isAnswer = error instanceof HoldfastError && error.code !== 'store-unreachable'
            if (fault === undefined || isAnswer) fault = error
          }
        }
      }
      throw fault
    },
  }
}

const unsuited = () =>
  new HoldfastError(
    'store-read-only',
    'No PostgreSQL server of the URL matches target_session_attrs.',
    { isTemporary: true },
  )

/** Which servers of a URL are suitable, by libpq's names. */
type SessionAttrs = (typeof sessionAttrs)[number]

const sessionAttrs = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const

/** The servers of a URL, in the order in which they are tried. */
export interface HostList {
  /** One URL per server, as the driver accepts it. */
  readonly urls: readonly [string, ...string[]]
  readonly sessionAttrs: SessionAttrs
}

/**
 * Parses a URL with one or several servers, as libpq does: `postgres://a,b:5433/db`, or
 * `postgres:///db?host=a,b&port=5432,5433`, with `target_session_attrs`. The driver supports neither.
 *
 * No error contains any part of a URL: it may hold a password.
 */
export function parseHostList(url: string): HostList {
  const found = /^(postgres(?:ql)?:\/\/)([^/?#]*)([^?#]*)(?:\?([^#]*))?/i.exec(url)
  if (found === null) throw notPostgres(url)
  const [all, scheme = '', authority = '', path = '', query = ''] = found
  const parameters = new URLSearchParams(query)
  // The rest of a password that has one of these characters: what stands before it would be taken for the host, and errors
  // of the network show a host.
  const isCut = path.includes('@') || [...parameters.keys()].some((name) => name.includes('@'))
  if (isCut || all.length < url.length) throw unreadable()
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
    : (isInQuery ? named : hosts).split(',').map((host, index, every) => {
        const port = ports.length > 1 ? ports[index] : ports[0]
        if (host === '' || (ports.length > 1 && ports.length !== every.length)) throw badHosts()
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
  throw badOption(`target_session_attrs is one of ${sessionAttrs.join(', ')}.`)
}

/** The driver parses the URL only when it connects, and its error shows all of it, including the password. */
function assertAddress(url: string): void {
  try {
    void new pg.Client({ connectionString: url })
  } catch (error) {
    // A certificate or a key, which the driver reads at once.
    const { syscall, path } = error as NodeJS.ErrnoException
    if (syscall === undefined || path === undefined) throw unreadable()
    throw badOption(`The address names the file ${path}, which cannot be read.`)
  }
}

const unreadable = () =>
  badOption(
    'The address cannot be read as a URL. Percent-encode special characters of the user name and the password: "@" is %40, "/" is %2F, "#" is %23, "?" is %3F, "%" is %25.',
  )

const badHosts = () =>
  badOption(
    'The address has a server without a name, or not one port for each: postgres://a:5432,b:5433/database.',
  )

/** Names at most the scheme. */
function notPostgres(url: string): HoldfastError {
  const must = 'The address must begin with postgres://'
  if (url.trim() === '') return badOption(`${must}, and is empty.`)
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url) ?? []
  if (scheme !== undefined) return badOption(`${must}, not with ${scheme}://.`)
  const isFile = /^file:|^[^:=@]*\.(?:db|sqlite3?)$/i.test(url)
  return badOption(isFile ? `${must}. For a file: sqlite(file), from holdfast/sqlite.` : `${must}.`)
}

/** Whether a server is suitable. `isLastResort`: no standby was found, and one was only preferred. */
function suits(attrs: SessionAttrs, role: ServerRole, isLastResort: boolean): boolean {
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
