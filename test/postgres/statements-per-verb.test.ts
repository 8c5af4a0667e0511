import { createHoldfast, parseThreadId } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, vi } from 'vitest'
import { StatementQuery } from '../../src/store/postgres/statement.ts'
import { openTestDatabase } from './test-database.ts'

const threadId = parseThreadId('thread')

it('[PG6] a page, a thread, a turn, a message and the changes of a thread are one statement each', async () => {
  const database = await openTestDatabase()
  const writer = database.open()
  const holdfast = createHoldfast({
    store: writer,
    model: scriptedModel(() => [{ text: 'Answer.' }]),
  })
  const message = { id: 'question', parts: [{ type: 'text', text: 'Hi.' }] } as const
  const create = { ownerId: 'ann', title: '' }
  const sent = await holdfast.send({ threadId, message, create })
  if (sent.kind !== 'started') throw new Error(sent.kind)
  await holdfast.settled()
  await holdfast.close()
  await writer.close()
  // A store that has written nothing: the notifications of a commit are sent a moment after it, and would be counted.
  const store = database.open()
  const statements = vi.spyOn(StatementQuery.prototype, 'submit')
  const countOf = async (verb: () => Promise<unknown>) => {
    statements.mockClear()
    await verb()
    return statements.mock.calls.length
  }
  // A new connection has a statement of its own.
  await store.readThread(threadId)
  const page = { threadId, limit: 25, before: null, live: 'include', results: 'full' } as const
  expect({
    page: await countOf(() => store.readPage(page)),
    thread: await countOf(() => store.readThread(threadId)),
    turn: await countOf(() => store.findTurn(sent.turnId)),
    message: await countOf(() => store.readMessage(threadId, sent.turnId)),
    changes: await countOf(() =>
      store.readChanges({ threadId, after: 0, limit: 100, results: 'full' }),
    ),
  }).toEqual({ page: 1, thread: 1, turn: 1, message: 1, changes: 1 })
})
