import { useState } from 'react'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { readStored, writeStored } from './stored-text.ts'

/**
 * What was picked in a thread and not sent yet, over a reload. It counts as long as the last answer is the one that it was picked
 * after: later, what was chosen for that answer does, on whatever device that was.
 */
export function useStoredPicks(
  threadId: string,
  after: string,
): readonly [JsonObject | undefined, (picks: JsonObject) => void] {
  const key = `holdfast:choices:${threadId}`
  const [held, setHeld] = useState(() => ({ key, text: readStored(key) }))
  const text = held.key === key ? held.text : readStored(key)
  const change = (picks: JsonObject) => {
    const next = JSON.stringify({ after, picks })
    setHeld({ key, text: next })
    writeStored(key, next)
  }
  return [parsePicks(text, after), change]
}

function parsePicks(text: string, after: string): JsonObject | undefined {
  if (text === '') return undefined
  try {
    const stored: unknown = JSON.parse(text)
    if (!isJsonObject(stored) || stored['after'] !== after) return undefined
    return isJsonObject(stored['picks']) ? stored['picks'] : undefined
  } catch {
    // Somebody else's, or cut off: as good as nothing.
    return undefined
  }
}
