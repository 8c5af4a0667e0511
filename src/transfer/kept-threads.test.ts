import { expect, it } from 'vitest'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import { memory } from '../store/memory/index.ts'
import type { Store } from '../store/store.ts'
import { appendEvents } from '../testing/store-rules/append-events.ts'
import { exportFormats, exportQuery } from './export-threads.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'

const ownerId = parseOwnerId('ana')
const now = () => 1_700_000_000_000

async function* pieces(text: string): AsyncGenerator<string> {
  yield text
}
const load = (store: Store, text: string) =>
  importThreads(store, readImport(pieces(text)), { ownerId, now })
const exported = async (store: Store) =>
  (await Array.fromAsync(exportQuery(store, { ownerId: 'ana' }))).join('')
const flagsOf = async (store: Store, ...ids: readonly string[]) =>
  Promise.all(
    ids.map(async (id) => {
      const thread = await store.readThread(parseThreadId(id))
      return [thread?.pinned, thread?.archived]
    }),
  )

const messages = [
  { id: 'u', role: 'user', content: 'Hello' },
  { id: 'a', role: 'assistant', content: 'Good day.' },
]
const source = JSON.stringify({
  threads: [
    { id: 'plain', messages },
    {
      id: 'pinned',
      pinned: true,
      messages: messages.map(({ id, ...rest }) => ({ id: `${id}p`, ...rest })),
    },
    {
      id: 'away',
      archived: true,
      messages: messages.map(({ id, ...rest }) => ({ id: `${id}w`, ...rest })),
    },
    { id: 'odd', archived: 'yes', pinned: 1, messages: [] },
  ],
})

it('[FK2] flags are exported, the archive too, and an import that makes a thread takes them', async () => {
  const store = memory()
  await load(store, source)
  const flags = [
    [false, false],
    [true, false],
    [false, true],
    [false, false],
  ]
  expect(await flagsOf(store, 'plain', 'pinned', 'away', 'odd')).toEqual(flags)
  const text = await exported(store)
  const other = memory()
  await load(other, text)
  expect(await flagsOf(other, 'plain', 'pinned', 'away', 'odd')).toEqual(flags)
})

it('[FK2] an import into a thread that was there leaves it as its owner left it', async () => {
  const store = memory()
  await load(store, source)
  const threadId = parseThreadId('away')
  const taken = { type: 'thread-flagged', archived: false, at: 1 } as const
  await appendEvents(store, { threadId, events: [taken] })
  const before = await store.readThread(threadId)
  await load(store, source)
  expect(await store.readThread(threadId)).toEqual(before)
})

it.each(exportFormats)(
  '[IN5] what waits is in an export as %s, and comes back held, once',
  async (format) => {
    const store = memory()
    await load(store, JSON.stringify({ threads: [{ id: 'plain', messages }] }))
    const threadId = parseThreadId('plain')
    const thread = await store.readThread(threadId)
    const first = { type: 'text', text: 'First' } as const
    const file = { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' } as const
    const inputs = [
      { id: 'w1', mode: 'queue', parts: [first], metadata: { from: 'phone' } },
      { id: 'w2', mode: 'queue', parts: [file] },
    ] as const
    await appendEvents(store, {
      threadId,
      events: [
        ...inputs.map((input) => ({ type: 'input-queued', input, at: 5 }) as const),
        { type: 'queue-held', at: 6 },
      ],
      expectedSeq: thread?.seq ?? 0,
      queue: [],
    })
    const query = { ownerId: 'ana', format } as const
    const text = (await Array.fromAsync(exportQuery(store, query))).join('')
    const other = memory()
    expect(await load(other, text)).toMatchObject({ messages: 4, skipped: 0, failed: [] })
    const held = inputs.map((input) => ({ ...input, held: true, at: 5 }))
    expect((await other.readThread(threadId))?.queue).toEqual(held)
    const tried = await importThreads(other, readImport(pieces(text)), {
      ...{ ownerId, now, dryRun: { scratch: memory() } },
    })
    expect(tried).toMatchObject({ messages: 4, skipped: 4, failed: [] })
    for (const again of [other, store]) {
      expect(await load(again, text)).toMatchObject({ messages: 4, skipped: 4, failed: [] })
      expect((await again.readThread(threadId))?.queue).toEqual(held)
    }
  },
)

it('[IN6] of what waits, an import brings as much as may wait, and says what it left', async () => {
  const store = memory()
  const queuedMessages = Array.from({ length: 52 }, (_, index) => ({
    ...{ id: `w${index}`, mode: 'steer', held: false, at: '2024-01-01T00:00:00Z' },
    parts: [{ type: 'text', text: `${index}` }],
  }))
  const bad = [{ id: '..', mode: 'queue', parts: [] }, 'words']
  const thread = { id: 'plain', messages, queuedMessages: [...bad, ...queuedMessages] }
  const report = await load(store, JSON.stringify({ threads: [thread] }))
  expect(report.messages).toBe(52)
  expect(report.failed.map(({ why }) => why)).toEqual([
    'It is not a message that waits.',
    'It is not a message that waits.',
    'No more messages can wait in this thread.',
    'No more messages can wait in this thread.',
  ])
  const queue = (await store.readThread(parseThreadId('plain')))?.queue ?? []
  expect([queue.length, queue.every(({ held, mode }) => held && mode === 'queue')]).toEqual([
    50,
    true,
  ])
})
