import { useEffect, useRef } from 'react'
import type { PendingMessage, ThreadClient } from '../../client/thread-client.ts'
import { readStored, writeStored } from '../composer/stored-text.ts'

/** What could not be sent outlives a reload under its id, so that it is stored once, whatever happened. */
export function useUnsent(
  threadId: string,
  client: ThreadClient,
  pending: readonly PendingMessage[],
): void {
  const key = `holdfast:unsent:${threadId}`
  const restored = useRef<string | null>(null)
  useEffect(() => {
    if (restored.current === key) {
      const failed = pending.filter(({ state }) => state === 'failed')
      writeStored(key, failed.length === 0 ? '' : JSON.stringify(failed))
      return
    }
    restored.current = key
    client.restore(parseUnsent(readStored(key)))
  }, [client, key, pending])
}

function parseUnsent(text: string): readonly PendingMessage[] {
  if (text === '') return []
  try {
    return JSON.parse(text) as readonly PendingMessage[]
  } catch {
    // Somebody else wrote there.
    return []
  }
}
