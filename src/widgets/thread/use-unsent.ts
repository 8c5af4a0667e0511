import { useEffect, useRef } from 'react'
import type { PendingMessage, ThreadClient, ThreadSnapshot } from '../../client/thread-snapshot.ts'
import { readStored, writeStored } from '../composer/stored-text.ts'

/**
 * What could not be sent, or was on its way, outlives a reload under its id: it is stored once, whatever
 * happened. It is put back only once the thread is known, because then it is known whether it arrived.
 */
export function useUnsent(
  threadId: string,
  client: ThreadClient,
  { pending, status }: Pick<ThreadSnapshot, 'pending' | 'status'>,
): void {
  const key = `holdfast:unsent:${threadId}`
  const restored = useRef<string | null>(null)
  useEffect(() => {
    if (restored.current === key) {
      writeStored(key, pending.length === 0 ? '' : JSON.stringify(pending))
      return
    }
    if (status === 'loading') return
    restored.current = key
    client.restore(parseUnsent(readStored(key)).map((message) => ({ ...message, state: 'failed' })))
  }, [client, key, pending, status])
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
