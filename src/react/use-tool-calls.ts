import { useMemo, useSyncExternalStore } from 'react'
import type { ExternalStore } from '../client/external-store.ts'
import type { ToolCallsSnapshot } from '../client/tool-calls-client.ts'
import type { ToolCallRecord } from '../views/tool-call-record.ts'
import { useClients } from './holdfast-provider.tsx'

/** The options of `useToolCalls`. */
export interface UseToolCallsOptions {
  /**
   * `all`: every call of the message. Without it a call that fails leaves the list.
   *
   * @default those that are open or succeeded
   */
  readonly include?: 'all'
}

/** What `useToolCalls` returns. */
export interface UsedToolCalls {
  /** In call order. The same list as before where nothing changed. */
  readonly toolCalls: readonly ToolCallRecord[]
  /** An id was given and nothing has been read yet. */
  readonly isLoading: boolean
  /** The turn is over: nothing here changes any more. */
  readonly isComplete: boolean
  /** Whether there are any in `toolCalls`. */
  readonly hasToolCalls: boolean
}

const nothing: ToolCallsSnapshot = { toolCalls: [], isComplete: false, isLoading: false }
const noMessage: ExternalStore<ToolCallsSnapshot> = {
  getSnapshot: () => nothing,
  subscribe: () => () => {},
}

/**
 * The calls of one message, live, by its id alone. They follow the thread over the connection that all hooks of that
 * thread share. Without an id no request is sent.
 */
export function useToolCalls(
  messageId: string | undefined,
  options: UseToolCallsOptions = {},
): UsedToolCalls {
  const clients = useClients()
  const { include } = options
  const store = useMemo(
    () => (messageId === undefined ? noMessage : clients.toolCalls(messageId, include)),
    [clients, messageId, include],
  )
  const snapshot = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot)
  return useMemo(() => ({ ...snapshot, hasToolCalls: snapshot.toolCalls.length > 0 }), [snapshot])
}
