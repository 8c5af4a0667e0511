import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyOldMessages } from '../../test/support/any-old-messages.ts'
import { parseMessageId } from '../core/ids.ts'
import { isJsonObject } from '../core/json.ts'
import { callsOf, isTurn, type Message, type SteeringPart, type Step } from '../core/message.ts'
import { messagesOf } from '../../test/support/messages-of.ts'
import { randomLedger } from '../testing/random-ledger.ts'
import { projectChatMessage } from '../views/chat-message.ts'
import { certainPrefix } from '../views/certain-prefix.ts'
import { projectEntityRows } from '../views/entity-rows.ts'
import { projectUiMessage } from '../views/ui-message.ts'
import { projectVercelMessage } from '../views/vercel-message.ts'
import type { LegacyFormat } from './old-shapes.ts'
import { parseJsonText } from './old-fields.ts'
import { readLegacyMessages } from './read-legacy-messages.ts'

/** An export is known to be oldest first. */
const exported = { threadId: 'thread', at: 0, isOrdered: true } as const

const seeds = Array.from({ length: 60 }, (_, index) => index + 1)

/** What `holdfast export` writes, `holdfast import` reads: the views before and after are equal. */
function expectSameAgain(
  messages: readonly Message[],
  format: LegacyFormat,
  project: (messages: readonly Message[]) => readonly object[],
): void {
  const shown = project(messages)
  const stored = JSON.parse(JSON.stringify(shown)) as unknown[]
  const reading = readLegacyMessages(stored, { format, ...exported })
  expect(reading.failed).toEqual([])
  expect(project(messagesOf(reading.events))).toEqual(shown)
  expect(readLegacyMessages(stored, { format: 'auto', ...exported })).toEqual(reading)
}

/** Messages that joined the turns, behind some of their steps, as a file and as text that looks like JSON too (IN3). */
function steered(messages: readonly Message[], seed: number): readonly Message[] {
  let count = 0
  return messages.map((message): Message => {
    // A turn that shows nothing has no row by which its person's rows are known to be its.
    if (!isTurn(message) || projectEntityRows(message).length === 0) return message
    const steps = message.steps.map((step, index): Step => {
      const joined = Array.from({ length: (seed + message.seq + index) % 3 }, (_, at) => ({
        ...{ type: 'steering', id: parseMessageId(`steering-${++count}`), at: step.startedAt },
        parts: [
          { type: 'text', text: at === 0 ? `Words ${count}.` : '{"text": 7}' },
          ...(at === 0 ? [] : [{ type: 'file', mediaType: 'image/png', url: 'https://a/b.png' }]),
        ],
      })) as unknown as readonly SteeringPart[]
      return { ...step, parts: [...step.parts, ...joined] }
    })
    return { ...message, steps }
  })
}

describe('what is exported and imported again shows the same', () => {
  it.each(seeds)('[LE7 IN3] with what was said while a turn ran (seed %i)', (seed) => {
    const messages = [...steered(endedMessages(seed).filter(hasLastingArguments), seed), oneMore]
    expectSameAgain(messages, 'commentary', each(projectChatMessage))
    expectSameAgain(messages, 'vercel', each(projectVercelMessage))
    expectSameAgain(messages, 'entities', rowsOf)
    expectSameAgain(
      messages,
      'ui',
      each((message) => projectUiMessage(message, { sdk: 7 })),
    )
    expectSameAgain(
      messages,
      'ui',
      each((message) => projectUiMessage(message, {})),
    )
  })

  it.each(seeds)('[LE1] as chat messages (seed %i)', (seed) => {
    expectSameAgain(endedMessages(seed), 'commentary', each(projectChatMessage))
  })

  it.each(seeds)('[LE1] as AI SDK 4 messages (seed %i)', (seed) => {
    expectSameAgain(endedMessages(seed), 'vercel', each(projectVercelMessage))
  })

  it.each(seeds)('[LE1] as entity rows (seed %i)', (seed) => {
    expectSameAgain(endedMessages(seed), 'entities', rowsOf)
  })

  it.each(seeds)('[LE1] as AI SDK 5 to 7 messages (seed %i)', (seed) => {
    const messages = [...endedMessages(seed).filter(hasLastingArguments), oneMore]
    for (const sdk of [undefined, 5, 6, 7] as const) {
      const options = sdk === undefined ? {} : { sdk }
      expectSameAgain(
        messages,
        'ui',
        each((message) => projectUiMessage(message, options)),
      )
    }
  })

  it('[LE1] as entity rows, in the order that they have, whatever their dates are', () => {
    const written = (id: string, createdAt: number): Message => ({
      ...oneMore,
      id: parseMessageId(id),
      seq: 10 - createdAt,
      createdAt,
    })
    expectSameAgain([written('first', 2), written('second', 1)], 'entities', rowsOf)
  })

  it.each([
    ['ui', each((message) => projectUiMessage(message, { sdk: 7 }))],
    ['vercel', each(projectVercelMessage)],
    ['commentary', each(projectChatMessage)],
    ['entities', rowsOf],
  ] as const)('[LE1] as %s, whatever was imported first', (format, project) => {
    fc.assert(
      fc.property(anyOldMessages(), (old) => {
        const { events } = readLegacyMessages(old, { format: 'auto', threadId: 'thread', at: 0 })
        const messages = [oneLess, ...messagesOf(events), oneMore].filter(isPlain)
        expectSameAgain(messages, format, project)
      }),
      { seed: 4, numRuns: 200 },
    )
  })

  it('and the ledgers hold every end of a call, and steps of every kind', () => {
    const turns = seeds.flatMap((seed) => endedMessages(seed).filter(isTurn))
    const states = new Set(turns.flatMap((turn) => [...callsOf(turn)].map(({ state }) => state)))
    expect([...states].toSorted()).toEqual([
      'denied',
      'failed',
      'interrupted',
      'stopped',
      'succeeded',
      'unknown',
    ])
    const steps = new Set(turns.flatMap((turn) => turn.steps.map(({ status }) => status)))
    expect([...steps].toSorted()).toEqual(['abandoned', 'ended'])
  })
})

/**
 * Broken argument text is shown up to the error. Where that is a number, the text that is read back no longer
 * shows whether more digits were to come, so the number is not shown again.
 */
function hasLastingArguments(message: Message): boolean {
  if (!isTurn(message)) return true
  return [...callsOf(message)].every(({ input }) => {
    const shown = input.kind === 'partial' ? certainPrefix(input.text) : ''
    return certainPrefix(shown) === shown
  })
}

/**
 * A turn with calls and no answer has no note, whether it completed so or was superseded; it is read as
 * superseded. At the end of a thread it is read as it looks.
 */
const oneMore: Message = {
  role: 'user',
  id: parseMessageId('one-more'),
  seq: 1_000_000,
  parts: [{ type: 'text', text: 'Go on.' }],
  createdAt: 0,
}

/** Rows that begin with a user are in order, whatever their dates are. */
const oneLess: Message = { ...oneMore, id: parseMessageId('one-less'), seq: 0 }

/**
 * A message of a person who wrote nothing is not shown, and arguments that are the JSON text of an
 * object are read as that object, since many an app has written them so.
 */
function isPlain(message: Message): boolean {
  if (!isTurn(message)) return message.parts.length > 0
  return [...callsOf(message)].every(
    ({ input }) =>
      input.kind === 'partial' ||
      typeof input.value !== 'string' ||
      !isJsonObject(parseJsonText(input.value)),
  )
}

const rowsOf = (messages: readonly Message[]) =>
  messages.flatMap((message) => projectEntityRows(message))

const each =
  <Shown>(project: (message: Message) => Shown | null) =>
  (messages: readonly Message[]): readonly Shown[] =>
    messages.flatMap((message) => project(message) ?? [])

/** Where a turn was continued is for clients that followed it: an export leaves it out. */
function endedMessages(seed: number): readonly Message[] {
  return messagesOf(randomLedger(seed)).flatMap((message): readonly Message[] => {
    if (!isTurn(message)) return [message]
    const { continuedAfter: _, ...turn } = message
    return turn.progress.status === 'ended' ? [turn] : []
  })
}
