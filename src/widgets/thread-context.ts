import { createContext, useContext } from 'react'
import type { ThreadClient } from '../client/thread-client.ts'

export interface CurrentThread {
  readonly threadId: string
  readonly client: ThreadClient
}

/** The thread that the widgets below belong to. It never changes while text streams, so nor do they. */
const ThreadContext = createContext<CurrentThread | null>(null)
export const ThreadProvider = ThreadContext.Provider

export function useCurrentThread(): CurrentThread {
  const thread = useContext(ThreadContext)
  if (thread === null) throw new Error('Put a <Thread> around this.')
  return thread
}
