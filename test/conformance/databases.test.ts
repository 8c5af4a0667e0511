import { describe, expect, it, onTestFinished } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { type MessageId, parseCallId, parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import { commitAppend } from '../../src/store/commit-group.ts'
import { memory } from '../../src/store/memory/index.ts'
import type { Append } from '../../src/store/plan-commit.ts'
import type { Store } from '../../src/store/store.ts'
import { commitTogether } from '../../src/testing/store-rules/append-events.ts'
import { readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  ana,
  append,
  at,
  begun,
  ben,
  call,
  createThread,
  ended,
  turnEvent,
  recorded,
  messageAdded,
  started,
  succeeded,
  text,
  thread,
  turn,
  turnWithCalls,
} from '../../src/testing/store-rules/thread-script.ts'
import { type DatabaseKind, databases } from '../cli/databases.ts'
import { withoutMarks } from '../../src/testing/store-rules/without-marks.ts'

const kinds = Object.keys(databases) as readonly DatabaseKind[]
const create = { ownerId: ana, title: '', at }
const lease = { kind: 'acquire', holder: 'a', ttlMs: 60_000, turnId: turn } as const
const asking: Append = { threadId: thread, create, lease, events: [messageAdded('hi'), started()] }
const second = parseCallId('second')
const next = parseMessageId('next')

async function openDatabase(kind: DatabaseKind) {
  const database = await databases[kind]()
  const open = () => {
    const store = database.openStore()
    onTestFinished(() => store.close())
    return store
  }
  return {
    store: open(),
    other: open(),
    query: (sql: string) => database.query(sql),
    damage: (sql: string) => database.damage(sql),
  }
}

describe.each(kinds)('the rows of a thread on %s', (kind) => {
  it('[CL3] have a call with its result, or when its turn waits; until then its events tell of it', async () => {
    const { store, other, query } = await openDatabase(kind)
    const readRows = async () =>
      (await query('SELECT call_id, life, name, input, output FROM calls ORDER BY seq')).map(
        (row) => ({ ...row }),
      )
    await append(store, [started(), recorded(), begun(), recorded(second, { input: { q: 2 } })], {
      create,
    })
    expect(await readRows()).toEqual([])
    expect(await other.readCall(thread, second)).toMatchObject({ call: { state: 'ready' } })
    await append(store, [succeeded(1)])
    const named = { name: 'look_up' }
    const done = { ...named, call_id: call, life: 'succeeded', input: '{}', output: '1' }
    expect(await readRows()).toEqual([done])
    await append(store, [turnEvent({ type: 'turn-paused', waitingFor: 'client' })])
    const waiting = { ...named, call_id: second, life: 'ready', input: '{"q":2}', output: null }
    expect(await readRows()).toEqual([done, waiting])
    expect(await other.readCall(thread, second)).toMatchObject({ call: { state: 'ready' } })
  })

  it('[PG6 CR2] have no events and no lease of a turn that has ended, only its snapshot', async () => {
    const { store, other, query } = await openDatabase(kind)
    const { fence = 0 } = await append(store, asking.events, { create, lease })
    await append(store, [...text('Hm'), recorded()], { lease: { kind: 'hold', fence } })
    const release = { kind: 'release', fence } as const
    const last = await append(store, [succeeded('found'), ended()], { lease: release })
    expect(last).toEqual({ kind: 'appended', firstSeq: 7, seq: 8, fence, stopRequested: false })
    expect(await query('SELECT * FROM events')).toEqual([])
    const [row] = await query('SELECT lease_holder, lease_turn, lease_until FROM threads')
    expect({ ...row }).toEqual({ lease_holder: null, lease_turn: null, lease_until: null })
    const found = await store.readMessage(thread, turn)
    expect(found).toMatchObject({ lastSeq: 8, progress: { status: 'ended' } })
    expect(await other.readMessage(thread, turn)).toEqual(found)
  })
})

describe.each(kinds)('one append of a group that the tables of %s refuse', (kind) => {
  it('[LG3 LG10] fails alone, and the others are stored', async () => {
    const { store, query } = await openDatabase(kind)
    const ids = ['a', 'b', 'c', 'd', 'e'].map(parseThreadId)
    for (const threadId of ids) await append(store, turnWithCalls(1, turn), { threadId, create })
    const before = await query('SELECT * FROM calls')
    const used = parseCallId(`${turn}-0`)
    const message = [messageAdded('hi', parseMessageId('new'))]
    const events: readonly (readonly NewEvent[])[] = [
      message,
      // The id of a call of another turn.
      [started(next), recorded(used, { turnId: next }), succeeded('mine', used, next)],
      [...message, started(next), ...text('Hm', next)],
      // The id of a message that is shown.
      [messageAdded('hi', parseMessageId('first')), messageAdded('hi', turn)],
      turnWithCalls(2, next),
    ]
    const results = await commitTogether(
      store,
      ids.map((threadId, index) => ({ threadId, events: events[index] ?? [] })),
    )
    expect(results).toMatchObject([
      { kind: 'appended', seq: 8 },
      { kind: 'illegal', subject: 'call', state: 'exists' },
      { kind: 'appended', seq: 12 },
      { kind: 'illegal', subject: 'message', state: 'exists' },
      { kind: 'appended', seq: 17 },
    ])
    for (const threadId of [ids[1]!, ids[3]!]) {
      const page = await readPage(store, { threadId })
      expect(page).toMatchObject({ seq: 7, messages: [{ id: turn, lastSeq: 7 }] })
    }
    expect(await query('SELECT * FROM calls')).toHaveLength(before.length + 2)
  })

  it('[CL2] fails alone where a call has ended behind its back', async () => {
    const { store, damage } = await openDatabase(kind)
    const other = await createThread(store, parseThreadId('other'))
    await append(store, [started(), recorded(call, { approval: 'required' })], { create })
    await damage(`UPDATE calls SET life = 'interrupted'`)
    const decision = { kind: 'accepted', by: 'ana', at, inputHash: 'h' } as const
    const results = await commitTogether(store, [
      { threadId: other, events: [messageAdded('hi')] },
      {
        threadId: thread,
        events: [
          turnEvent({ type: 'call-decided', callId: call, decision }),
          turnEvent({ type: 'turn-paused', waitingFor: 'client' }),
        ],
      },
    ])
    expect(results).toMatchObject([{ kind: 'appended' }, { kind: 'illegal', subject: 'call' }])
    expect(await store.readThread(thread)).toMatchObject({ seq: 2 })
  })
})

interface Question {
  readonly when: string
  readonly ttlMs?: number
  readonly before?: readonly NewEvent[]
  readonly turnId?: MessageId
  readonly change?: (append: Append, fence: number) => Append
}
const retired = { type: 'messages-retired', messageIds: [turn], at } as const
const over = (asked: Append, overFence: number): Append => ({
  ...asked,
  lease: { ...lease, turnId: next, overFence },
})
const questions: readonly Question[] = [
  { when: 'after an answer', before: [ended()] },
  { when: 'while one is being made' },
  { when: 'over the fence of one', change: over },
  { when: 'over another fence', change: (asked, fence) => over(asked, fence + 1) },
  { when: 'when the time of one is over', ttlMs: 0 },
  { when: 'from another place', ttlMs: 0, change: (asked) => ({ ...asked, expectedSeq: 1 }) },
  { when: 'with an id that stands', ttlMs: 0, turnId: turn },
  { when: 'with the id of a turn that was retired', before: [ended(), retired], turnId: turn },
  {
    when: 'in a thread that may have to be made',
    ttlMs: 0,
    change: (asked) => ({ ...asked, create: { ...create, title: 'new' } }),
  },
  {
    when: 'in a thread of somebody else',
    ttlMs: 0,
    change: (asked) => ({ ...asked, create: { ...create, ownerId: ben } }),
  },
]

/**
 * What a store answers to a second question, and what it shows then. But for the fence, and for which of
 * several ids is in use, which a database does not say.
 */
async function beginSecond(store: Store, { ttlMs, before = [], turnId = next, change }: Question) {
  const use = ttlMs === undefined ? lease : { ...lease, ttlMs }
  const { fence = 0 } = await append(store, asking.events, { create, lease: use })
  if (before.length > 0) await append(store, before, { lease: { kind: 'release', fence } })
  const said = messageAdded('and?', parseMessageId('and'))
  // As the engine asks: what stands under the id of a new turn is not read.
  const { seq: expectedSeq = 0 } = (await store.readThread(thread)) ?? {}
  const events = [said, started(turnId), ...text('So', turnId)]
  const asked = { threadId: thread, lease: { ...lease, turnId }, expectedSeq, events }
  const result = await commitAppend(store, change?.(asked, fence) ?? asked)
  const {
    fence: given,
    id: __,
    ...told
  } = {
    ...{ fence: undefined, id: undefined },
    ...withoutMarks(result),
  }
  const { activity: _, ...row } = {
    activity: 0,
    ...withoutMarks(await store.readThread(thread)),
  }
  return { told, isNewer: given === undefined || given > fence, page: await readPage(store), row }
}

describe.each(kinds)('a question on %s', (kind) => {
  it.each(questions)('[LG6 CR2] is taken or refused as in memory, $when', async (asked) => {
    const { store } = await openDatabase(kind)
    expect(await beginSecond(store, asked)).toEqual(await beginSecond(memory(), asked))
  })
})
