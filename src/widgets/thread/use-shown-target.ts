import { useEffect, useRef } from 'react'
import type { ThreadClient, ThreadSnapshot } from '../../client/thread-snapshot.ts'
import { isTarget } from '../message-list/thread-rows.ts'

/**
 * A deep link may name a version that is hidden: it is then shown, once. A target that is neither a version nor a
 * message (a call in an older message) is left to the list, which loads older messages until it is found.
 */
export function useShownTarget(
  client: ThreadClient,
  { status, messages }: Pick<ThreadSnapshot, 'status' | 'messages'>,
  target: string | undefined,
): void {
  const requested = useRef<string | undefined>(undefined)
  const isMissing =
    target !== undefined &&
    status === 'ready' &&
    messages.length > 0 &&
    !messages.some((message) => isTarget(message, target))
  useEffect(() => {
    if (!isMissing || requested.current === target) return
    requested.current = target
    // There is no such message, or an answer is being produced: the thread is shown as it is.
    client.show(target).catch(() => undefined)
  }, [client, isMissing, target])
}
