import { expect, it } from 'vitest'
import { parseCallId } from '../../src/core/ids.ts'
import {
  begun,
  call,
  ended,
  fact,
  recorded,
  succeeded,
  text,
  thread,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { startRun } from './known-run.ts'

const second = parseCallId('second')
const callRows = 'SELECT call_id, life, name, input, seq FROM holdfast.calls ORDER BY seq'

it('[CL3] a call gets its row with its result, or when its turn waits; until then its facts tell of it', async () => {
  const { store, other, write, query } = await startRun()
  await write([recorded(second, { input: { q: 2 } })])
  expect(await query(callRows)).toEqual([])
  expect(await other.readCall(thread, second)).toMatchObject({ call: { state: 'ready' } })
  await write([succeeded(1)])
  const done = { call_id: call, life: 'succeeded', name: 'look_up', input: '{}', seq: '3' }
  expect(await query(callRows)).toEqual([done])
  await write([fact({ type: 'turn-paused', waitingFor: 'client' })])
  expect(await query(callRows)).toMatchObject([
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
