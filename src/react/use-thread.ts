import { useMemo, useSyncExternalStore } from 'react'
import type { ThreadClient, ThreadSnapshot } from '../client/thread-snapshot.ts'
import { useClients } from './holdfast-provider.tsx'

/** What `useThread` returns: the state of the thread, and what can be done with it. */
export type UsedThread = ThreadSnapshot &
  Omit<ThreadClient, 'getSnapshot' | 'subscribe' | 'observe'>

/** The options of the hooks that take a thread. */
export interface UseThreadOptions {
  /**
   * It begins with its first message. Whoever shows it first must say so: otherwise the server is asked
   * for it, and the thread is refused as not found.
   *
   * @default false
   */
  readonly isNew?: boolean
}

/**
 * A thread, live: what it shows, and what can be done with it. All that show the same thread share one
 * connection, which is open as long as one of them is mounted. Throws without a `<HoldfastProvider>`.
 */
export function useThread(id: string, options: UseThreadOptions = {}): UsedThread {
  const clients = useClients()
  const { isNew = false } = options
  const client = useMemo(() => clients.thread(id, isNew), [clients, id, isNew])
  const snapshot = useSyncExternalStore(client.subscribe, client.getSnapshot, client.getSnapshot)
  return useMemo(() => ({ ...client, ...snapshot }), [client, snapshot])
}
