import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { type AgentInfo, createAgentClient } from '../client/agent-client.ts'
import type { ApiOptions } from '../client/api.ts'
import type { ExternalStore } from '../client/external-store.ts'
import {
  createSharedThreadClient,
  type SharedThreadClient,
} from '../client/shared-thread-client.ts'
import { createThreadClient } from '../client/thread-client.ts'
import type { ThreadClient } from '../client/thread-snapshot.ts'
import type { ThreadListClient, ThreadListFilter } from '../client/thread-list-client.ts'
import { createThreadLists } from './thread-lists.ts'
import { createToolCallsClient, type ToolCallsSnapshot } from '../client/tool-calls-client.ts'

/** The clients of one page. A thread has one client however many components show it. */
export interface Clients {
  /** The API options of every request of the page. */
  readonly api: ApiOptions
  /** What the person may choose for an answer. */
  readonly agent: ExternalStore<AgentInfo>
  /** The list of threads. */
  readonly threads: ThreadListClient
  /**
   * Another list, of archived or of pinned threads; the same client each time. Changes and removals in one list show in
   * the others.
   * @default filter none: `threads`
   */
  threadList(filter?: ThreadListFilter): ThreadListClient
  /**
   * The client of a thread, the same one each time. `isNew`: the thread is created by its first message; used only by
   * the first call for this thread.
   * @default isNew false
   */
  thread(id: string, isNew?: boolean): ThreadClient
  /** The client of a shared thread, the same one each time. */
  shared(shareId: string): SharedThreadClient
  /** The calls of a message; all components that show them share one client. */
  toolCalls(messageId: string, include?: 'all'): ExternalStore<ToolCallsSnapshot>
}

/** For widgets that work without a provider too. */
export const ClientsContext = createContext<Clients | null>(null)

/** The props of `<HoldfastProvider>`: the server's address, and the headers of requests. */
export interface HoldfastProviderProps extends ApiOptions {
  /** The components that may use the hooks and the widgets. */
  readonly children: ReactNode
}

/**
 * Provides clients to the hooks and widgets below it. New options mean new clients, so `headers` and `fetch` should be
 * the same functions on every render.
 * @example
 * <HoldfastProvider baseUrl="https://chat.example.com">
 *   <Thread threadId={id} />
 * </HoldfastProvider>
 */
export function HoldfastProvider({ children, ...api }: HoldfastProviderProps): ReactNode {
  const { baseUrl, basePath, headers, fetch } = api
  const clients = useMemo(
    () =>
      createClients({
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(basePath === undefined ? {} : { basePath }),
        ...(headers === undefined ? {} : { headers }),
        ...(fetch === undefined ? {} : { fetch }),
      }),
    [baseUrl, basePath, headers, fetch],
  )
  return <ClientsContext.Provider value={clients}>{children}</ClientsContext.Provider>
}

/** The clients of the page, for what no other hook offers. Throws without a `<HoldfastProvider>`. */
export function useClients(): Clients {
  const clients = useContext(ClientsContext)
  if (clients === null) throw new Error('Put a <HoldfastProvider> around this.')
  return clients
}

const mostThreads = 20
const mostMessages = 500

function createClients(api: ApiOptions): Clients {
  // The most recently shown threads stay loaded, so that going back to one shows it at once.
  const threads = createKeeper<ThreadClient>(mostThreads)
  const shared = createKeeper<SharedThreadClient>(mostThreads)
  const messages = createKeeper<ExternalStore<ToolCallsSnapshot>>(mostMessages)
  const thread = (id: string, isNew = false) =>
    threads(id, () => createThreadClient({ ...api, threadId: id, isNew }))
  const threadList = createThreadLists(api)
  return {
    api,
    agent: createAgentClient(api),
    threads: threadList(),
    threadList,
    thread,
    shared: (id) => shared(id, () => createSharedThreadClient({ ...api, shareId: id })),
    toolCalls: (messageId, include) =>
      messages(`${include ?? 'default'} ${messageId}`, () =>
        createToolCallsClient({
          ...api,
          messageId,
          thread,
          ...(include === undefined ? {} : { include }),
        }),
      ),
  }
}

/** A cache that creates each item once, and evicts the least recently used one. */
function createKeeper<Item>(most: number): (key: string, create: () => Item) => Item {
  const kept = new Map<string, Item>()
  return (key, create) => {
    const item = kept.get(key) ?? create()
    kept.delete(key)
    kept.set(key, item)
    const oldest = kept.keys().next().value
    if (kept.size > most && oldest !== undefined) kept.delete(oldest)
    return item
  }
}
