import { expect, it } from 'vitest'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import { memory } from '../store/memory/index.ts'
import type { Store } from '../store/store.ts'
import { appendEvents } from '../testing/store-rules/append-events.ts'
import { exportQuery } from './export-threads.ts'
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
