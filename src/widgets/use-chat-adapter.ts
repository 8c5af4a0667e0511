import { useMemo } from 'react'
import type { Change } from '../core/fold-thread.ts'
import { foldThread } from '../core/fold-thread.ts'
import type { NewEvent } from '../core/event.ts'
import { isTurn, type Turn } from '../core/message.ts'
import { readLegacyMessages } from '../views/legacy/read-legacy-messages.ts'

/** As much of an AI SDK `UIMessage` as is read; what its parts hold is looked at with care. */
export interface ChatMessageLike {
  readonly id: string
  readonly role: string
  readonly parts: readonly unknown[]
}

/**
 * A message of `useChat` as the turn that the widgets draw, for those who keep their own messages. It
 * is read into facts and folded like everything else. `isLive`: `useChat` is still receiving it.
 */
export function toTurn(message: ChatMessageLike, isLive: boolean): Turn | null {
  if (message.role !== 'assistant') return null
  const { events } = readLegacyMessages([message], { format: 'ui', threadId: 'chat', at: 0 })
  const changes = (isLive ? withoutEnd(events) : events).map((event, index): Change => ({
    kind: 'event',
    seq: index + 1,
    event: { ...event, seq: index + 1 },
  }))
  return foldThread({ seq: 0, messages: [] }, changes).messages.find(isTurn) ?? null
}

/** What reading closes because old data is over, is still open here. */
function withoutEnd(events: readonly NewEvent[]): readonly NewEvent[] {
  const lastStep = events.findLastIndex(({ type }) => type === 'step-ended')
  return events.filter(
    (event, index) =>
      event.type !== 'turn-ended' &&
      index !== lastStep &&
      !(event.type === 'call-settled' && event.outcome.state === 'interrupted'),
  )
}

/** The turn of a message, kept as long as the message is the same. */
export const useChatTurn = (message: ChatMessageLike, isLive: boolean): Turn | null =>
  useMemo(() => toTurn(message, isLive), [message, isLive])
