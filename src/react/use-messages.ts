import type { Message } from '../core/message.ts'
import { useThread, type UseThreadOptions } from './use-thread.ts'

export interface UsedMessages {
  /** Oldest first. */
  readonly messages: readonly Message[]
  readonly hasOlder: boolean
  readonly isLoadingOlder: boolean
  readonly loadOlder: () => Promise<void>
}

/** The messages of a thread, from the newest upward. */
export function useMessages(threadId: string, options: UseThreadOptions = {}): UsedMessages {
  const { messages, hasOlder, isLoadingOlder, loadOlder } = useThread(threadId, options)
  return { messages, hasOlder, isLoadingOlder, loadOlder }
}
