export {
  type Clients,
  HoldfastProvider,
  type HoldfastProviderProps,
  useClients,
} from './holdfast-provider.tsx'
export { useAgent } from './use-agent.ts'
export { useConnection } from './use-connection.ts'
export { type UsedMessages, useMessages } from './use-messages.ts'
export { type FoundText, type UsedSearch, useSearch } from './use-search.ts'
export { type UsedSharedThread, useSharedThread } from './use-shared-thread.ts'
export { type UsedThread, useThread, type UseThreadOptions } from './use-thread.ts'
export { type UsedThreads, useThreads } from './use-threads.ts'
export { type UsedToolCalls, useToolCalls, type UseToolCallsOptions } from './use-tool-calls.ts'
