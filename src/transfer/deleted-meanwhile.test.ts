import { expect, it } from 'vitest'
import type { NewEvent } from '../core/event.ts'
import { parseMessageId, parseOwnerId, parseThreadId } from '../core/ids.ts'
import { memory } from '../store/memory/index.ts'
import type { Store } from '../store/store.ts'
import { appendEvents } from '../testing/store-rules/append-events.ts'
import { exportThread } from './export-threads.ts'
import { importThreads } from './import-threads.ts'
import { isOpenPage } from './import-writer.ts'
import { readImport } from './read-import.ts'

const thread = parseThreadId('t')
const ownerId = parseOwnerId('local')
const isDeleted = 'The thread was deleted during the import.'
const isTaken = 'The thread was created by somebody else during the import. Import it again.'
const isBusy = 'A turn of this thread is running or waiting. Import it when the turn has ended.'

async function* textOf(document: unknown): AsyncGenerator<string> {
  yield JSON.stringify(document)
}
const load = async (store: Store, count: number) => {
  const messages = Array.from({ length: count }, (_, index) => ({
    ...{ id: `old-${index + 1}`, role: 'user', content: `${index + 1}` },
  }))
  const report = await importThreads(store, readImport(textOf({ id: 't', messages })), { ownerId })
  return report.failed.map(({ why }) => why)
}
const idsIn = async (store: Store): Promise<readonly string[]> => {
  const query = { threadId: thread, limit: 1_000, before: null } as const
  const page = await store.readPage({ ...query, live: 'include', results: 'none' })
  return page?.messages.map(({ id }) => id).toReversed() ?? []
}
const create = async (store: Store) => {
  await store.createThread({ id: thread, ownerId, title: '', at: 1 })
  const added = { type: 'message-added', role: 'user', parts: [], at: 1 } as const
  await appendEvents(store, {
    threadId: thread,
    events: [1, 2, 3].map((id) => ({ ...added, messageId: parseMessageId(`new-${id}`) })),
  })
}
const created = ['new-1', 'new-2', 'new-3']

/** Something happens before a commit of the import. */
function beforeCommits(actions: readonly ((store: Store) => Promise<unknown>)[]): Store {
  const store = memory()
  let count = 0
  return {
    ...store,
    async commit(commits) {
      await actions[count++]?.(store)
      return store.commit(commits)
    },
  }
}
const nothing = async () => {}
const remove = (store: Store) => store.deleteThread(thread)
const makeAnew = async (store: Store) => {
  await remove(store)
  await create(store)
}

it('[LE5 OP6] a thread that somebody else creates during an import gets nothing of it', async () => {
  const store = beforeCommits([create])
  expect(await load(store, 4)).toEqual([isTaken, isTaken, isTaken, isTaken])
  expect(await idsIn(store)).toEqual(created)
  expect(await load(store, 4)).toEqual([])
})

it('[LE5 OP6] nor does one without messages', async () => {
  const store = beforeCommits([create])
  expect(await load(store, 0)).toEqual([isTaken])
  expect(await idsIn(store)).toEqual(created)
})

it('[LE5 OP6] a thread that is deleted and created again gets nothing of the rest of a long one', async () => {
  const store = beforeCommits([nothing, makeAnew])
  const failed = await load(store, 250)
  expect(new Set(failed)).toEqual(new Set([isDeleted]))
  expect(await idsIn(store)).toEqual(created)
})

it('[LE5 OP6] nor what a second import would add', async () => {
  const store = beforeCommits([nothing, makeAnew])
  expect(await load(store, 2)).toEqual([])
  expect(await load(store, 4)).toEqual([isDeleted, isDeleted])
  expect(await idsIn(store)).toEqual(created)
})

it('[LE5 AP8] what follows a message that a running turn has kept out is not stored either', async () => {
  const turnId = parseMessageId('turn')
  const append = (store: Store, event: NewEvent) =>
    appendEvents(store, { threadId: thread, events: [event] })
  const begin = (store: Store) =>
    append(store, { type: 'turn-started', turnId, at: 1, replyTo: null })
  const inner = beforeCommits([nothing, begin])
  let isOpen = true
  const store: Store = {
    ...inner,
    async readPage(query) {
      const page = await inner.readPage(query)
      // The turn ends as soon as the import has seen it.
      if (isOpen && page != null && isOpenPage(page)) {
        isOpen = false
        await append(inner, { type: 'turn-ended', turnId, at: 2, ending: { kind: 'completed' } })
      }
      return page
    },
  }
  const failed = await load(store, 250)
  expect(new Set(failed)).toEqual(new Set([isBusy]))
  const ids = await idsIn(store)
  expect([ids.slice(0, 2), ids.at(-1)]).toEqual([['old-1', 'old-2'], 'turn'])
  expect(failed).toHaveLength(250 - ids.length + 1)
})

it('[OP6] an export has nothing of a thread that was created under the id of a deleted one meanwhile', async () => {
  const inner = memory()
  await load(inner, 60)
  let pages = 0
  const store: Store = {
    ...inner,
    async readPage(query) {
      if (pages++ === 1) {
        await inner.deleteThread(thread)
        await load(inner, 70)
      }
      return inner.readPage(query)
    },
  }
  expect(await Array.fromAsync(exportThread(store, thread, 'ui'))).toHaveLength(50)
})
