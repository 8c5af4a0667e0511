import { expect, it } from 'vitest'
import { parseCallId, parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import type { NewEvent } from '../../src/core/event.ts'
import type { Append, Store } from '../../src/store/store.ts'
import {
  ana,
  at,
  begun,
  call,
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
import { openRaw, openStore, temporaryFile } from './temporary-file.ts'

const create = { ownerId: ana, title: '', at }
const lease = { kind: 'acquire', holder: 'a', ttlMs: 60_000, turnId: turn } as const

/** A run that has recorded and started a call, and another process on the same file. */
async function startRun(before: readonly NewEvent[] = []) {
  const file = temporaryFile()
  const store = openStore(file)
  const other = openStore(file)
  const [first] = await store.commit([
    { threadId: thread, create, lease, events: [...before, say('hi'), started()] },
  ])
  if (first?.kind !== 'appended' || first.fence === undefined) throw new Error(first?.kind)
  const { fence, seq } = first
  const write = async (events: readonly NewEvent[], more: Partial<Append> = {}) => {
    const held = { kind: 'hold', fence } as const
    const [result] = await store.commit([{ threadId: thread, lease: held, events, ...more }])
    return result
  }
  expect(await write([recorded(), begun()])).toMatchObject({ kind: 'appended', seq: seq + 2 })
  return { file, store, other, fence, write }
}

const read = (store: Store) => store.readMessage(thread, turn)

it('[LG1 LG4] facts that another process adds in between keep their place', async () => {
  const { store, other, write } = await startRun()
  const elsewhere = { threadId: thread, events: text('from elsewhere') }
  expect(await other.commit([elsewhere])).toMatchObject([{ kind: 'appended', firstSeq: 5 }])
  expect(await write([succeeded(1)])).toMatchObject({ kind: 'appended', firstSeq: 8, seq: 8 })
  expect(await write(text('on'))).toMatchObject({ kind: 'appended', firstSeq: 9 })
  const told = await read(store)
  expect(told).toMatchObject({ lastSeq: 11, unreadable: 0 })
  expect(told).toEqual(await read(other))
})

it('[CL2] a call that another process has settled is not settled again', async () => {
  const { store, other, write } = await startRun()
  await other.commit([{ threadId: thread, events: [succeeded('theirs')] }])
  const refused = { kind: 'illegal', subject: 'call', id: call, state: 'succeeded' }
  expect(await write([succeeded('ours')])).toEqual(refused)
  expect(await store.readCall(thread, call)).toMatchObject({
    call: { state: 'succeeded', output: { value: 'theirs' } },
  })
})

it('[CL2] a call whose row was changed behind its back is looked at again', async () => {
  const { file, write } = await startRun()
  const asked = parseCallId('asked')
  await write([recorded(asked, { approval: 'required' })])
  openRaw(file).exec(`UPDATE calls SET life = 'interrupted'`)
  const refused = { kind: 'illegal', subject: 'call', id: asked, state: 'interrupted' }
  const decision = { kind: 'accepted', by: 'ana', at, inputHash: 'h' } as const
  const decided = fact({ type: 'call-decided', callId: asked, decision })
  expect(await write([decided])).toEqual(refused)
})

it('[CL3] a call gets its row with its result, or when its turn waits; until then its facts tell of it', async () => {
  const { file, store, other, write } = await startRun()
  const raw = openRaw(file)
  const lives = () => raw.prepare('SELECT call_id, life, input, seq FROM calls ORDER BY seq').all()
  const second = parseCallId('second')
  await write([recorded(second, { input: { q: 2 } })])
  expect(lives()).toEqual([])
  expect(await other.readCall(thread, second)).toMatchObject({ call: { state: 'ready' } })
  await write([succeeded(1)])
  expect(lives()).toMatchObject([{ call_id: call, life: 'succeeded', input: '{}', seq: 3 }])
  await write([fact({ type: 'turn-paused', waitingFor: 'client' })])
  expect(lives()).toMatchObject([
    { call_id: call, life: 'succeeded' },
    { call_id: second, life: 'ready', input: '{"q":2}', seq: 5 },
  ])
  expect(await store.readCall(thread, second)).toMatchObject({ call: { state: 'ready' } })
})

it('[LG10] a call of another turn is not taken for a new one; others in the group are stored', async () => {
  const { store, fence } = await startRun(turnWithCalls(1, parseMessageId('earlier')))
  const elsewhere = parseThreadId('elsewhere')
  const results = await store.commit([
    { threadId: elsewhere, create, events: [say('hi')] },
    {
      threadId: thread,
      lease: { kind: 'hold', fence },
      events: [recorded(parseCallId('new')), recorded(parseCallId('earlier-0'))],
    },
  ])
  expect(results).toMatchObject([
    { kind: 'appended', seq: 1 },
    { kind: 'illegal', subject: 'call', id: 'earlier-0', state: 'succeeded' },
  ])
  expect((await store.readThread(elsewhere))?.seq).toBe(1)
  expect(await store.readCall(thread, parseCallId('new'))).toBeNull()
})

it('[CR2] a run that was taken over writes nothing, and one that is told to stop hears of it', async () => {
  const { other, fence, write } = await startRun()
  expect((await other.requestStop(thread)).kind).toBe('requested')
  expect(await write(text('a'))).toMatchObject({ kind: 'appended', stopRequested: true })
  const over = { ...lease, holder: 'b', overFence: fence }
  const [taken] = await other.commit([{ threadId: thread, lease: over, events: [] }])
  expect(taken?.kind).toBe('appended')
  expect((await write(text('b')))?.kind).toBe('fenced')
})

it('[LG3] what was taken back is not remembered', async () => {
  const { file, store, write } = await startRun()
  const raw = openRaw(file)
  raw.exec(`CREATE TRIGGER full_disk BEFORE INSERT ON events
    BEGIN SELECT RAISE(ABORT, 'no room'); END`)
  await expect(write([succeeded(1)])).rejects.toThrow('The database failed.')
  raw.exec('DROP TRIGGER full_disk')
  expect(await write([succeeded(2)])).toMatchObject({ kind: 'appended', firstSeq: 5 })
  expect(await store.readCall(thread, call)).toMatchObject({ call: { output: { value: 2 } } })
  expect(await write([fact({ type: 'call-started', callId: call })])).toMatchObject({
    kind: 'illegal',
    state: 'succeeded',
  })
})
