import { useMemo, useSyncExternalStore } from 'react'
import type { ThreadClient, ThreadSnapshot } from '../client/thread-snapshot.ts'
import { useClients } from './holdfast-provider.tsx'

/** What `useThread` returns: the state of the thread, and its operations. */
export type UsedThread = ThreadSnapshot &
  Omit<ThreadClient, 'getSnapshot' | 'subscribe' | 'observe'>

/** The options of the hooks that take a thread. */
export interface UseThreadOptions {
  /**
   * The thread is created by its first message. The first component that shows it must set this: otherwise it is
   * requested from the server, which refuses it as not found.
   * @default false
   */
  readonly isNew?: boolean
}

/**
 * A thread, live: its state and its operations. All components that show the same thread share one connection, which is
 * open while one of them is mounted. Throws without a `<HoldfastProvider>`.
 */
export function useThread(id: string, options: UseThreadOptions = {}): UsedThread {
  const clients = useClients()
  const { isNew = false } = options
  const client = useMemo(() => clients.thread(id, isNew), [clients, id, isNew])
  const snapshot = useSyncExternalStore(client.subscribe, client.getSnapshot, client.getSnapshot)
  return useMemo(() => ({ ...client, ...snapshot }), [client, snapshot])
}
