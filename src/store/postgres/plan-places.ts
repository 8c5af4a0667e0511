import { isTurnEvent, type NewEvent } from '../../core/event.ts'
import type { MessageId } from '../../core/ids.ts'

/** What an append does to the places of messages, in the order of its facts. Counted from 1. */
export interface PlacesPlan {
  /** Whether a message of the id must be shown before; `never`: the append contradicts itself. */
  readonly shown: readonly {
    readonly id: MessageId
    readonly wanted: boolean
    readonly never?: true
  }[]
  /** Messages that were there before. */
  readonly retired: readonly { readonly id: MessageId; readonly place: number }[]
  /** Messages that are added and retired here: from the one place to the other. */
  readonly retiredAt: ReadonlyMap<number, number>
}

/** A message is often retired to make way for another of the same id. */
export function planPlaces(events: readonly NewEvent[]): PlacesPlan {
  const shown: PlacesPlan['shown'][number][] = []
  const retired: PlacesPlan['retired'][number][] = []
  const retiredAt = new Map<number, number>()
  /** By id: where it was added here; null once it is retired. */
  const known = new Map<MessageId, number | null>()

  const want = (id: MessageId, wanted: boolean) => {
    const before = known.get(id)
    if (before === undefined) shown.push({ id, wanted })
    else if ((before !== null) !== wanted) shown.push({ id, wanted, never: true })
  }
  for (const [offset, event] of events.entries()) {
    const place = offset + 1
    if (event.type === 'messages-retired') {
      if (event.from !== undefined) continue
      for (const id of event.messageIds) {
        want(id, true)
        const addedAt = known.get(id)
        if (addedAt == null) retired.push({ id, place })
        else retiredAt.set(addedAt, place)
        known.set(id, null)
      }
    } else if (event.type === 'message-added' || event.type === 'turn-started') {
      const id = isTurnEvent(event) ? event.turnId : event.messageId
      want(id, false)
      known.set(id, place)
    }
  }
  return { shown, retired, retiredAt }
}
