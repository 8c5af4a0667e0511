import { expect, it } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { parseMessageId, parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { commitAppend } from '../../src/store/commit-group.ts'
import { openTestDatabase } from './test-database.ts'

const ownerId = parseOwnerId('ann')
const threadId = parseThreadId('long')
const many = 1_000

const added = (id: string): NewEvent => ({
  type: 'message-added',
  ...{ messageId: parseMessageId(id), role: 'user' as const, parts: [], at: 1 },
})

it('[OP7 VR2] thousands of messages may be hidden in one commit, although that takes longer than a statement may', async () => {
  const database = await openTestDatabase()
  const store = database.open({ statementTimeoutMs: 1_000 })
  await store.createThread({ id: threadId, ownerId, title: '', at: 1 })
  const ids = Array.from({ length: many }, (_, nth) => `u-${nth + 1}`)
  const events = ids.map(added)
  expect(await commitAppend(store, { threadId, events, expectedSeq: 0 })).toMatchObject({
    kind: 'appended',
  })
  // Stands for a thread that is forty times as long.
  const client = await database.connect()
  await client.query(`CREATE FUNCTION holdfast.take_time() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_sleep(1.5); RETURN NULL; END'`)
  await client.query(`CREATE TRIGGER takes_time AFTER UPDATE ON holdfast.messages
    FOR EACH STATEMENT EXECUTE FUNCTION holdfast.take_time()`)
  const kept = { after: 0, places: ids.map((_, nth) => nth + 1) }
  const hidden: NewEvent = {
    ...{ type: 'messages-retired', at: 1, kept },
    messageIds: ids.map(parseMessageId),
  }
  const edit = [hidden, added('u-1')]
  expect(await commitAppend(store, { threadId, events: edit, expectedSeq: many })).toMatchObject({
    ...{ kind: 'appended', seq: many + 2 },
  })
  const query = { threadId, limit: 5, before: null, live: 'include', results: 'full' } as const
  const page = await store.readPage(query)
  expect(page?.messages.map(({ id, seq }) => [id, seq])).toEqual([['u-1', many + 2]])
  const path = await store.readPath(threadId, 'u-1@1')
  expect([path?.hide.length, path?.show.length]).toEqual([1, many])
})
