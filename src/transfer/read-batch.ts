import { isTurnEvent, type NewEvent } from '../core/event.ts'
import type { MessageId, ThreadId } from '../core/ids.ts'
import type { LegacyFormat } from '../import/detect-format.ts'
import type { IsTaken } from '../import/import-ids.ts'
import { readLegacyMessages } from '../import/read-legacy-messages.ts'
import type { Failed, Mended } from '../import/report.ts'

/** Some messages of one thread that stand together. */
export interface Batch {
  readonly threadId: ThreadId
  readonly format: LegacyFormat | 'auto'
  /** The date of what has none. */
  readonly at: number
  /** How many messages of the thread came before. */
  readonly offset: number
  readonly messages: readonly PlacedValue[]
  /** A message of the user comes next. */
  readonly isFollowed: boolean
  /** The last message of the user before these. */
  readonly replyTo: MessageId | null
  readonly isTaken: IsTaken
}
export interface PlacedValue {
  readonly where: string
  readonly value: unknown
}

export interface ReadBatch {
  readonly units: readonly Unit[]
  readonly calls: number
  readonly mended: readonly Mended[]
  readonly failed: readonly Failed[]
}
/** The facts of one message or turn, which are stored together or not at all. */
export interface Unit {
  readonly id: MessageId
  readonly isTurn: boolean
  readonly events: readonly NewEvent[]
}

export function readBatch(batch: Batch): ReadBatch {
  const { threadId, format, at, offset, isTaken } = batch
  const values = batch.messages.map(({ value }) => value)
  // Ids are derived from the place in the list; a later list of the same thread must derive others.
  const name = offset === 0 ? threadId : `${threadId}\n${offset}`
  const reading = readLegacyMessages(batch.isFollowed ? [...values, follower(format)] : values, {
    format,
    threadId: name,
    at,
    isTaken,
  })
  const units = toUnits(reading.events, batch.replyTo)
  const isOurs = ({ where }: { readonly where: string }) => indexOf(where) < values.length
  const place = <Said extends { readonly where: string }>(said: Said): Said => ({
    ...said,
    where: batch.messages[indexOf(said.where)]?.where ?? said.where,
  })
  return {
    units: batch.isFollowed ? units.slice(0, -1) : units,
    calls: reading.counts.calls,
    mended: reading.mended.filter(isOurs).map(place),
    failed: reading.failed.filter(isOurs).map(place),
  }
}

/** Stands for the message that follows, which is read with its own batch. */
const follower = (format: Batch['format']): object =>
  format === 'entities'
    ? { entity: 'USER', content: '', isComplete: true, toolCalls: [] }
    : { role: 'user', content: '' }

const indexOf = (where: string): number => Number(/^messages\[(\d+)\]/.exec(where)?.[1] ?? 0)

function toUnits(events: readonly NewEvent[], replyTo: MessageId | null): readonly Unit[] {
  const units: { id: MessageId; isTurn: boolean; events: NewEvent[] }[] = []
  let lastUser = replyTo
  for (const event of events) {
    if (event.type === 'message-added') {
      if (event.role === 'user') lastUser = event.messageId
      units.push({ id: event.messageId, isTurn: false, events: [event] })
    } else if (event.type === 'turn-started') {
      const started = { ...event, replyTo: event.replyTo ?? lastUser }
      units.push({ id: event.turnId, isTurn: true, events: [started] })
    } else if (isTurnEvent(event)) {
      units.at(-1)?.events.push(event)
    }
  }
  return units
}
