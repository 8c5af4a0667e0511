import { describe, expect, it } from 'vitest'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import { isTurn, type Message } from '../core/message.ts'
import { memory } from '../store/memory/index.ts'
import type { Store } from '../store/store.ts'
import { messagesOf } from '../../test/support/messages-of.ts'
import { randomLedger } from '../testing/random-ledger.ts'
import { createRandom } from '../testing/random.ts'
import { projectChatMessage } from '../views/chat-message.ts'
import { projectEntityRows } from '../views/entity-rows.ts'
import { projectUiMessage } from '../views/ui-message.ts'
import { projectVercelMessage } from '../views/vercel-message.ts'
import { exportThread } from './export-threads.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'

const seeds = Array.from({ length: 6 }, (_, index) => index + 1)

type Item = Readonly<Record<string, unknown>>

/** The response of a list route for a thread, oldest first, with a date on each entry. */
const formats: Readonly<Record<string, (message: Message) => readonly object[]>> = {
  ui: (message) => {
    const shown = projectUiMessage(message, { sdk: 7 })
    return shown === null
      ? []
      : [{ ...shown, createdAt: new Date(message.createdAt).toISOString() }]
  },
  vercel: (message) => [projectVercelMessage(message)].filter((shown) => shown !== null),
  chat: (message) => [projectChatMessage(message)].filter((shown) => shown !== null),
  entities: (message) => projectEntityRows(message),
  // From another system: no field groups the rows of a turn, and `validated` is a boolean.
  'rows of others': (message) =>
    projectEntityRows(message).map(({ messageId: _, toolCalls, ...row }) => ({
      ...row,
      toolCalls: toolCalls.map(({ validated, ...call }) => ({
        ...call,
        validated: { accepted: true, rejected: false, pending: null, not_required: null }[
          validated
        ],
      })),
    })),
}

async function* textOf(document: unknown): AsyncGenerator<string> {
  yield JSON.stringify(document)
}
const load = (store: Store, document: unknown) =>
  importThreads(store, readImport(textOf(document)), {
    ownerId: parseOwnerId('local'),
    threadId: 't',
    now: () => 1_700_000_000_000,
  })

/** What people see: the texts, and the outcome of every call. */
async function shownOf(store: Store): Promise<readonly object[]> {
  const messages = (await Array.fromAsync(
    exportThread(store, parseThreadId('t'), 'chat'),
  )) as unknown as readonly (Item & { readonly toolCalls: readonly Item[] })[]
  return messages.map(({ role, content, toolCalls }) => ({
    role,
    content,
    toolCalls: toolCalls.map(({ name, args, state, result, error, commentary }) => ({
      ...{ name, args, state, result, error, commentary },
    })),
  }))
}

/** Growing dates, as in a table. */
function withDates(items: readonly Item[], stepMs: number): readonly Item[] {
  return items.map((item, index) => {
    const date = new Date(1_700_000_000_000 + Math.floor(index * stepMs)).toISOString()
    return 'creationDate' in item ? { ...item, creationDate: date } : { ...item, createdAt: date }
  })
}

function threadOf(seed: number, format: string): readonly Item[] {
  const messages = messagesOf(randomLedger(seed)).filter(
    (message) => !isTurn(message) || message.progress.status === 'ended',
  )
  const items = messages.flatMap((message) => formats[format]!(message)) as readonly Item[]
  return withDates(JSON.parse(JSON.stringify(items)) as readonly Item[], 1_000)
}

function cut(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}

function shuffle<Value>(values: readonly Value[], seed: number): readonly Value[] {
  const random = createRandom(seed)
  return values
    .map((value) => [random.int(1_000_000), value] as const)
    .toSorted(([left], [right]) => left - right)
    .map(([, value]) => value)
}

const toEnvelope = (results: readonly Item[], hasMore: boolean) => ({
  next_cursor: hasMore ? 'c' : null,
  has_more: hasMore,
  page_size: results.length,
  results,
})

describe.each(Object.keys(formats))('pages of %s', (format) => {
  const wholeOf = async (items: readonly Item[]) => {
    const store = memory()
    await load(store, { order: 'oldest-first', messages: items })
    return shownOf(store)
  }

  it.each(seeds)(
    '[LE5 LE8] in any order, in one import or in several, are the thread (seed %i)',
    async (seed) => {
      const items = threadOf(seed, format)
      const whole = await wholeOf(items)
      const newest = items.toReversed()
      for (const size of seed % 2 === 0 ? [1, 5] : [2, 7]) {
        const orders = {
          'newest page first': cut(newest, size),
          'oldest page first': cut(newest, size).toReversed(),
          'newest page first, each oldest first': cut(items, size).toReversed(),
          'oldest first': cut(items, size),
          // For these, the turns follow only from the messages between them.
          ...(format === 'rows of others' ? {} : { shuffled: shuffle(cut(newest, size), seed) }),
        }
        for (const [name, pages] of Object.entries(orders)) {
          const envelopes = pages.map((page, index) => toEnvelope(page, index < pages.length - 1))
          const once = memory()
          await load(once, envelopes)
          expect({ size, name, shown: await shownOf(once) }).toEqual({ size, name, shown: whole })
          const several = memory()
          for (const envelope of envelopes) await load(several, envelope)
          expect({ size, name, shown: await shownOf(several) }).toEqual({
            size,
            name,
            shown: whole,
          })
          for (const envelope of envelopes) {
            const again = await load(several, envelope)
            expect({ size, name, updated: again.updated, failed: again.failed }).toEqual({
              size,
              name,
              updated: 0,
              failed: [],
            })
          }
          expect({ size, name, shown: await shownOf(several) }).toEqual({
            size,
            name,
            shown: whole,
          })
        }
      }
    },
  )
})
