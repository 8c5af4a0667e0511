import { describe, expect, it } from 'vitest'
import { parseCallId, parseMessageId, parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import type { Store } from '../../src/store/store.ts'
import { appendEvents } from '../../src/testing/store-rules/append-events.ts'
import { openRaw, openStore, temporaryFile } from './temporary-file.ts'

const threadId = parseThreadId('thread')
const turnId = parseMessageId('turn')
const at = 1

/** A thread with an ended and an open call; the turn waits, so both have rows. */
async function writeThread(store: Store): Promise<void> {
  await store.createThread({ id: threadId, ownerId: parseOwnerId('ana'), title: '', at })
  const recorded = (id: string) => {
    const callId = parseCallId(id)
    const call = { id: callId, providerCallId: id, name: 'look_up' }
    const approval = 'not-required' as const
    return { type: 'call-recorded', turnId, at, callId, call, input: {}, approval } as const
  }
  const output = { kind: 'inline', value: 1 } as const
  const outcome = { state: 'succeeded', output } as const
  const result = await appendEvents(store, {
    threadId,
    events: [
      { type: 'message-added', messageId: parseMessageId('user'), role: 'user', parts: [], at },
      { type: 'turn-started', turnId, at, replyTo: null },
      recorded('ended'),
      recorded('open'),
      { type: 'call-settled', turnId, at, callId: parseCallId('ended'), outcome },
      { type: 'turn-paused', turnId, at, waitingFor: 'client' },
    ],
  })
  expect(result).toMatchObject({ kind: 'appended', seq: 6 })
}

it('[LG1] nothing is left of a thread that is deleted', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  await writeThread(store)
  const raw = openRaw(file)
  const count = (table: string) => raw.prepare(`SELECT count(*) AS rows FROM ${table}`).get()
  const id = `shr_${'a'.repeat(32)}`
  await store.shares?.begin({ id, threadId, at, most: 1, unfinishedBefore: 0 })
  await store.shares?.add(id, [{ nth: 1, body: '{}' }])
  const withdrawn = { type: 'input-withdrawn', messageId: parseMessageId('withdrawn'), at } as const
  await appendEvents(store, { threadId, events: [withdrawn] })
  const tables = ['threads', 'messages', 'events', 'calls', 'inputs', 'shares', 'share_messages']
  for (const table of tables) {
    expect([table, count(table)]).not.toEqual([table, { rows: 0 }])
  }
  await store.deleteThread(threadId)
  for (const table of tables) {
    expect([table, count(table)]).toEqual([table, { rows: 0 }])
  }
})

const refusals: Readonly<Record<string, readonly [sql: string, says: RegExp]>> = {
  'bring an ended call back': [
    `UPDATE calls SET life = 'running', output = NULL WHERE call_id = 'ended'`,
    /an ended call never changes/,
  ],
  'change the result of an ended call': [
    `UPDATE calls SET output = '2' WHERE call_id = 'ended'`,
    /an ended call never changes/,
  ],
  'give a call a life that there is not': [
    `UPDATE calls SET life = 'done' WHERE call_id = 'open'`,
    /CHECK constraint/,
  ],
  'have a call succeed without a result': [
    `UPDATE calls SET life = 'succeeded' WHERE call_id = 'open'`,
    /CHECK constraint/,
  ],
  'give a call that is open a result': [
    `UPDATE calls SET output = '1' WHERE call_id = 'open'`,
    /CHECK constraint/,
  ],
  'move a call to another turn': [
    `UPDATE calls SET turn = 1 WHERE call_id = 'open'`,
    /a call keeps its place/,
  ],
  'turn a thread back': ['UPDATE threads SET seq = 5', /a thread never goes back/],
  'change an event': [`UPDATE events SET payload = '{}' WHERE seq = 6`, /a fact never changes/],
  'store a batch of nothing': [
    `INSERT INTO events VALUES (1, 7, 0, 7, NULL, 1, '{}', '')`,
    /CHECK constraint/,
  ],
  'store a batch that begins before the thread': [
    `INSERT INTO events VALUES (1, 7, 8, 7, NULL, 1, '{}', '')`,
    /CHECK constraint/,
  ],
  'store a batch that begins before its turn': [
    `INSERT INTO events VALUES (1, 7, 7, 7, 2, 1, '{}', '')`,
    /CHECK constraint/,
  ],
  'give a number twice': [
    `INSERT INTO events SELECT thread, seq, size, commit_seq, turn, at, payload, mark FROM events`,
    /UNIQUE constraint/,
  ],
  'show two messages of one id': [
    `INSERT INTO messages SELECT thread, 9, message_id, role, status, is_sealed, 9, 9, created_at,
      retired_seq, body, mark, parent_seq, versions FROM messages WHERE role = 'user'`,
    /UNIQUE constraint/,
  ],
  'change what a user wrote': [
    `UPDATE messages SET body = '{}' WHERE role = 'user'`,
    /only a turn that has ended is sealed/,
  ],
  'snapshot a turn that has not ended': [
    `UPDATE messages SET body = '{}', body_seq = 5 WHERE role = 'assistant'`,
    /only a turn that has ended is sealed/,
  ],
  'move a message': ['UPDATE messages SET seq = seq + 7', /a message keeps its place/],
  'hold half a lease': [`UPDATE threads SET lease_holder = 'one'`, /CHECK constraint/],
  'store text as a number': [`UPDATE threads SET seq = 'five'`, /cannot store TEXT/],
}

describe('[CL2] the tables themselves refuse to', () => {
  for (const [what, [sql, says]] of Object.entries(refusals)) {
    it(`[CL2] ${what}`, async () => {
      const file = temporaryFile()
      await writeThread(openStore(file))
      const raw = openRaw(file)
      expect(() => raw.exec(sql)).toThrow(says)
    })
  }
})
