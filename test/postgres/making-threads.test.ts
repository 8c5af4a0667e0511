import { describe, expect, it } from 'vitest'
import { parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import { appendEvents, commitTogether } from '../../src/testing/store-rules/append-events.ts'
import { readChanges } from '../../src/testing/store-rules/read-thread.ts'
import {
  ana,
  at,
  ben,
  ended,
  messageAdded,
  thread,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { blocked, openTestDatabase, waitFor } from './test-database.ts'

const create = { ownerId: ana, title: '', at }
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
/** What no column can hold: found by the database, after everything else has been written. */
const unstorable = messageAdded('Hi', '\u0000')

describe('a thread that is made with its first append', () => {
  it('[LG1] is made once by ten processes at the same moment, and the others find it', async () => {
    const database = await openTestDatabase()
    const stores = numbers(10).map(() => database.open({ poolSize: 2 }))
    for (const store of stores) await store.readThread(thread)
    for (const round of numbers(5)) {
      const threadId = parseThreadId(`thread-${round}`)
      const results = await Promise.all(
        stores.map((store, who) => {
          const message = messageAdded('Hi', parseMessageId(`message-${who}`))
          if (who === 9) return store.createThread({ id: threadId, ...create })
          const append = { threadId, events: [message], create }
          return appendEvents(store, who % 2 === 0 ? { ...append, expectedSeq: 0 } : append)
        }),
      )
      const kinds = results.map(({ kind }) => kind)
      for (const who of [1, 3, 5, 7]) expect(kinds[who]).toBe('appended')
      const first = [0, 2, 4, 6, 8].filter((who) => kinds[who] === 'appended')
      expect(first.length).toBeLessThanOrEqual(1)
      for (const who of [0, 2, 4, 6, 8]) expect(['appended', 'stale']).toContain(kinds[who])
      expect(['created', 'exists']).toContain(kinds[9])
      const { seq } = await readChanges(stores[0]!, 0, 100, threadId)
      expect(seq).toBe(4 + first.length)
    }
  })

  it("[HT2] is nobody else's, whoever comes second", async () => {
    const database = await openTestDatabase()
    const stores = [database.open(), database.open()]
    const results = await Promise.all(
      stores.map((store, who) => {
        const owned = { ...create, ownerId: who === 0 ? ana : ben }
        return appendEvents(store, {
          threadId: thread,
          events: [messageAdded('Hi')],
          create: owned,
        })
      }),
    )
    expect(results.map(({ kind }) => kind).sort()).toEqual(['appended', 'no-thread'])
    expect((await stores[0]!.readThread(thread))?.seq).toBe(1)
  })

  it.each([
    ['one append each', [], 1],
    ['two appends each', [], 2],
    ['one that the database refuses', [unstorable], 1],
  ] as const)(
    '[LG1] makes nobody wait in a circle, in whichever order they come: %s',
    async (_, refused, appends) => {
      const database = await openTestDatabase()
      const stores = [database.open(), database.open()]
      for (const store of stores) await store.readThread(thread)
      const made = ['a', 'x', 'm', 'b', 'z'].map(parseThreadId)
      const [holder, watcher] = [await database.connect(), await database.connect()]
      // Somebody is about to make the one in the middle, and does not: whoever made others before it, in
      // an order of its own, would by then have what the other one needs next.
      await holder.query('BEGIN')
      await holder.query(`INSERT INTO holdfast.threads (id, owner_id, title, created_at, updated_at)
        VALUES ('m', 'ana', '', 1, 1)`)
      const commits = stores.map(async (store, who) => {
        const extra = { threadId: parseThreadId(`extra-${who}`), events: refused, create }
        const each = numbers(appends).flatMap((nth) =>
          (who === 0 ? made : made.toReversed()).map((threadId) => ({
            threadId,
            create,
            events: [messageAdded('Hi', parseMessageId(`${who}-${nth}`))],
            expectedSeq: nth,
          })),
        )
        const results = await commitTogether(store, refused.length === 0 ? each : [...each, extra])
        for (const [index, { threadId, events }] of each.entries()) {
          const { kind = 'busy' } = results[index] ?? {}
          expect(['appended', 'stale', 'busy']).toContain(kind)
          if (kind !== 'appended') {
            expect((await appendEvents(store, { threadId, events, create })).kind).toBe('appended')
          }
        }
      })
      // Each waits for a moment only before it is told that the row is held, and tries again.
      await waitFor(watcher, blocked, (rows) => rows.length > 0)
      await holder.query('ROLLBACK')
      await Promise.all(commits)
      for (const threadId of made) {
        const { changes } = await readChanges(stores[0]!, 0, 100, threadId)
        expect(changes.map(({ seq }) => seq)).toEqual(numbers(2 * appends).map((nth) => nth + 1))
      }
    },
  )

  it('[LG3] is not there if its append is refused, whatever else is in the group', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    const [one, two, three, four] = ['1', '2', '3', '4'].map(parseThreadId) as [
      typeof thread,
      typeof thread,
      typeof thread,
      typeof thread,
    ]
    const hold = { kind: 'hold', fence: 1 } as const
    const results = await commitTogether(store, [
      { threadId: one, events: [ended()], create },
      { threadId: two, events: [messageAdded('Hi')], create, lease: hold },
      { threadId: three, events: [unstorable], create },
      { threadId: four, events: [messageAdded('No')] },
      { threadId: thread, events: [messageAdded('Hi')], create },
      { threadId: one, events: [], expectedSeq: 0 },
      { threadId: four, events: [messageAdded('Hi')], create },
      { threadId: thread, events: [messageAdded('Hi', parseMessageId('second'))], expectedSeq: 1 },
    ])
    expect(results.map(({ kind }) => kind)).toEqual([
      'illegal',
      'fenced',
      'illegal',
      'no-thread',
      'appended',
      'no-thread',
      'appended',
      'appended',
    ])
    const client = await database.connect()
    const { rows } = await client.query('SELECT id, seq::integer FROM holdfast.threads ORDER BY id')
    expect(rows).toEqual([
      { id: four, seq: 1 },
      { id: thread, seq: 2 },
    ])
  })

  it('[LG2] may be made without an event', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    const lease = { kind: 'acquire', holder: 'me', ttlMs: 1000, turnId: turn } as const
    const other = parseThreadId('other')
    const results = await commitTogether(store, [
      { threadId: thread, events: [], create },
      { threadId: other, events: [], create, lease },
    ])
    expect(results).toMatchObject([
      { kind: 'appended', firstSeq: 1, seq: 0, stopRequested: false },
      { kind: 'appended', firstSeq: 1, seq: 0, fence: expect.any(Number) as number },
    ])
    expect(await store.readThread(thread)).toMatchObject({ ownerId: ana, seq: 0, updatedAt: at })
    expect(await store.requestStop(other)).toMatchObject({ kind: 'requested', turnId: turn })
  })
})
