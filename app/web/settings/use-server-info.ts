import { createApi } from 'holdfast/client'
import { useClients } from 'holdfast/react'
import { useEffect, useState } from 'react'

export interface ToolInfo {
  readonly name: string
  readonly description?: string
  readonly approval: string
  readonly repeatable: boolean
}

export interface ServerInfo {
  readonly store: string
  readonly version: string
  readonly tools: readonly ToolInfo[]
}

export type ReadInfo =
  | { readonly status: 'loading' }
  | { readonly status: 'ready'; readonly info: ServerInfo }
  | { readonly status: 'failed'; readonly error: string }

/** What the server says of itself, asked anew each time that somebody wants to see it. */
export function useServerInfo(isWanted: boolean): ReadInfo {
  const { api: options } = useClients()
  const [read, setRead] = useState<ReadInfo>({ status: 'loading' })
  useEffect(() => {
    if (!isWanted) return undefined
    const stop = new AbortController()
    const api = createApi(options)
    Promise.all([
      api.get<Omit<ServerInfo, 'tools'>>('/api/health', stop.signal),
      api.get<{ readonly results: readonly ToolInfo[] }>('/api/tools', stop.signal),
    ])
      .then(([{ store, version }, { results }]) =>
        setRead({ status: 'ready', info: { store, version, tools: results } }),
      )
      .catch((error: unknown) => {
        if (stop.signal.aborted) return
        setRead({ status: 'failed', error: error instanceof Error ? error.message : String(error) })
      })
    return () => stop.abort()
  }, [isWanted, options])
  return read
}
