import type { Connection } from '../client/connection.ts'
import { useThread, type UseThreadOptions } from './use-thread.ts'

/** How a thread's screen is connected, for those who show it. */
export const useConnection = (threadId: string, options: UseThreadOptions = {}): Connection =>
  useThread(threadId, options).connection
