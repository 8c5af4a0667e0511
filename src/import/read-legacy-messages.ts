import type { NewEvent } from '../core/event.ts'
import type { MessageId } from '../core/ids.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import type { LegacyFormat } from './detect-format.ts'
import { createIdKeeper, type IsTaken } from './import-ids.ts'
import type { OldMessage } from './old-message.ts'
import { toKnownNames } from './old-names.ts'
import { readMessages } from './read-messages.ts'
import { createReport, type Failed, type Mended } from './report.ts'
import { toJson } from './to-json.ts'
import { toTurnEvents } from './turn-events.ts'

export interface LegacyOptions {
  readonly format: LegacyFormat | 'auto'
  readonly threadId: string
  /** The date of what has none. */
  readonly at: number
  /** Ids that something else has already; those are not kept. */
  readonly isTaken?: IsTaken
}

export interface LegacyReading {
  readonly events: readonly NewEvent[]
  readonly mended: readonly Mended[]
  readonly failed: readonly Failed[]
  readonly counts: { readonly messages: number; readonly calls: number }
}

/**
 * The messages of one old thread as facts of today, in their order. Never throws: what cannot be
 * read is named in `failed`, and everything else is kept. The same data gives the same facts.
 */
export function readLegacyMessages(
  messages: readonly unknown[],
  options: LegacyOptions,
): LegacyReading {
  const report = createReport()
  const values = messages.map((message, index): Json => {
    const cut = () => report.mend(index, 'It is nested too deep: a part was cut off.')
    const value = toJson(message, cut) ?? null
    return isJsonObject(value) ? toKnownNames(value) : value
  })
  const placed = readMessages(values, options.format, options.at, report)
  const ids = createIdKeeper(options.threadId, options.isTaken)
  const lastUser = placed.findLastIndex(({ message }) => isUser(message))
  const events: NewEvent[] = []
  let calls = 0
  let replyTo: MessageId | null = null
  for (const [place, { index, message }] of placed.entries()) {
    const mend = (what: string) => report.mend(index, what)
    const id = ids.message(message.id, index, mend)
    const at = message.at ?? options.at
    if (message.kind === 'turn') {
      let callPlace = 0
      const nextCallId = (old: string | undefined) => ids.call(old, id, callPlace++, mend)
      const isFollowedByUser = place < lastUser
      const turn = { turnId: id, replyTo, at, isFollowedByUser, nextCallId, mend }
      for (const event of toTurnEvents(message, turn)) events.push(event)
      calls += callPlace
      continue
    }
    const { role, parts, metadata } = message
    const added = { type: 'message-added', messageId: id, role, parts, at } as const
    events.push(withDefined(added, { metadata }))
    if (isUser(message)) replyTo = id
  }
  const { mended, failed } = report
  return { events, mended, failed, counts: { messages: placed.length, calls } }
}

const isUser = (message: OldMessage): boolean => message.kind === 'user' && message.role === 'user'
