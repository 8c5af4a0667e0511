import { useEffect, useState } from 'react'
import { type Api, createApi } from '../client/api.ts'
import { useClients } from './holdfast-provider.tsx'

/** One search result. */
export interface FoundText {
  readonly threadId: string
  /** Null: the title matched. */
  readonly messageId: string | null
  /** The title of the thread. */
  readonly title: string
  /** Plain text around the first match. */
  readonly snippet: string
  /** The positions of the words in the snippet: `[start, end]`. */
  readonly ranges: readonly (readonly [number, number])[]
  /** The role of the message; null for a title. */
  readonly role: 'user' | 'system' | 'assistant' | null
  /** When it was stored, as an ISO date. */
  readonly at: string
}

/** What `useSearch` returns. */
export interface UsedSearch {
  /** `idle`: there is nothing to search for. */
  readonly status: 'idle' | 'searching' | 'ready' | 'failed'
  /** Newest first. While the next search is in flight, the results of the one before. */
  readonly results: readonly FoundText[]
  /** There is more than the first page. */
  readonly hasMore: boolean
  /** False: the server is still filling its index, and older messages may be missing from the results. */
  readonly isComplete: boolean
}

const nothing: UsedSearch = { status: 'idle', results: [], hasMore: false, isComplete: true }
/** The search waits until the user pauses typing. */
const pauseMs = 150

/**
 * Finds words in the titles and texts of all threads of the user, a moment after the query has changed. All words must
 * occur; the last may be a prefix. A query without a letter or digit sends no request.
 */
export function useSearch(query: string): UsedSearch {
  const { api: options } = useClients()
  const [found, setFound] = useState({ query: '', page: nothing })
  const wanted = /[\p{L}\p{N}]/u.test(query) ? query : ''
  useEffect(() => {
    if (wanted === '') return undefined
    const controller = new AbortController()
    const timer = setTimeout(() => {
      void (async () => {
        const page = await fetchResults(createApi(options), wanted, controller.signal)
        if (!controller.signal.aborted) setFound({ query: wanted, page })
      })()
    }, pauseMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [options, wanted])
  if (wanted === '') return nothing
  return found.query === wanted ? found.page : { ...found.page, status: 'searching' }
}

/** A server of an older version waits until its index is complete, and does not say so. */
type FoundPage = Pick<UsedSearch, 'results' | 'hasMore'> & Partial<Pick<UsedSearch, 'isComplete'>>

async function fetchResults(api: Api, query: string, signal: AbortSignal): Promise<UsedSearch> {
  try {
    const path = `/api/search?q=${encodeURIComponent(query)}`
    const page = await api.get<FoundPage>(path, signal)
    const { results, hasMore, isComplete = true } = page
    return { status: 'ready', results, hasMore, isComplete }
  } catch {
    return { ...nothing, status: 'failed' }
  }
}
