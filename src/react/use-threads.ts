import { useMemo, useSyncExternalStore } from 'react'
import type {
  ThreadListClient,
  ThreadListFilter,
  ThreadListSnapshot,
} from '../client/thread-list-client.ts'
import { useClients } from './holdfast-provider.tsx'

/** What `useThreads` returns: the loaded list, and its operations. */
export type UsedThreads = ThreadListSnapshot & Omit<ThreadListClient, 'getSnapshot' | 'subscribe'>

/**
 * The list of threads, newest activity first: those that are not archived, or with a filter the archived or the pinned
 * ones. It is read when it is first shown, and by `refresh`.
 */
export function useThreads({ archived, pinned }: ThreadListFilter = {}): UsedThreads {
  const clients = useClients()
  const threads = clients.threadList({ archived: archived === true, pinned: pinned === true })
  const snapshot = useSyncExternalStore(threads.subscribe, threads.getSnapshot, threads.getSnapshot)
  return useMemo(() => ({ ...threads, ...snapshot }), [threads, snapshot])
}
