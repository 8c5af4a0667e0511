import { useMemo } from 'react'
import { createApi } from '../../client/api.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { useClients } from '../../react/holdfast-provider.tsx'
import type { CallActions } from '../call-actions.ts'
import type { CurrentThread } from '../thread-context.ts'

interface ToolInfo {
  readonly name: string
  readonly inputSchema: JsonObject
  readonly repeatable?: boolean
}

/** The actions on calls that the server supports. */
export function useThreadActions({ threadId, client }: CurrentThread): CallActions {
  const { api: options } = useClients()
  return useMemo(() => {
    const api = createApi(options)
    // The tools of a server do not change while a page is open: they are requested once.
    let tools: Promise<readonly ToolInfo[]> | undefined
    const readTools = () => {
      tools ??= api
        .get<{ readonly results: readonly ToolInfo[] }>('/api/tools')
        .then(({ results }) => results)
      tools.catch(() => {
        tools = undefined
      })
      return tools
    }
    return {
      decide: client.decide,
      decideAll: client.decideAll,
      resolve: (callId, resolution) => client.resolve(callId, resolution),
      async loadResult(callId) {
        const path = `/api/threads/${encodeURIComponent(threadId)}/tool-calls/${encodeURIComponent(callId)}`
        const record = await api.get<{ readonly result?: Json }>(path)
        return record.result ?? null
      },
      readSchema: async (name) =>
        (await readTools()).find((tool) => tool.name === name)?.inputSchema,
      isRepeatable: async (name) =>
        (await readTools()).find((tool) => tool.name === name)?.repeatable === true,
    }
  }, [options, threadId, client])
}
