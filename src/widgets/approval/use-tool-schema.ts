import { useEffect, useState } from 'react'
import { type Api, createApi } from '../../client/api.ts'
import type { JsonObject } from '../../core/json.ts'
import { useClients } from '../../react/holdfast-provider.tsx'

interface ToolInfo {
  readonly name: string
  readonly inputSchema: JsonObject
}

/** The tools of a server do not change while a page is open: they are asked for once. */
const known = new WeakMap<object, Promise<readonly ToolInfo[]>>()

function readTools(key: object, api: Api): Promise<readonly ToolInfo[]> {
  const asked = known.get(key) ?? api.get<{ results: readonly ToolInfo[] }>('/api/tools').then(({ results }) => results)
  known.set(key, asked)
  asked.catch(() => known.delete(key))
  return asked
}

export function useToolSchema(name: string): JsonObject | undefined {
  const clients = useClients()
  const [schema, setSchema] = useState<JsonObject | undefined>()
  useEffect(() => {
    let isCurrent = true
    readTools(clients, createApi(clients.api))
      .then((tools) => {
        if (isCurrent) setSchema(tools.find((tool) => tool.name === name)?.inputSchema)
      })
      // Without the schema the form shows the arguments that are there; the server checks them anyway.
      .catch(() => undefined)
    return () => {
      isCurrent = false
    }
  }, [clients, name])
  return schema
}
