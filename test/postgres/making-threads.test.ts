import { describe, expect, it } from 'vitest'
import { parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import type { Append } from '../../src/store/plan-commit.ts'
import { readChanges } from '../../src/testing/store-rules/read-thread.ts'
import {
  ana,
  at,
  ben,
  createThread,
  ended,
  say,
  started,
  thread,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { blocked, openTestDatabase, waitFor } from './test-database.ts'

const create = { ownerId: ana, title: '', at }
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
/** What no column can hold: found by the database, after everything else has been written. */
const unstorable = say('Hi', '\u0000' as typeof turn)

describe('a thread that is made with its first append', () => {
  it('[LG1] is made once by ten processes at the same moment, and the others find it', async () => {
    const database = await openTestDatabase()
    const stores = numbers(10).map(() => database.open({ poolSize: 2 }))
    for (const store of stores) await store.readThread(thread)
    for (const round of numbers(5)) {
      const threadId = parseThreadId(`thread-${round}`)
      const results = await Promise.all(
        stores.map((store, who) => {
          const message = say('Hi', parseMessageId(`message-${who}`))
          if (who === 9) return store.createThread({ id: threadId, ...create })
          const started = { threadId, events: [message], create }
          return store
            .commit([who % 2 === 0 ? { ...started, expectedSeq: 0 } : started])
            .then(([result]) => result)
        }),
      )
      const kinds = results.map((result) => result?.kind)
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
        return store.commit([{ threadId: thread, events: [say('Hi')], create: owned }])
      }),
    )
    expect(
      results
        .flat()
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['appended', 'no-thread'])
    expect((await stores[0]!.readThread(thread))?.seq).toBe(1)
  })

  it.each([
    ['one append each', [], 0],
    ['two appends each', [], 1],
    ['one that the database refuses', [unstorable], 0],
    ['one that waits for its facts to be folded', [started(), ended()], 0],
  ] as const)(
    '[LG1] makes nobody wait in a circle, in whichever order they come: %s',
    async (_, events, more) => {
      const database = await openTestDatabase()
      const stores = [database.open(), database.open()]
      const old = await createThread(stores[0]!, parseThreadId('m'))
      const made = ['a', 'x', 'b', 'z'].map(parseThreadId)
      const [holder, watcher] = [await database.connect(), await database.connect()]
      // Both are stopped at the thread that is there: if one had made threads before that, and the
      // other would make them after it, each would have what the other needs next.
      await holder.query('BEGIN')
      await holder.query(`SELECT FROM holdfast.threads WHERE id = 'm' FOR UPDATE`)
      const commits = stores.map((store, who) => {
        const all = [
          ...made.map((threadId) => ({ threadId, create })),
          { threadId: old },
          ...made.slice(0, 2 * more).map((threadId) => ({ threadId, create })),
        ]
        const extra: readonly Append[] =
          events.length === 0
            ? []
            : [{ threadId: parseThreadId(`extra-${who}`), events, create }]
        return store.commit([
          ...(who === 0 ? all : all.toReversed()).map((one, nth) => ({
            ...one,
            events: [say('Hi', parseMessageId(`${who}-${nth}`))],
          })),
          ...extra,
        ])
      })
      await waitFor(watcher, blocked, (rows) => rows.length === 2)
      await holder.query('ROLLBACK')
      const results = await Promise.all(commits)
      for (const group of results) {
        const kinds = group.slice(0, 5 + 2 * more).map(({ kind }) => kind)
        expect(new Set(kinds)).toEqual(new Set(['appended']))
      }
      for (const threadId of [old, ...made]) {
        const { changes } = await readChanges(stores[0]!, 0, 100, threadId)
        expect(changes.map(({ seq }) => seq)).toEqual(changes.map((__, index) => index + 1))
        expect(changes.length).toBeGreaterThanOrEqual(2)
      }
    },
  )

  it('[LG1] makes nobody wait in a circle if only a later append of its group may make it', async () => {
    const database = await openTestDatabase()
    const stores = [database.open(), database.open()]
    const old = await createThread(stores[0]!, parseThreadId('m'))
    const [holder, watcher] = [await database.connect(), await database.connect()]
    await holder.query('BEGIN')
    await holder.query(`SELECT FROM holdfast.threads WHERE id = 'm' FOR UPDATE`)
    const message = (id: string) => [say('Hi', parseMessageId(id))]
    const late = stores[0]!.commit([
      { threadId: old, events: message('1') },
      { threadId: thread, events: message('2') },
      { threadId: thread, events: message('3'), create },
    ])
    await waitFor(watcher, blocked, (rows) => rows.length === 1)
    const early = stores[1]!.commit([
      { threadId: thread, events: message('4'), create },
      { threadId: old, events: message('5') },
    ])
    await waitFor(watcher, blocked, (rows) => rows.length === 2)
    await holder.query('ROLLBACK')
    expect((await late).map(({ kind }) => kind)).toEqual(['appended', 'no-thread', 'appended'])
    expect((await early).map(({ kind }) => kind)).toEqual(['appended', 'appended'])
  })

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
    const results = await store.commit([
      { threadId: one, events: [ended()], create },
      { threadId: two, events: [say('Hi')], create, lease: hold },
      { threadId: three, events: [unstorable], create },
      { threadId: four, events: [say('No')] },
      { threadId: thread, events: [say('Hi')], create },
      { threadId: one, events: [], expectedSeq: 0 },
      { threadId: four, events: [say('Hi')], create },
      { threadId: thread, events: [say('Hi', parseMessageId('second'))], expectedSeq: 1 },
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

  it('[LG2] may be made without a fact', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    const lease = { kind: 'acquire', holder: 'me', ttlMs: 1000, turnId: turn } as const
    const other = parseThreadId('other')
    const results = await store.commit([
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
