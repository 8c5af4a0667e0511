import type { Connection } from '../client/connection.ts'
import { useThread, type UseThreadOptions } from './use-thread.ts'

/** The state of a thread's connection, for components that show it. */
export const useConnection = (threadId: string, options: UseThreadOptions = {}): Connection =>
  useThread(threadId, options).connection
