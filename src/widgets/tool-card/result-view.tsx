import { type ReactNode, useState } from 'react'
import { createApi } from '../../client/api.ts'
import type { EndedCall } from '../../core/call.ts'
import type { Json } from '../../core/json.ts'
import { useClients } from '../../react/holdfast-provider.tsx'
import { useTexts } from '../texts.tsx'
import { useThreadId } from '../thread-context.ts'
import { JsonView } from './json-view.tsx'

type Succeeded = Extract<EndedCall, { readonly state: 'succeeded' }>

/** A result; one that was left out of the page because of its size is fetched when asked for (PG7). */
export function ResultView({ call }: { readonly call: Succeeded }): ReactNode {
  const { value, load, error } = useResult(call)
  const texts = useTexts()
  if (value !== undefined) return <JsonView value={value} />
  const { output } = call
  const size = output.kind === 'omitted' ? formatBytes(output.bytes) : ''
  return (
    <p>
      <button type="button" className="hf-button" onClick={() => void load()}>
        {texts.loadResult(size)}
      </button>
      {error !== null && <span className="hf-call-error">{error}</span>}
    </p>
  )
}

export interface UsedResult {
  /** Undefined: not here yet. */
  readonly value: Json | undefined
  readonly load: () => Promise<void>
  readonly error: string | null
}

export function useResult(call: Succeeded): UsedResult {
  const { api } = useClients()
  const threadId = useThreadId()
  const [fetched, setFetched] = useState<Json | undefined>()
  const [error, setError] = useState<string | null>(null)
  const load = async () => {
    try {
      const path = `/api/threads/${encodeURIComponent(threadId)}/tool-calls/${encodeURIComponent(call.id)}`
      const record = await createApi(api).get<{ readonly result?: Json }>(path)
      setFetched(record.result ?? null)
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown.message : String(thrown))
    }
  }
  const value = call.output.kind === 'inline' ? call.output.value : fetched
  return { value, load, error }
}

const formatBytes = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
