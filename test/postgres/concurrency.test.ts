import { describe, expect, it } from 'vitest'
import { type CallId, parseCallId, parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import { callsOf, isTurn } from '../../src/core/message.ts'
import type { AppendResult } from '../../src/store/store.ts'
import { readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  call,
  createThread,
  ended,
  fact,
  recorded,
  say,
  started,
  text,
  thread,
  tryAppend,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { blocked, openTestDatabase, waitFor } from './test-database.ts'

const kindsOf = (results: readonly AppendResult[]) => results.map(({ kind }) => kind).sort()
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('one thread, many connections', () => {
  it('[LG1] gives 20 parallel appenders every number once, without a gap', async () => {
    const database = await openTestDatabase()
    const stores = numbers(4).map(() => database.open({ poolSize: 5 }))
    const [store] = stores
    await createThread(store!)
    await append(store!, [started()])
    const appended = await Promise.all(
      numbers(20).map(async (appender) => {
        const own = stores[appender % stores.length]!
        const results = []
        for (const round of numbers(5)) {
          const isMessage = (appender + round) % 2 === 0
          const id = parseMessageId(`message-${appender}-${round}`)
          results.push(await append(own, isMessage ? [say('Hi', id)] : text('Hi')))
        }
        return results
      }),
    )
    const { changes, seq } = await readChanges(store!, 0)
    expect(changes.map((change) => change.seq)).toEqual(numbers(seq).map((index) => index + 1))
    const ranges = appended
      .flat()
      .map(({ firstSeq, seq: last }) => [firstSeq, last] as const)
      .sort(([left], [right]) => left - right)
    expect(ranges).toHaveLength(100)
    let reached = 1
    for (const [first, last] of ranges) {
      expect(first).toBe(reached + 1)
      reached = last
    }
    expect(reached).toBe(seq)
  })

  it('[LG1] lets exactly one of ten that expect the same seq append', async () => {
    const database = await openTestDatabase()
    const stores = [database.open(), database.open()]
    await createThread(stores[0]!)
    await append(stores[0]!, [started()])
    for (const expectedSeq of [1, 4, 7]) {
      const results = await Promise.all(
        numbers(10).map((index) => tryAppend(stores[index % 2]!, text('Hi'), { expectedSeq })),
      )
      const stale = numbers(9).map(() => 'stale')
      expect(kindsOf(results)).toEqual(['appended', ...stale])
    }
  })

  it('[AP2] lets exactly one of two deciders win, and tells the other', async () => {
    const database = await openTestDatabase()
    const stores = [database.open(), database.open()]
    const calls = numbers(12).map((index) => parseCallId(`call-${index}`))
    await createThread(stores[0]!)
    const waiting = calls.map((id) => recorded(id, { approval: 'required' }))
    await append(stores[0]!, [started(), ...waiting])
    const decide = (who: number, callId: CallId) => {
      const kind = who === 0 ? 'accepted' : 'rejected'
      const decision = { kind, by: `decider-${who}`, at: 1, inputHash: 'hash' } as const
      return tryAppend(stores[who]!, [fact({ type: 'call-decided', callId, decision })])
    }
    for (const id of calls) {
      const results = await Promise.all([decide(0, id), decide(1, id)])
      expect(kindsOf(results)).toEqual(['appended', 'illegal'])
      const winner = results.findIndex(({ kind }) => kind === 'appended')
      expect(results[1 - winner]).toEqual({
        kind: 'illegal',
        subject: 'call',
        id,
        state: winner === 0 ? 'ready' : 'denied',
      })
      const found = await stores[0]!.readCall(thread, id)
      expect(found?.call.decision?.by).toBe(`decider-${winner}`)
    }
  })

  it('[CR2] lets exactly one of ten that reach for a run have it', async () => {
    const database = await openTestDatabase()
    const stores = [database.open(), database.open()]
    await createThread(stores[0]!)
    const results = await Promise.all(
      numbers(10).map((index) => {
        const turnId = parseMessageId(`turn-${index}`)
        const lease = { kind: 'acquire', holder: `${index}`, ttlMs: 60_000, turnId } as const
        return tryAppend(stores[index % 2]!, [started(turnId)], { lease })
      }),
    )
    expect(kindsOf(results)).toEqual(['appended', ...numbers(9).map(() => 'leased')])
    expect((await readPage(stores[0]!)).messages).toHaveLength(1)
  })

  it('[CL2] writes nothing into a turn that ended while the append waited for the thread', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    await append(store, [started()])
    const other = await database.connect()
    // What another process does when it ends a turn, stopped just before its commit.
    await other.query('BEGIN')
    await other.query(`UPDATE holdfast.threads SET seq = seq + 1`)
    await other.query(`UPDATE holdfast.messages SET status = 'ended'`)
    const late = tryAppend(store, text('Late'))
    const watcher = await database.connect()
    await waitFor(watcher, blocked)
    await other.query('COMMIT')
    expect(await late).toEqual({ kind: 'illegal', subject: 'turn', id: turn, state: 'ended' })
    expect((await store.readThread(thread))?.seq).toBe(2)
  })
})

describe('many threads in one commit', () => {
  it.each([1, 2])(
    '[LG1] does not deadlock over threads that two processes commit in opposite order, %i appends each',
    async (appends) => {
      const database = await openTestDatabase()
      const stores = [database.open(), database.open()]
      const ids = ['a', 'b', 'c'].map(parseThreadId)
      for (const id of ids) await createThread(stores[0]!, id)
      const [holder, watcher] = [await database.connect(), await database.connect()]
      // Both are stopped at the one in the middle: if each took them in its own order, each would
      // by then have what the other needs next.
      await holder.query('BEGIN')
      await holder.query(`SELECT FROM holdfast.threads WHERE id = 'b' FOR UPDATE`)
      const commits = stores.map((store, who) =>
        store.commit(
          (who === 0 ? ids : ids.toReversed()).flatMap((threadId) =>
            numbers(appends).map((nth) => ({
              threadId,
              events: [say('Hi', parseMessageId(`${who}-${nth}`))],
            })),
          ),
        ),
      )
      await waitFor(watcher, blocked, (rows) => rows.length === 2)
      await holder.query('ROLLBACK')
      const results = await Promise.all(commits)
      expect(new Set(kindsOf(results.flat()))).toEqual(new Set(['appended']))
      for (const threadId of ids) {
        const { changes } = await readChanges(stores[0]!, 0, 100, threadId)
        const all = numbers(2 * appends).map((index) => index + 1)
        expect(changes.map((change) => change.seq)).toEqual(all)
      }
    },
  )

  it('[LG1] takes several appends of one thread in order, each by what the one before left', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    const other = await createThread(store, parseThreadId('another'))
    const results = await store.commit([
      { threadId: thread, events: [started(), recorded()] },
      { threadId: other, events: [say('Hi')] },
      { threadId: thread, events: [ended()] },
      { threadId: thread, events: [fact({ type: 'call-started', callId: call })] },
      { threadId: thread, events: text('Hi'), expectedSeq: 3 },
      { threadId: parseThreadId('nobody'), events: [say('Hi')] },
    ])
    expect(results).toEqual([
      { kind: 'appended', firstSeq: 1, seq: 2, stopRequested: false },
      { kind: 'appended', firstSeq: 1, seq: 1, stopRequested: false },
      { kind: 'illegal', subject: 'turn', id: turn, state: 'open-calls' },
      { kind: 'appended', firstSeq: 3, seq: 3, stopRequested: false },
      { kind: 'appended', firstSeq: 4, seq: 6, stopRequested: false },
      { kind: 'no-thread' },
    ])
    const [shown] = (await readPage(store)).messages
    expect(shown && isTurn(shown) && [...callsOf(shown)].map(({ state }) => state)).toEqual([
      'running',
    ])
  })
})
