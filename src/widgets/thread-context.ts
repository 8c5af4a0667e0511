import { createContext, useContext } from 'react'
import type { UsedThread } from '../react/use-thread.ts'

/** The thread that the widgets below it belong to. */
const ThreadContext = createContext<UsedThread | null>(null)
export const ThreadProvider = ThreadContext.Provider

export function useCurrentThread(): UsedThread {
  const thread = useContext(ThreadContext)
  if (thread === null) throw new Error('Put a <Thread> around this.')
  return thread
}

export const useThreadId = (): string => useCurrentThread().threadId
