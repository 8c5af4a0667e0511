import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { type CallId, parseCallId, parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import { callsOf, isTurn } from '../../src/core/message.ts'
import { planCommit, type PlannedCommit } from '../../src/store/plan-commit.ts'
import type { AppendResult } from '../../src/store/store.ts'
import { commitTogether, planAll } from '../../src/testing/store-rules/append-events.ts'
import { createRandom } from '../../src/testing/random.ts'
import { readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  begun,
  createThread,
  ended,
  turnEvent,
  recorded,
  messageAdded,
  started,
  succeeded,
  text,
  thread,
  tryAppend,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { openTestDatabase } from './test-database.ts'
import { withoutMarks } from '../../src/testing/store-rules/without-marks.ts'

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
          results.push(await append(own, isMessage ? [messageAdded('Hi', id)] : text('Hi')))
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

  it('[AP2] lets exactly one of two deciders win, and returns that to the other', async () => {
    const database = await openTestDatabase()
    const stores = [database.open(), database.open()]
    const calls = numbers(12).map((index) => parseCallId(`call-${index}`))
    await createThread(stores[0]!)
    const waiting = calls.map((id) => recorded(id, { approval: 'required' }))
    await append(stores[0]!, [started(), ...waiting])
    const decide = (who: number, callId: CallId) => {
      const kind = who === 0 ? 'accepted' : 'rejected'
      const decision = { kind, by: `decider-${who}`, at: 1, inputHash: 'hash' } as const
      return tryAppend(stores[who]!, [turnEvent({ type: 'call-decided', callId, decision })])
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

  it('[CL2] writes nothing into a turn that ended while the append was being made', async () => {
    const database = await openTestDatabase()
    const [store, other] = [database.open(), database.open()]
    await createThread(store)
    await append(store, [started()])
    const [late] = await planAll(store, [{ threadId: thread, events: text('Late') }])
    if (late === undefined || 'kind' in late) throw new Error(late?.kind)
    const holder = await database.connect()
    await holder.query('BEGIN')
    await holder.query(`SELECT FROM holdfast.threads FOR UPDATE`)
    expect(await store.commit([late])).toEqual([{ kind: 'busy' }])
    await holder.query('ROLLBACK')
    await append(other, [ended()])
    expect(await store.commit([late])).toEqual([{ kind: 'stale', seq: 2 }])
    const refused = { kind: 'illegal', subject: 'turn', id: turn, state: 'ended' }
    expect(await tryAppend(store, text('Late'))).toEqual(refused)
    expect((await store.readThread(thread))?.seq).toBe(2)
  })

  it('[CR2] refuses a run that was taken over, though nothing was written since', async () => {
    const database = await openTestDatabase()
    const [store, other] = [database.open(), database.open()]
    await createThread(store)
    const lease = { kind: 'acquire', holder: 'a', ttlMs: 60_000, turnId: turn } as const
    const { fence = 0 } = await append(store, [started(), recorded(), begun()], { lease })
    const { fence: newer = 0 } = await append(other, [], { lease: { ...lease, overFence: fence } })
    const fenced = { kind: 'fenced', fence: newer }
    for (const events of [[succeeded('late')], text('late'), []]) {
      expect(await tryAppend(store, events, { lease: { kind: 'hold', fence } })).toEqual(fenced)
    }
    const release = { kind: 'release', fence } as const
    const end = [succeeded('late'), ended()]
    expect(await tryAppend(store, end, { lease: release })).toEqual(fenced)
    expect((await store.readThread(thread))?.seq).toBe(3)
  })

  it('[LG1] settles calls from two sides while text comes from a third, and refuses nothing', async () => {
    const database = await openTestDatabase()
    const stores = numbers(3).map(() => database.open())
    await createThread(stores[0]!)
    const ids = numbers(12).map((index) => parseCallId(`many-${index}`))
    await append(stores[0]!, [started(), ...ids.flatMap((id) => [recorded(id), begun(id)])])
    const results = await Promise.all(
      ids.map((id, index) =>
        tryAppend(
          stores[index % 3]!,
          index % 3 === 0 ? [...text('x'), succeeded(index, id)] : [succeeded(index, id)],
        ),
      ),
    )
    expect(new Set(kindsOf(results))).toEqual(new Set(['appended']))
    const found = await stores[2]!.readMessage(thread, turn)
    if (found === null || !isTurn(found)) throw new Error('no turn')
    expect([...callsOf(found)].map(({ state }) => state)).toEqual(ids.map(() => 'succeeded'))
    expect(found).toMatchObject({ lastSeq: 25 + 12 + 3 * 4, unreadable: 0 })
    await append(stores[1]!, [ended()])
  })
})

describe('many threads in one commit', () => {
  it('[LG1] waits for no thread that somebody holds, and stores the others', async () => {
    const database = await openTestDatabase()
    const stores = [database.open(), database.open()]
    const ids = ['a', 'b', 'c'].map(parseThreadId)
    for (const id of ids) await createThread(stores[0]!, id)
    const holder = await database.connect()
    await holder.query('BEGIN')
    await holder.query(`SELECT FROM holdfast.threads WHERE id = 'b' FOR UPDATE`)
    for (const [who, store] of stores.entries()) {
      const group = (who === 0 ? ids : ids.toReversed()).map((threadId) => ({
        threadId,
        events: [messageAdded('Hi', parseMessageId(`${who}`))],
      }))
      const kinds = (await commitTogether(store, group)).map(({ kind }) => kind)
      expect(kinds).toEqual(['appended', 'busy', 'appended'])
    }
    expect((await stores[0]!.readThread(ids[1]!))?.seq).toBe(0)
    await holder.query('ROLLBACK')
    expect((await append(stores[0]!, [messageAdded('Hi')], { threadId: ids[1]! })).seq).toBe(1)
  })

  it('[LG1] does not deadlock over threads that processes commit in any order', async () => {
    const database = await openTestDatabase()
    const stores = numbers(3).map(() => database.open())
    const ids = numbers(6).map((index) => parseThreadId(`thread-${index}`))
    for (const id of ids) await createThread(stores[0]!, id)
    const rounds = 15
    await Promise.all(
      stores.map(async (store, who) => {
        const random = createRandom(who)
        for (const round of numbers(rounds)) {
          const events = [messageAdded('Hi', parseMessageId(`${who}-${round}`))]
          const cut = random.int(ids.length)
          const turned = [...ids.slice(cut), ...ids.slice(0, cut)]
          let left = random.chance(0.5) ? turned : turned.toReversed()
          while (left.length > 0) {
            const group = left.map((threadId) => ({ threadId, events }))
            const results = await commitTogether(store, group)
            for (const { kind } of results) expect(['appended', 'stale', 'busy']).toContain(kind)
            left = left.filter((_, index) => results[index]?.kind !== 'appended')
          }
        }
      }),
    )
    for (const threadId of ids) {
      const { changes } = await readChanges(stores[0]!, 0, 100, threadId)
      const all = numbers(3 * rounds).map((index) => index + 1)
      expect(changes.map((change) => change.seq)).toEqual(all)
    }
  })

  it('[LG1] takes several appends of one thread in order, each by what the one before left', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    const other = await createThread(store, parseThreadId('another'))
    const plan = (events: readonly NewEvent[], expectedSeq: number, before?: PlannedCommit) => {
      const turns = [...(before?.turns.values() ?? [])]
      const planned = planCommit({ threadId: thread, events, expectedSeq, turns })
      if ('kind' in planned) throw new Error(JSON.stringify(planned))
      return planned
    }
    const first = plan([started(), recorded()], 0)
    const second = plan([begun()], 2, first)
    const [elsewhere, nowhere] = await planAll(store, [
      { threadId: other, events: [messageAdded('Hi')] },
      { threadId: parseThreadId('nobody'), events: [messageAdded('Hi')] },
    ])
    const results = await store.commit([
      first,
      elsewhere as PlannedCommit,
      second,
      plan(text('Lost'), 2, first),
      plan(text('Hi'), 3, second),
      nowhere as PlannedCommit,
    ])
    expect(results.map(withoutMarks)).toEqual([
      { kind: 'appended', firstSeq: 1, seq: 2, stopRequested: false },
      { kind: 'appended', firstSeq: 1, seq: 1, stopRequested: false },
      { kind: 'appended', firstSeq: 3, seq: 3, stopRequested: false },
      { kind: 'stale', seq: 3 },
      { kind: 'appended', firstSeq: 4, seq: 6, stopRequested: false },
      { kind: 'no-thread' },
    ])
    const [shown] = (await readPage(store)).messages
    expect(shown && isTurn(shown) && [...callsOf(shown)].map(({ state }) => state)).toEqual([
      'running',
    ])
  })
})
