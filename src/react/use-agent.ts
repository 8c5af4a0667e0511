import { useSyncExternalStore } from 'react'
import type { AgentInfo } from '../client/agent-client.ts'
import { useClients } from './holdfast-provider.tsx'

/** What the person may choose for an answer: models, and the JSON Schema of `choices`. Read once for a page. */
export function useAgent(): AgentInfo {
  const { agent } = useClients()
  return useSyncExternalStore(agent.subscribe, agent.getSnapshot, agent.getSnapshot)
}
