import { useMemo, useSyncExternalStore } from 'react'
import type { ThreadListClient, ThreadListSnapshot } from '../client/thread-list-client.ts'
import { useClients } from './holdfast-provider.tsx'

export type UsedThreads = ThreadListSnapshot & Omit<ThreadListClient, 'getSnapshot' | 'subscribe'>

/** The list of threads, newest activity first. */
export function useThreads(): UsedThreads {
  const { threads } = useClients()
  const snapshot = useSyncExternalStore(threads.subscribe, threads.getSnapshot, threads.getSnapshot)
  return useMemo(() => ({ ...threads, ...snapshot }), [threads, snapshot])
}
