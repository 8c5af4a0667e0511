import { renameSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { parseCallId, parseMessageId, parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { callsOf } from '../../src/core/message.ts'
import { commitAppend } from '../../src/store/commit-group.ts'
import { planCommit, type PlannedCommit } from '../../src/store/plan-commit.ts'
import type { Store } from '../../src/store/store.ts'
import { openStore, temporaryFile } from './temporary-file.ts'

const ownerId = parseOwnerId('ann')
const threadId = parseThreadId('long')
const turnId = parseMessageId('a-long')
const callId = (nth: number) => parseCallId(`c-${nth}`)
const mostCalls = 10_000

/** A turn with so many calls that they cannot be written in one slice, in one append. */
function planHugeTurn(expectedSeq: number, calls: number): PlannedCommit {
  const text = 'What was found. '.repeat(30)
  const events: NewEvent[] = [
    { type: 'turn-started', turnId, replyTo: null, at: 1 },
    { type: 'step-started', turnId, step: 0, at: 1 },
  ]
  for (let nth = 0; nth < calls; nth++) {
    const id = callId(nth)
    const call = { id, providerCallId: id, name: 'look_up' }
    const outcome = { state: 'succeeded', output: { kind: 'inline', value: text } } as const
    events.push(
      {
        ...{ type: 'call-recorded', turnId, callId: id, call, input: {} },
        ...{ approval: 'not-required', at: 1 },
      } as const,
      { type: 'call-settled', turnId, callId: id, outcome, at: 1 },
    )
  }
  events.push(
    { type: 'step-ended', turnId, finishReason: 'tool-calls', at: 1 },
    { type: 'turn-ended', turnId, ending: { kind: 'completed' }, at: 1 },
  )
  const planned = planCommit({ threadId, events, expectedSeq })
  if ('kind' in planned) throw new Error(JSON.stringify(planned))
  return planned
}

const create = async (store: Store, id = threadId): Promise<void> => {
  const { kind } = await store.createThread({ id, ownerId, title: '', at: 1 })
  expect(kind).toBe('created')
}

const readWhole = (store: Store) =>
  store.readPage({ threadId, limit: 5, before: null, live: 'include', results: 'full' })

it('[OP7b LG1] a turn of thousands of calls is stored over many turns of the event loop, and nobody sees a part', async () => {
  const store = openStore(temporaryFile())
  await create(store)
  const planned = planHugeTurn(0, mostCalls)
  const over = new AbortController()
  const stored = store.commit([planned]).finally(() => over.abort())
  const seen: unknown[] = []
  while (!over.signal.aborted) {
    await setImmediate()
    const page = await readWhole(store)
    seen.push([page?.seq, page?.messages.length])
  }
  expect(await stored).toEqual([expect.objectContaining({ kind: 'appended', seq: planned.size })])
  expect(seen.length).toBeGreaterThan(3)
  expect(new Set(seen.map((each) => JSON.stringify(each)))).toEqual(
    new Set(['[0,0]', `[${planned.size},1]`]),
  )
  const [turn] = (await readWhole(store))?.messages ?? []
  expect(turn?.role === 'assistant' && [...callsOf(turn)].length).toBe(mostCalls)
})

it('[OP7b LG1] writers wait for it, and it for them', async () => {
  const store = openStore(temporaryFile())
  await create(store)
  const planned = planHugeTurn(0, mostCalls)
  const writeOther = async (nth: number) => {
    const other = parseThreadId(`other-${nth}`)
    await create(store, other)
    const messageId = parseMessageId(`u-${nth}`)
    const parts = [{ type: 'text', text: 'Hello.' }] as const
    const added = { type: 'message-added', messageId, role: 'user', parts, at: 1 } as const
    return commitAppend(store, { threadId: other, events: [added], expectedSeq: 0 })
  }
  const before = writeOther(0)
  const long = store.commit([planned])
  await setImmediate()
  const after = writeOther(1)
  // The second of two that begin on the same seq finds it taken.
  const again = store.commit([planHugeTurn(0, 2_000)])
  expect((await before).kind).toBe('appended')
  expect((await after).kind).toBe('appended')
  expect((await long)[0]?.kind).toBe('appended')
  expect((await again)[0]?.kind).toBe('stale')
})

it('[OP7b LG1] one whose call is in use is refused as a whole', async () => {
  const store = openStore(temporaryFile())
  await create(store)
  const planned = planHugeTurn(0, 1)
  expect((await store.commit([planned]))[0]?.kind).toBe('appended')
  const again = planHugeTurn(planned.size, mostCalls)
  const renamed = {
    ...again,
    newMessages: again.newMessages.map((row) => ({ ...row, id: parseMessageId('a-other') })),
  }
  expect(await store.commit([renamed])).toEqual([
    expect.objectContaining({ kind: 'illegal', subject: 'call' }),
  ])
  const page = await readWhole(store)
  expect([page?.seq, page?.messages.length]).toEqual([planned.size, 1])
})

it('[OP7b] a process that ends in the middle of it leaves nothing of it', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  await create(store)
  const stored = store.commit([planHugeTurn(0, mostCalls)])
  await setImmediate()
  await store.close()
  await expect(stored).rejects.toMatchObject({ code: 'store-closed' })
  const next = openStore(file)
  const page = await readWhole(next)
  expect([page?.seq, page?.messages.length]).toEqual([0, 0])
  expect((await next.commit([planHugeTurn(0, 2)]))[0]?.kind).toBe('appended')
})

it('[OP7b FK1] a text of thousands of words is indexed over many turns of the event loop', async () => {
  const store = openStore(temporaryFile())
  await create(store)
  const [unread] = (await store.search?.findUnread(ownerId, 1)) ?? []
  const words = Array.from({ length: 20_000 }, (_, nth) => `word${nth}`)
  const over = new AbortController()
  const { incarnation = '', from = -1 } = unread ?? {}
  const texts = [{ seq: 0, at: 1, words }]
  const added = store.search
    ?.addTexts({ threadId, incarnation, from, to: 0, texts })
    .finally(() => over.abort())
  let turns = 0
  for (; !over.signal.aborted; turns++) await setImmediate()
  await added
  expect(turns).toBeGreaterThan(3)
  expect(await store.search?.findUnread(ownerId, 1)).toEqual([])
})

it('[OP8 OP7b] it is not written into a file that was put in the place of the open one', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  await create(store)
  for (const end of ['', '-wal', '-shm']) renameSync(`${file}${end}`, `${file}-old${end}`)
  const other = openStore(file)
  await create(other)
  await expect(store.commit([planHugeTurn(0, mostCalls)])).rejects.toMatchObject({
    code: 'store-replaced',
  })
  const page = await readWhole(other)
  expect([page?.seq, page?.messages.length]).toEqual([0, 0])
})

it('[OP7b] it finds the file wherever the process has gone since', async () => {
  const file = temporaryFile()
  const before = process.cwd()
  onTestFinished(() => process.chdir(before))
  process.chdir(dirname(file))
  const store = openStore(basename(file))
  await create(store)
  process.chdir(before)
  expect((await store.commit([planHugeTurn(0, mostCalls)]))[0]?.kind).toBe('appended')
  expect((await readWhole(store))?.messages).toHaveLength(1)
})
