import { useMemo, useSyncExternalStore } from 'react'
import type { ThreadSnapshot } from '../client/thread-snapshot.ts'
import { useClients } from './holdfast-provider.tsx'

/** What `useSharedThread` returns. */
export type UsedSharedThread = Pick<
  ThreadSnapshot,
  'status' | 'title' | 'messages' | 'hasOlder' | 'isLoadingOlder' | 'connection'
> & {
  /** When it was shared, as an ISO date; null until it has been read. */
  readonly sharedAt: string | null
  /** Loads one more page. Does nothing when there is none, or one is being loaded. */
  readonly loadOlder: () => Promise<void>
}

/**
 * A thread as a link shows it (FK5): its content when it was shared, and nothing later. No sign-in is needed. Throws
 * without a `<HoldfastProvider>`.
 */
export function useSharedThread(shareId: string): UsedSharedThread {
  const clients = useClients()
  const client = useMemo(() => clients.shared(shareId), [clients, shareId])
  const snapshot = useSyncExternalStore(client.subscribe, client.getSnapshot, client.getSnapshot)
  return useMemo(() => {
    const { status, title, messages, hasOlder, isLoadingOlder, connection } = snapshot
    const { loadOlder, sharedAt } = client
    return {
      ...{ status, title, messages, hasOlder, isLoadingOlder, connection, loadOlder },
      sharedAt: sharedAt(),
    }
  }, [client, snapshot])
}
