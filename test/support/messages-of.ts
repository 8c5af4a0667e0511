import { type NewEvent, numberEvents } from '../../src/core/event.ts'
import { type Change, foldThread } from '../../src/core/fold-thread.ts'
import type { Message } from '../../src/core/message.ts'

/** The messages of a thread whose only events are these, oldest first. */
export function messagesOf(events: readonly NewEvent[]): readonly Message[] {
  const changes = numberEvents(events, 1).map((event): Change => {
    return { kind: 'event', seq: event.seq, event }
  })
  return foldThread({ seq: 0, messages: [] }, changes).messages
}
