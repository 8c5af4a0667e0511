import { useState } from 'react'
import { readStored, writeStored } from './stored-text.ts'

/** What is being written outlives a reload, for each thread by itself. */
export function useDraftText(threadId: string): readonly [string, (text: string) => void] {
  const key = `holdfast:draft:${threadId}`
  const [draft, setDraft] = useState(() => ({ key, text: readStored(key) }))
  // A composer may be given another thread: what was written stays with the one that it was written for.
  const text = draft.key === key ? draft.text : readStored(key)
  const change = (next: string) => {
    setDraft({ key, text: next })
    writeStored(key, next)
  }
  return [text, change]
}
