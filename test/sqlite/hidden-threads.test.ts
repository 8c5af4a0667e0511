import { expect, it, onTestFinished } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { parseMessageId, parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { commitAppend } from '../../src/store/commit-group.ts'
import { type AsyncConnection, createConnection } from '../../src/store/sqlite/connection.ts'
import { hideThread, removeHidden } from '../../src/store/sqlite/hidden-threads.ts'
import { openStore, temporaryFile } from './temporary-file.ts'

const at = 1

it('[LG1 LG7] a thread that gets the key of a deleted one keeps its messages, though another process removes that one at the moment', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  const make = (name: string, count: number) => {
    const events = Array.from({ length: count }, (_, nth): NewEvent => {
      const said = { messageId: parseMessageId(`${name}-${nth}`), role: 'user' } as const
      return { type: 'message-added', ...said, parts: [{ type: 'text', text: 'hello' }], at }
    })
    const create = { ownerId: parseOwnerId('ann'), title: '', at }
    return commitAppend(store, { threadId: parseThreadId(name), events, expectedSeq: 0, create })
  }
  await make('first', 2)
  await make('deleted', 3)
  const connection = createConnection(file, 100)
  onTestFinished(() => connection.close())
  const plain: AsyncConnection = {
    read: async (work) => connection.read(work),
    write: async (work) => connection.write(work),
  }
  const key = connection.write((statements) => {
    const { thread } = statements.readKey.get('deleted') ?? { thread: 0 }
    hideThread(statements, thread, 1_000)
    return thread
  })
  let isFirst = true
  await removeHidden({
    ...plain,
    async read(work) {
      const found = await plain.read(work)
      if (isFirst) {
        isFirst = false
        // Another process is quicker, and somebody begins a chat.
        await removeHidden(plain)
        await make('fresh', 5)
      }
      return found
    },
  })
  expect(connection.read(({ readKey }) => readKey.get('fresh')?.thread)).toBe(key)
  const query = { limit: 100, before: null, live: 'include', results: 'full' } as const
  const page = await store.readPage({ threadId: parseThreadId('fresh'), ...query })
  expect(page?.messages).toHaveLength(5)
})
