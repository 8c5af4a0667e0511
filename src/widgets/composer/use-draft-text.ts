import { useState } from 'react'
import { readStored, writeStored } from './stored-text.ts'

/** The draft survives a reload, separately for each thread. */
export function useDraftText(threadId: string): readonly [string, (text: string) => void] {
  const key = `holdfast:draft:${threadId}`
  const [draft, setDraft] = useState(() => ({ key, text: readStored(key) }))
  // A composer may switch threads: a draft stays with the thread that it was written for.
  const text = draft.key === key ? draft.text : readStored(key)
  const change = (next: string) => {
    setDraft({ key, text: next })
    writeStored(key, next)
  }
  return [text, change]
}
