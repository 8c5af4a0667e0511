import { describe, expect, it } from 'vitest'
import type { LedgerEvent, NewEvent } from '../../core/event.ts'
import { foldThread } from '../../core/fold-thread.ts'
import { parseMessageId } from '../../core/ids.ts'
import { isTurn, type Message } from '../../core/message.ts'
import { randomLedger } from '../../testing/random-ledger.ts'
import { projectChatMessage } from '../chat-message.ts'
import { answerOf } from '../commentary.ts'
import { projectEntityRows } from '../entity-rows.ts'
import { projectUiMessage } from '../ui-message.ts'
import { projectVercelMessage } from '../vercel-message.ts'
import type { LegacyFormat } from './detect-format.ts'
import { readLegacyMessages } from './read-legacy-messages.ts'

const seeds = Array.from({ length: 100 }, (_, index) => index + 1)

/** What `holdfast export` writes, `holdfast import` reads: the view of what was read is the view. */
function readBack<Shown>(
  seed: number,
  format: LegacyFormat,
  project: (messages: readonly Message[]) => readonly Shown[],
  messages = endedMessages(seed),
): {
  readonly shown: readonly Shown[]
  readonly again: readonly Shown[]
  readonly failed: unknown
} {
  const shown = project(messages)
  const stored = JSON.parse(JSON.stringify(shown)) as unknown[]
  const reading = readLegacyMessages(stored, { format, threadId: 'thread', at: 0 })
  return { shown, again: project(messagesOf(reading.events)), failed: reading.failed }
}

describe('what is exported and imported again shows the same', () => {
  it.each(seeds)('[LE1] as chat messages (seed %i)', (seed) => {
    const { shown, again, failed } = readBack(seed, 'commentary', each(projectChatMessage))
    expect(failed).toEqual([])
    expect(again).toEqual(shown)
  })

  it.each(seeds)('[LE1] as AI SDK 4 messages (seed %i)', (seed) => {
    const { shown, again, failed } = readBack(seed, 'vercel', each(projectVercelMessage))
    expect(failed).toEqual([])
    expect(again).toEqual(shown)
  })

  it.each(seeds)('[LE1] as entity rows (seed %i)', (seed) => {
    const { shown, again, failed } = readBack(seed, 'entities', (messages) =>
      messages.flatMap((message) => projectEntityRows(message)),
    )
    expect(failed).toEqual([])
    expect(again).toEqual(shown)
  })

  it.each(seeds)('[LE1] as AI SDK 5 to 7 messages (seed %i)', (seed) => {
    for (const sdk of [5, 6, 7] as const) {
      const project = each((message) => projectUiMessage(message, { sdk }))
      const { shown, again, failed } = readBack(seed, 'ui', project, [
        ...endedMessages(seed),
        oneMore,
      ])
      expect(failed).toEqual([])
      expect(again).toEqual(shown)
    }
  })
})

const oneMore: Message = {
  role: 'user',
  id: parseMessageId('one-more'),
  seq: 1_000_000,
  parts: [{ type: 'text', text: 'Go on.' }],
  createdAt: 0,
}

const each =
  <Shown>(project: (message: Message) => Shown | null) =>
  (messages: readonly Message[]): readonly Shown[] =>
    messages.flatMap((message) => project(message) ?? [])

function messagesOf(events: readonly NewEvent[]): readonly Message[] {
  const changes = events.map((event, offset) => {
    const seq = offset + 1
    return { kind: 'event', seq, event: { ...event, seq } as LedgerEvent } as const
  })
  return foldThread({ seq: 0, messages: [] }, changes).messages
}

function endedMessages(seed: number): readonly Message[] {
  return messagesOf(randomLedger(seed)).filter(
    (message) => !isTurn(message) || message.progress.status === 'ended',
  )
}
void answerOf
