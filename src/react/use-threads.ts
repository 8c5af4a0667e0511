import { useMemo, useSyncExternalStore } from 'react'
import type { ThreadListClient, ThreadListSnapshot } from '../client/thread-list-client.ts'
import { useClients } from './holdfast-provider.tsx'

/** What `useThreads` returns: the list so far, and what can be done with it. */
export type UsedThreads = ThreadListSnapshot & Omit<ThreadListClient, 'getSnapshot' | 'subscribe'>

/** The list of threads, newest activity first. It is read when it is first shown, and by `refresh`. */
export function useThreads(): UsedThreads {
  const { threads } = useClients()
  const snapshot = useSyncExternalStore(threads.subscribe, threads.getSnapshot, threads.getSnapshot)
  return useMemo(() => ({ ...threads, ...snapshot }), [threads, snapshot])
}
