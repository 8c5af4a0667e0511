import { expect, it } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { type MessageId, parseCallId, parseMessageId } from '../../src/core/ids.ts'
import { memory } from '../../src/store/memory/index.ts'
import type { Append, Store } from '../../src/store/store.ts'
import { readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  ana,
  append,
  at,
  ben,
  begun,
  call,
  ended,
  recorded,
  say,
  settled,
  started,
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
  expect(kinds.filter((kind) => kind === 'stale')).toHaveLength(7)
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

const next = parseMessageId('next')
const retired = { type: 'messages-retired', messageIds: [turn], at } as const
interface Question {
  readonly when: string
  readonly ttlMs?: number
  readonly before?: readonly NewEvent[]
  readonly turnId?: MessageId
  readonly change?: (append: Append, fence: number) => Append
}
const questions: readonly Question[] = [
  { when: 'after an answer', before: [ended()] },
  { when: 'while one is being made' },
  { when: 'over the fence of one', change: (append, fence) => over(append, fence) },
  { when: 'over another fence', change: (append, fence) => over(append, fence + 1) },
  { when: 'when the time of one is over', ttlMs: 0 },
  { when: 'from another place', ttlMs: 0, change: (append) => ({ ...append, expectedSeq: 1 }) },
  { when: 'with an id that stands', ttlMs: 0, turnId: turn },
  { when: 'with the id of a turn that was retired', before: [ended(), retired], turnId: turn },
  {
    when: 'in a thread that may have to be made',
    ttlMs: 0,
    change: (append) => ({ ...append, create: { ownerId: ana, title: 'new', at } }),
  },
  {
    when: 'in a thread of somebody else',
    ttlMs: 0,
    change: (append) => ({ ...append, create: { ownerId: ben, title: '', at } }),
  },
]
const over = (append: Append, overFence: number): Append => ({
  ...append,
  lease: { ...lease, turnId: next, overFence },
})

/** What a store says of it, but for the fence, and what it shows then. */
async function ask(store: Store, { ttlMs, before = [], turnId = next, change }: Question) {
  const use = ttlMs === undefined ? lease : { ...lease, ttlMs }
  const [first] = await store.commit([{ ...asking, lease: use }])
  if (first?.kind !== 'appended') throw new Error(first?.kind)
  const { fence = 0 } = first
  const release = { kind: 'release', fence } as const
  if (before.length > 0) await append(store, before, { lease: release })
  const { seq = 0 } = (await store.readThread(thread)) ?? {}
  const said = say('and?', parseMessageId('and'))
  const question = { threadId: thread, lease: { ...lease, turnId }, expectedSeq: seq }
  const whole = { ...question, events: [said, started(turnId), ...text('So', turnId)] }
  const [result] = await store.commit([change?.(whole, fence) ?? whole])
  const { fence: given, ...told } = { fence: undefined, ...result }
  const page = await readPage(store, { threadId: thread })
  const { activity, ...row } = (await store.readThread(thread)) ?? {}
  return { told, isNewer: given === undefined || given > fence, page, row }
}

it.each(questions)(
  '[LG6 CR2] a question is taken or refused as in memory, $when',
  async (asked) => {
    const database = await openTestDatabase()
    expect(await ask(database.open(), asked)).toEqual(await ask(memory(), asked))
  },
)
