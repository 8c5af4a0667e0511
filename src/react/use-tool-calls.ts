import { useEffect, useState } from 'react'
import { createApi } from '../client/api.ts'
import type { ToolCallList, ToolCallRecord } from '../views/tool-call-record.ts'
import { useClients } from './holdfast-provider.tsx'

export interface UsedToolCalls {
  readonly toolCalls: readonly ToolCallRecord[]
  readonly isLoading: boolean
  readonly isComplete: boolean
  readonly hasToolCalls: boolean
}

const nothing: ToolCallList = { toolCalls: [], isComplete: false }
const againMs = 1_000

/** The calls of one message, by its id alone. Without an id nothing is asked. */
export function useToolCalls(messageId: string | undefined): UsedToolCalls {
  const { api } = useClients()
  const [read, setRead] = useState<{ readonly id: string; readonly list: ToolCallList } | null>(
    null,
  )
  useEffect(() => {
    if (messageId === undefined) return undefined
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const path = `/api/messages/${encodeURIComponent(messageId)}/tool-calls`
    const ask = async () => {
      try {
        const list = await createApi(api).get<ToolCallList>(path, stop.signal)
        setRead({ id: messageId, list })
        if (list.isComplete) return
      } catch {
        // Shown as still loading; it is asked again as long as somebody looks.
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void ask(), againMs)
    }
    void ask()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [api, messageId])
  const list = read !== null && read.id === messageId ? read.list : nothing
  return {
    ...list,
    isLoading: messageId !== undefined && list === nothing,
    hasToolCalls: list.toolCalls.length > 0,
  }
}
