import { useState } from 'react'
import { readStored, writeStored } from './stored-text.ts'

/** What is being written outlives a reload, for each thread by itself. */
export function useDraftText(threadId: string): readonly [string, (text: string) => void] {
  const key = `holdfast:draft:${threadId}`
  const [text, setText] = useState(() => readStored(key))
  const change = (next: string) => {
    setText(next)
    writeStored(key, next)
  }
  return [text, change]
}
