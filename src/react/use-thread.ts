import { useMemo, useSyncExternalStore } from 'react'
import type { ThreadClient, ThreadSnapshot } from '../client/thread-client.ts'
import { useClients } from './holdfast-provider.tsx'

export type UsedThread = ThreadSnapshot &
  Omit<ThreadClient, 'getSnapshot' | 'subscribe' | 'observe'>

export interface UseThreadOptions {
  /** It begins with its first message. Whoever shows it first says so, or it is looked for and not found. */
  readonly isNew?: boolean
}

/** A thread, live: what it shows, and what can be done with it. */
export function useThread(id: string, options: UseThreadOptions = {}): UsedThread {
  const clients = useClients()
  const { isNew = false } = options
  const client = useMemo(() => clients.thread(id, isNew), [clients, id, isNew])
  const snapshot = useSyncExternalStore(client.subscribe, client.getSnapshot, client.getSnapshot)
  return useMemo(() => ({ ...client, ...snapshot }), [client, snapshot])
}
