import pg from 'pg'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { type Connection, openConnection } from './connection.ts'
import { parseHostList, suits } from './host-list.ts'
import { toConnectFault } from './postgres-error.ts'
import { getTypeParser } from './statement-query.ts'

/** Connects to the servers that one address names. */
export interface Connector {
  /** To one that will do: every server is tried once, from the one that did last. */
  readonly connect: () => Promise<Connection>
  /** Not yet connected, and without a time limit, to the server that did last. */
  createClient(): pg.Client
  /** The address asks for servers of a kind, so that another can take the place of one that was demoted. */
  readonly isChoosy: boolean
}

export function createConnector(url: string, connectTimeoutMs: number): Connector {
  const hosts = parseHostList(url)
  /** The server that did last. */
  let current = 0
  const configOf = (index: number): pg.ClientConfig => ({
    connectionString: hosts.urls[index],
    application_name: 'holdfast',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectTimeoutMs,
    types: { getTypeParser },
  })

  const connectTo = async (index: number, isLastResort: boolean): Promise<Connection> => {
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
    isChoosy: hosts.sessionAttrs !== 'any',
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
            // Of several, one that answered and does not suit says more than one that is gone.
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
    'No PostgreSQL of the address is of the kind that target_session_attrs asks for.',
    { isTemporary: true },
  )
