import { expect, it } from 'vitest'
import { parseCallId } from '../../src/core/ids.ts'
import {
  ben,
  begun,
  call,
  ended,
  recorded,
  settled,
  succeeded,
  text,
  thread,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { asking, lease, startRun } from './known-run.ts'
import { openTestDatabase } from './test-database.ts'

const second = parseCallId('second')
const openCalls = { kind: 'illegal', subject: 'turn', id: turn, state: 'open-calls' }

it('[LG1] of all who make a thread at once, in two processes, one does and the others are told', async () => {
  const database = await openTestDatabase()
  const stores = [database.open(), database.open()]
  const asked = Array.from({ length: 4 }, () => stores.map((store) => store.commit([asking])))
  const kinds = (await Promise.all(asked.flat())).flat().map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'appended')).toHaveLength(1)
  expect(kinds.filter((kind) => kind === 'leased')).toHaveLength(7)
  for (const store of stores) {
    expect(await store.readThread(thread)).toMatchObject({ seq: 2 })
    expect(await store.readMessage(thread, turn)).toMatchObject({ seq: 2, lastSeq: 2 })
  }
})

it('[HT2] a thread of somebody else is not made, and not told of', async () => {
  const { other } = await startRun()
  const create = { ownerId: ben, title: '', at: 1 }
  expect(await other.commit([{ ...asking, create }])).toEqual([{ kind: 'no-thread' }])
})

it('[PG6 CR2] a turn that ends leaves its fold, no facts and no lease', async () => {
  const { store, other, fence, write, end, query } = await startRun()
  await write([succeeded('found')])
  expect(await end(5)).toEqual({
    kind: 'appended',
    firstSeq: 6,
    seq: 6,
    fence,
    stopRequested: false,
  })
  expect(await query('SELECT FROM holdfast.events')).toEqual([])
  expect(await query('SELECT seq, lease_holder, lease_turn FROM holdfast.threads')).toEqual([
    { seq: '6', lease_holder: null, lease_turn: null },
  ])
  const told = await store.readMessage(thread, turn)
  expect(told).toMatchObject({ lastSeq: 6, progress: { status: 'ended' } })
  expect(told).toEqual(await other.readMessage(thread, turn))
  expect(await write([recorded(second)])).toMatchObject({ kind: 'fenced' })
})

it('[CL2] a turn does not end while a call of it is open, with or without a row', async () => {
  const { other, fence, write, end } = await startRun()
  expect(await end(4)).toEqual(openCalls)
  await write([recorded(second, { approval: 'required' })])
  expect(await end(5)).toEqual(openCalls)
  const taken = { ...lease, overFence: fence }
  const unknown = settled({ state: 'unknown', cause: 'crashed' }, call)
  const [result] = await other.commit([{ threadId: thread, lease: taken, events: [unknown] }])
  if (result?.kind !== 'appended') throw new Error(result?.kind)
  expect(await end(6, other, result.fence)).toEqual(openCalls)
})

it('[LG1] a run that others have overtaken does not end its turn', async () => {
  const { other, write, end } = await startRun()
  await write([succeeded('found')])
  await other.commit([{ threadId: thread, events: text('from elsewhere') }])
  expect(await end(5)).toEqual({ kind: 'stale', seq: 8 })
})

it('[LG1] a run adds nothing to a turn that others have ended', async () => {
  const { other, write } = await startRun()
  await write([succeeded('found')])
  await other.commit([{ threadId: thread, events: [ended()] }])
  const refused = { kind: 'illegal', subject: 'turn', id: turn, state: 'ended' }
  expect(await write([recorded(second), begun(second)])).toEqual(refused)
})

it('[CR2] a run that was taken over is refused, though nothing was written since', async () => {
  const { other, fence, write, end } = await startRun()
  const taken = { ...lease, overFence: fence }
  await other.commit([{ threadId: thread, lease: taken, events: [] }])
  expect(await write([succeeded('late')])).toMatchObject({ kind: 'fenced' })
  expect(await write([recorded(second)])).toMatchObject({ kind: 'fenced' })
  expect(await end(4)).toMatchObject({ kind: 'fenced' })
})
