import { createContext, useContext } from 'react'
import type { ThreadClient } from '../client/thread-snapshot.ts'

/** The thread that a widget belongs to. */
export interface CurrentThread {
  /** Its id. */
  readonly threadId: string
  /** Its operations, such as `send` and `stop`. */
  readonly client: ThreadClient
  /** Whether nothing can be changed: the thread is shown through a link (FK5). @default false */
  readonly isReadOnly?: boolean
  /** Opens a thread that was forked from this one. Without it there is no button for that. */
  readonly onFork?: ((threadId: string) => void) | undefined
}

/** Must stay the same object while text streams, or each delta would render every widget below again. */
const ThreadContext = createContext<CurrentThread | null>(null)
export const ThreadProvider = ThreadContext.Provider

/** The surrounding thread, for a card that sends a message or stops the turn. Throws without a `<Thread>`. */
export function useCurrentThread(): CurrentThread {
  const thread = useContext(ThreadContext)
  if (thread === null) throw new Error('Put a <Thread> around this.')
  return thread
}
