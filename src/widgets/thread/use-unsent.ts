import { useEffect, useRef } from 'react'
import type { PendingMessage, ThreadClient, ThreadSnapshot } from '../../client/thread-snapshot.ts'
import { readStored, writeStored } from '../composer/stored-text.ts'

/**
 * Messages that could not be sent, or were in flight, survive a reload under their ids: each is stored once, whatever
 * happened. They are restored only after the thread is loaded, because only then is it known whether they arrived.
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
    // Other code wrote to this key.
    return []
  }
}
