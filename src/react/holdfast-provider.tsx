import { createContext, type ReactNode, useContext, useMemo } from 'react'
import type { ApiOptions } from '../client/api.ts'
import { createThreadClient, type ThreadClient } from '../client/thread-client.ts'
import { createThreadListClient, type ThreadListClient } from '../client/thread-list-client.ts'

/** The clients of one page. A thread has one client however many components show it. */
export interface Clients {
  readonly api: ApiOptions
  readonly threads: ThreadListClient
  thread(id: string, isNew?: boolean): ThreadClient
}

const ClientsContext = createContext<Clients | null>(null)

export interface HoldfastProviderProps extends ApiOptions {
  readonly children: ReactNode
}

export function HoldfastProvider({ children, ...api }: HoldfastProviderProps): ReactNode {
  const { baseUrl, headers, fetch } = api
  const clients = useMemo(
    () =>
      createClients({
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(headers === undefined ? {} : { headers }),
        ...(fetch === undefined ? {} : { fetch }),
      }),
    [baseUrl, headers, fetch],
  )
  return <ClientsContext.Provider value={clients}>{children}</ClientsContext.Provider>
}

export function useClients(): Clients {
  const clients = useContext(ClientsContext)
  if (clients === null) throw new Error('Put a <HoldfastProvider> around this.')
  return clients
}

const mostKept = 20

function createClients(api: ApiOptions): Clients {
  const threads = new Map<string, ThreadClient>()
  return {
    api,
    threads: createThreadListClient(api),
    thread(id, isNew = false) {
      const known = threads.get(id)
      const client = known ?? createThreadClient({ ...api, threadId: id, isNew })
      // The most recently shown stay warm, so that going back to a thread shows it at once.
      threads.delete(id)
      threads.set(id, client)
      const oldest = threads.keys().next().value
      if (threads.size > mostKept && oldest !== undefined) threads.delete(oldest)
      return client
    },
  }
}
