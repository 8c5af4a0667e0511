import { renameSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { checkStore } from '../../src/audit/check-store.ts'
import type { NewEvent } from '../../src/core/event.ts'
import { parseCallId, parseMessageId, parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { callsOf } from '../../src/core/message.ts'
import type { MessageVersion } from '../../src/core/versions.ts'
import { commitAppend } from '../../src/store/commit-group.ts'
import { planCommit, type PlannedCommit } from '../../src/store/plan-commit.ts'
import { createConnection } from '../../src/store/sqlite/connection.ts'
import { ledgerSql } from '../../src/store/sqlite/ledger-sql.ts'
import { readPath } from '../../src/store/sqlite/read-rows.ts'
import type { Store } from '../../src/store/store.ts'
import { turnsDuring } from '../support/turns-during.ts'
import { openStore, temporaryFile } from './temporary-file.ts'
import { whenRun } from './when-run.ts'

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

const manyMessages = 10_000

/** A thread of many messages, each an event of its own, so that the seq of each is its number. */
async function createLong(store: Store): Promise<readonly MessageVersion[]> {
  await create(store)
  const messages = Array.from({ length: manyMessages }, (_, nth) => ({
    id: parseMessageId(`u-${nth + 1}`),
    seq: nth + 1,
  }))
  const parts = [{ type: 'text', text: 'What was asked. '.repeat(10) }] as const
  const added = messages.map(({ id }): NewEvent => ({
    type: 'message-added',
    messageId: id,
    role: 'user',
    parts,
    at: 1,
  }))
  const result = await commitAppend(store, { threadId, events: added, expectedSeq: 0 })
  expect(result.kind).toBe('appended')
  return messages
}

const hiding = (messages: readonly MessageVersion[]): NewEvent => ({
  type: 'messages-retired',
  at: 1,
  messageIds: messages.map(({ id }) => id),
  kept: { after: 0, places: messages.map(({ seq }) => seq) },
})

/** What a reader sees in every turn of the event loop while work is done. */
async function seenDuring(store: Store, work: Promise<unknown>) {
  const over = new AbortController()
  const working = work.finally(() => over.abort())
  const seen: unknown[] = []
  while (!over.signal.aborted) {
    await setImmediate()
    const page = await readWhole(store)
    seen.push([page?.seq, page?.messages[0]?.id])
  }
  await working
  return { turns: seen.length, states: [...new Set(seen.map((each) => JSON.stringify(each)))] }
}

it('[OP7b VR2] thousands of messages are hidden and shown over many turns of the event loop, and nobody sees a part', async () => {
  const store = openStore(temporaryFile())
  const messages = await createLong(store)
  const edit: NewEvent = {
    type: 'message-added',
    ...{ messageId: parseMessageId('u-1'), role: 'user' as const, at: 1 },
    parts: [{ type: 'text', text: 'Asked again.' }],
    versionOf: messages.slice(0, 1),
  }
  const hidden = await seenDuring(
    store,
    commitAppend(store, {
      ...{ threadId, expectedSeq: manyMessages },
      events: [hiding(messages), edit],
    }),
  )
  expect(hidden.turns).toBeGreaterThan(8)
  expect(hidden.states).toEqual([
    JSON.stringify([manyMessages, `u-${manyMessages}`]),
    JSON.stringify([manyMessages + 2, 'u-1']),
  ])
  const read = await turnsDuring(() => store.readPath(threadId, 'u-1@1'))
  expect(read.turns).toBeGreaterThan(1)
  const { hide = [], show = [] } = read.result ?? {}
  expect([hide, show]).toEqual([[{ id: 'u-1', seq: manyMessages + 2 }], messages])
  const shown = await seenDuring(
    store,
    commitAppend(store, {
      ...{ threadId, expectedSeq: manyMessages + 2 },
      events: [hiding(hide), { type: 'messages-shown', at: 1, places: show.map(({ seq }) => seq) }],
    }),
  )
  expect(shown.turns).toBeGreaterThan(8)
  expect(shown.states).toEqual([
    JSON.stringify([manyMessages + 2, 'u-1']),
    JSON.stringify([manyMessages + 4, `u-${manyMessages}`]),
  ])
  expect(await checkStore(store)).toMatchObject({ found: 0 })
})

it('[OP7b VR2] a path that is read over many turns is that of one state of the thread', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  const messages = await createLong(store)
  await commitAppend(store, { threadId, expectedSeq: manyMessages, events: [hiding(messages)] })
  const connection = createConnection(file, 100)
  onTestFinished(() => connection.close())
  const added: MessageVersion[] = []
  const path = await readPath(
    {
      async read(work) {
        const found = connection.read(work)
        // Somebody writes after each of its reads, until it has the whole path in one.
        const id = parseMessageId(`new-${added.length + 1}`)
        const expectedSeq = manyMessages + 1 + added.length
        const event = { type: 'message-added', messageId: id, role: 'user', parts: [] } as const
        await commitAppend(store, { threadId, events: [{ ...event, at: 1 }], expectedSeq })
        added.push({ id, seq: expectedSeq + 1 })
        return found
      },
    },
    threadId,
    'u-1',
  )
  // All that was there before the last read, and nothing of what was written since.
  const hide = added.slice(0, -1)
  expect(hide).toHaveLength(2)
  expect(path).toMatchObject({ seq: manyMessages + 3, hide, show: messages })
})

it('[OP7b LE8] a long thread is rewritten over many turns of the event loop, and nobody sees a part', async () => {
  const store = openStore(temporaryFile())
  const messages = await createLong(store)
  const retired: NewEvent = {
    ...{ type: 'messages-retired', from: 1, at: 1 },
    messageIds: messages.map(({ id }) => id),
  }
  const parts = [{ type: 'text', text: 'Better.' }] as const
  const again = messages.map(({ id }): NewEvent => ({
    type: 'message-added',
    messageId: id,
    role: 'user',
    parts,
    at: 1,
  }))
  const appends = [[retired], again]
  const rewritten = await seenDuring(
    store,
    store.rewriteThread?.({ threadId, expectedSeq: manyMessages, from: 1, appends }) ??
      Promise.reject(new Error('It cannot.')),
  )
  expect(rewritten.turns).toBeGreaterThan(8)
  expect(rewritten.states).toEqual([
    JSON.stringify([manyMessages, `u-${manyMessages}`]),
    JSON.stringify([2 * manyMessages + 1, `u-${manyMessages}`]),
  ])
  expect(await checkStore(store)).toMatchObject({ found: 0 })
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
  const begun = whenRun(ledgerSql.insertCall)
  const long = store.commit([planned])
  await begun
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
  const begun = whenRun(ledgerSql.insertCall)
  const stored = store.commit([planHugeTurn(0, mostCalls)])
  await begun
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
  const { incarnation = '', from = -1 } = unread ?? {}
  const texts = [{ seq: 0, at: 1, words }]
  const { turns } = await turnsDuring(
    async () => await store.search?.addTexts({ threadId, incarnation, from, to: 0, texts }),
  )
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

it('[OP7b] a rewrite in memory goes over many turns of the event loop, and nobody sees a part', async () => {
  const store = openStore(':memory:')
  await create(store)
  const text = 'What was said. '.repeat(30)
  const add = (nth: number) =>
    ({
      type: 'message-added',
      messageId: parseMessageId(`m-${nth}`),
      role: 'user',
      parts: [{ type: 'text', text }],
      at: 1,
    }) as const
  const appends = Array.from({ length: 100 }, (_, from) =>
    Array.from({ length: 100 }, (_item, nth) => add(from * 100 + nth)),
  )
  const over = new AbortController()
  const rewrite = { threadId, expectedSeq: 0, from: 1, appends }
  const rewritten = store.rewriteThread?.(rewrite).finally(() => over.abort())
  const seen = new Set<number | undefined>()
  let turns = 0
  for (; !over.signal.aborted; turns++) {
    await setImmediate()
    void store.readThread(threadId).then((found) => seen.add(found?.seq))
  }
  expect(await rewritten).toBe('rewritten')
  seen.add((await store.readThread(threadId))?.seq)
  expect(turns).toBeGreaterThan(10)
  expect([...seen].filter((seq) => seq !== 0)).toEqual([10_000])
})

it('[OP7b FL2] a message with thousands of addresses of files is stored over many turns of the event loop', async () => {
  const store = openStore(temporaryFile())
  await create(store)
  const address = (nth: number) => `/api/files/file_${nth.toString(16).padStart(32, '0')}`
  const parts = Array.from({ length: 20_000 }, (_, nth) => {
    return { type: 'file', mediaType: 'text/plain', url: address(nth) } as const
  })
  const messageId = parseMessageId('m')
  const event = { type: 'message-added', messageId, role: 'user', at: 1, parts } as const
  const planned = planCommit({ threadId, events: [event], expectedSeq: 0 })
  if ('kind' in planned) throw new Error(JSON.stringify(planned))
  expect(planned.files).toHaveLength(parts.length)
  const { turns, result } = await turnsDuring(() => store.commit([planned]))
  expect(result).toEqual([expect.objectContaining({ kind: 'appended', seq: 1 })])
  expect(turns).toBeGreaterThan(3)
})

it('[OP7b] a page of messages with hundreds of thousands of values is read over several turns of the event loop', async () => {
  const store = openStore(temporaryFile())
  await create(store)
  const parts = [{ type: 'text', text: 'See these.' }] as const
  const metadata = { found: Array.from({ length: 200_000 }, () => []) }
  for (let nth = 0; nth < 4; nth++) {
    const said = { messageId: parseMessageId(`m-${nth}`), role: 'user', parts, metadata } as const
    const events = [{ type: 'message-added', at: 1, ...said }] as const
    await commitAppend(store, { threadId, events, expectedSeq: nth })
  }
  const { turns, result } = await turnsDuring(() => readWhole(store))
  expect(result?.messages).toHaveLength(4)
  expect(turns).toBeGreaterThan(3)
})
