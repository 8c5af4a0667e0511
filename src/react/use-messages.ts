import type { Message } from '../core/message.ts'
import { useThread, type UseThreadOptions } from './use-thread.ts'

/** What `useMessages` returns. */
export interface UsedMessages {
  /** Oldest first. */
  readonly messages: readonly Message[]
  /** There are messages before the first one here. */
  readonly hasOlder: boolean
  /** The next page is being loaded. */
  readonly isLoadingOlder: boolean
  /** Loads one more page. Does nothing when there is none, or one is being loaded. */
  readonly loadOlder: () => Promise<void>
}

/** The messages of a thread, from the newest upward. */
export function useMessages(threadId: string, options: UseThreadOptions = {}): UsedMessages {
  const { messages, hasOlder, isLoadingOlder, loadOlder } = useThread(threadId, options)
  return { messages, hasOlder, isLoadingOlder, loadOlder }
}
