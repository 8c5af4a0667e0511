import { expect, it } from 'vitest'
import { parseCallId, parseMessageId } from '../../src/core/ids.ts'
import type { NewEvent } from '../../src/core/event.ts'
import type { Append, Store } from '../../src/store/store.ts'
import {
  ana,
  at,
  begun,
  call,
  ended,
  fact,
  recorded,
  say,
  started,
  succeeded,
  text,
  thread,
  turn,
  turnWithCalls,
} from '../../src/testing/store-rules/thread-script.ts'
import { openTestDatabase } from './test-database.ts'

const create = { ownerId: ana, title: '', at }
const lease = { kind: 'acquire', holder: 'a', ttlMs: 60_000, turnId: turn } as const
const second = parseCallId('second')

/** A run that has recorded and started a call, and another process on the same database. */
async function startRun(before: readonly NewEvent[] = []) {
  const database = await openTestDatabase()
  const store = database.open()
  const other = database.open()
  const client = await database.connect()
  const [first] = await store.commit([
    { threadId: thread, create, lease, events: [...before, say('hi'), started()] },
  ])
  if (first?.kind !== 'appended' || first.fence === undefined) throw new Error(first?.kind)
  const { fence, seq } = first
  const write = writerOf(store, fence)
  expect(await write([recorded(), begun()])).toMatchObject({ kind: 'appended', seq: seq + 2 })
  const rows = async () => {
    const found = await client.query(
      'SELECT call_id, life, name, input, seq FROM holdfast.calls ORDER BY seq',
    )
    return found.rows as readonly object[]
  }
  return { store, other, client, fence, seq, write, rows }
}

function writerOf(store: Store, fence: number) {
  return async (events: readonly NewEvent[], more: Partial<Append> = {}) => {
    const held = { kind: 'hold', fence } as const
    const [result] = await store.commit([{ threadId: thread, lease: held, events, ...more }])
    return result
  }
}

it('[CL3] a call gets its row with its result, or when its turn waits; until then its facts tell of it', async () => {
  const { store, other, write, rows } = await startRun()
  await write([recorded(second, { input: { q: 2 } })])
  expect(await rows()).toEqual([])
  expect(await other.readCall(thread, second)).toMatchObject({ call: { state: 'ready' } })
  await write([succeeded(1)])
  const done = { call_id: call, life: 'succeeded', name: 'look_up', input: '{}', seq: '3' }
  expect(await rows()).toEqual([done])
  await write([fact({ type: 'turn-paused', waitingFor: 'client' })])
  expect(await rows()).toMatchObject([
    done,
    { call_id: second, life: 'ready', name: 'look_up', input: '{"q":2}', seq: '5' },
  ])
  expect(await store.readCall(thread, second)).toMatchObject({ call: { state: 'ready' } })
})

it('[LG1 CL2] what another process adds in between keeps its place, and what it settles is settled', async () => {
  const { store, other, write } = await startRun()
  await write([recorded(second), begun(second)])
  const elsewhere = { threadId: thread, events: [...text('from elsewhere'), succeeded('theirs')] }
  expect(await other.commit([elsewhere])).toMatchObject([{ kind: 'appended', firstSeq: 7 }])
  const refused = { kind: 'illegal', subject: 'call', id: call, state: 'succeeded' }
  expect(await write([succeeded('ours')])).toEqual(refused)
  expect(await write([succeeded(2, second)])).toMatchObject({ kind: 'appended', firstSeq: 11 })
  expect(await write(text('on'))).toMatchObject({ kind: 'appended', firstSeq: 12 })
  const told = await store.readMessage(thread, turn)
  expect(told).toMatchObject({ lastSeq: 14, unreadable: 0 })
  expect(told).toEqual(await other.readMessage(thread, turn))
})

it('[CL2 CR3] whoever takes over settles calls that have no row, and does not end the turn before', async () => {
  const { other, fence, rows } = await startRun()
  const over = { ...lease, holder: 'b', overFence: fence }
  const [taken] = await other.commit([{ threadId: thread, lease: over, events: [] }])
  const write = writerOf(other, taken?.kind === 'appended' ? (taken.fence ?? 0) : 0)
  expect(await write([recorded()])).toMatchObject({ kind: 'illegal', id: call, state: 'running' })
  const left = { kind: 'illegal', subject: 'turn', id: turn, state: 'open-calls' }
  expect(await write([ended()])).toEqual(left)
  const outcome = { state: 'unknown', cause: 'crashed' } as const
  const unknown = fact({ type: 'call-settled', callId: call, outcome })
  expect(await write([unknown])).toMatchObject({ kind: 'appended' })
  expect(await rows()).toMatchObject([{ life: 'unknown', name: 'look_up', seq: '3' }])
})

it('[CL2] several appends of one turn in a group see what the ones before them did', async () => {
  const { store, fence, rows } = await startRun()
  const held = { kind: 'hold', fence } as const
  const group = [
    [recorded(second), begun(second)],
    [succeeded(1), succeeded(2, second)],
    [succeeded(3, second)],
    [ended()],
  ]
  const appends = group.map((events) => ({ threadId: thread, lease: held, events }))
  expect(await store.commit(appends)).toMatchObject([
    { kind: 'appended' },
    { kind: 'appended' },
    { kind: 'illegal', subject: 'call', id: second, state: 'succeeded' },
    { kind: 'appended' },
  ])
  expect(await rows()).toMatchObject([{ life: 'succeeded' }, { life: 'succeeded' }])
})

it('[LG10] a call of another turn is not taken for a new one', async () => {
  const { write, rows } = await startRun(turnWithCalls(1, parseMessageId('earlier')))
  const before = await rows()
  const earlier = parseCallId('earlier-0')
  expect(await write([recorded(earlier)])).toMatchObject({ kind: 'illegal', id: earlier })
  const failed = { state: 'failed', cause: 'tool-error', error: 'no' } as const
  const events = [
    recorded(earlier),
    fact({ type: 'call-settled', callId: earlier, outcome: failed }),
  ]
  expect(await write(events)).toMatchObject({ kind: 'illegal', id: earlier })
  expect(await rows()).toEqual(before)
})

it('[LG1] calls are settled from two sides while text comes from a third, and nothing is refused', async () => {
  const { store, other, fence, write } = await startRun()
  const ids = Array.from({ length: 12 }, (_, index) => parseCallId(`many-${index}`))
  await write(ids.flatMap((id) => [recorded(id), begun(id)]))
  const results = await Promise.all(
    ids.map((id, index) => {
      const from = index % 2 === 0 ? store : other
      const events = index % 3 === 0 ? [...text('x'), succeeded(index, id)] : [succeeded(index, id)]
      return from.commit([{ threadId: thread, lease: { kind: 'hold', fence }, events }])
    }),
  )
  expect(new Set(results.flat().map(({ kind }) => kind))).toEqual(new Set(['appended']))
  expect(await write([succeeded(0), ended()])).toMatchObject({ kind: 'appended' })
})
