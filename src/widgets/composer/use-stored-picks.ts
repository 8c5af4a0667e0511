import { useState } from 'react'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { readStored, writeStored } from './stored-text.ts'

/**
 * The picks in a thread that were not sent yet; they survive a reload. They apply while the last answer is the one they
 * were picked after: later, the choices of the newer answer apply, whatever device they came from.
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
    // Written by other code, or truncated: ignored.
    return undefined
  }
}
