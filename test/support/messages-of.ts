import type { LedgerEvent, NewEvent } from '../../src/core/event.ts'
import { type Change, foldThread } from '../../src/core/fold-thread.ts'
import type { Message } from '../../src/core/message.ts'

/** The messages of a thread whose only events are these, oldest first. */
export function messagesOf(events: readonly NewEvent[]): readonly Message[] {
  const changes = events.map((event, index): Change => {
    const seq = index + 1
    return { kind: 'event', seq, event: { ...event, seq } as LedgerEvent }
  })
  return foldThread({ seq: 0, messages: [] }, changes).messages
}
