import { tool } from 'ai'
import {
  createHoldfast,
  foldThread,
  type Holdfast,
  parseMessageId,
  parseThreadId,
  type Store,
  type ThreadId,
  type ThreadView,
} from 'holdfast'
import { type ScriptedCall, scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/engine/clock.ts'
import { createThread } from '../../src/testing/store-rules/thread-script.ts'
import { blocked, openTestDatabase, type TestDatabase, waitFor } from './test-database.ts'

const held = parseThreadId('held')
const others = Array.from({ length: 20 }, (_, index) => parseThreadId(`other-${index}`))

/** Calls a tool, and says what came of it: `slow` in the thread that is held, `quick` in the others. */
const script = ({ prompt }: ScriptedCall) => {
  if (prompt.at(-1)?.role === 'tool') return [{ text: 'Done.' }]
  const isHeld = JSON.stringify(prompt).includes('slowly')
  return [{ text: 'Let me see.' }, { call: isHeld ? 'slow' : 'quick', input: {} }]
}

async function openEngine(database: TestDatabase) {
  const opened = database.open()
  const busy = Promise.withResolvers<void>()
  const store: Store = {
    ...opened,
    async commit(commits) {
      const results = await opened.commit(commits)
      if (results.some(({ kind }) => kind === 'busy')) busy.resolve()
      return results
    },
  }
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<string>()
  const inputSchema = z.object({})
  const execute = async () => {
    begun.resolve()
    return gate.promise
  }
  let skewMs = 0
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(script),
    tools: {
      slow: tool({ description: 'Waits.', inputSchema, execute }),
      quick: tool({ description: 'Is there.', inputSchema, execute: () => 'quick' }),
    },
    recoverEveryMs: 0,
    clock: { ...systemClock, now: () => Date.now() + skewMs },
  })
  onTestFinished(() => holdfast.close())
  for (const id of [held, ...others]) await createThread(store, id)
  return {
    store,
    holdfast,
    /** When the slow tool has begun; and its result, which ends it. */
    begun: begun.promise,
    finish: gate.resolve,
    /** When a commit has met the row that is locked. */
    busy: busy.promise,
    pass: (ms: number) => {
      skewMs += ms
    },
  }
}

const send = (holdfast: Holdfast, threadId: ThreadId, text: string, id: string = threadId) =>
  holdfast.send({
    threadId,
    message: { id: parseMessageId(`message-${id}`), parts: [{ type: 'text', text }] },
  })

/** Follows a thread until its turn has ended, and gives how. */
async function untilEnded(holdfast: Holdfast, threadId: ThreadId): Promise<unknown> {
  let view: ThreadView = { seq: 0, messages: [] }
  for await (const frame of holdfast.subscribe(threadId, 0)) {
    view = foldThread(view, frame.changes)
    const turn = view.messages.at(-1)
    if (turn?.role === 'assistant' && turn.progress.status === 'ended') return turn.progress.ending
  }
  return undefined
}

async function lockRow(database: TestDatabase) {
  const client = await database.connect()
  await client.query('BEGIN')
  await client.query(`SELECT FROM holdfast.threads WHERE id = '${held}' FOR UPDATE`)
  return { release: () => client.query('ROLLBACK') }
}

const completed = { kind: 'completed' }

it('[LG2 LG3] a row lock on one thread keeps no other waiting, and its own turn goes on when it is free', async () => {
  const database = await openTestDatabase()
  const { store, holdfast, begun, busy, finish } = await openEngine(database)
  await send(holdfast, held, 'Do it slowly.')
  await begun
  const lock = await lockRow(database)
  const before = (await store.readThread(held))?.seq
  // Its result is to be written now, and cannot be.
  finish('slow')
  await busy
  const endings = await Promise.all(
    others.map(async (threadId) => {
      expect((await send(holdfast, threadId, 'Do it.')).kind).toBe('started')
      return untilEnded(holdfast, threadId)
    }),
  )
  expect(endings).toEqual(others.map(() => completed))
  expect((await store.readThread(held))?.seq).toBe(before)
  await lock.release()
  expect(await untilEnded(holdfast, held)).toEqual(completed)
})

it('[LG6] a message to a thread whose row is locked is stored when it is free, and answered', async () => {
  const database = await openTestDatabase()
  const { holdfast, store, busy } = await openEngine(database)
  const lock = await lockRow(database)
  const sent = send(holdfast, held, 'Do it.')
  await busy
  await Promise.all(others.map((threadId) => send(holdfast, threadId, 'Do it.')))
  await holdfast.settled()
  for (const id of others) expect(await untilEnded(holdfast, id)).toEqual(completed)
  expect((await store.readThread(held))?.seq).toBe(0)
  await lock.release()
  expect((await sent).kind).toBe('started')
  expect(await untilEnded(holdfast, held)).toEqual(completed)
})

it('[LG3 LG6] a message to a thread whose row stays locked is refused in time, and nothing of it is stored', async () => {
  const database = await openTestDatabase()
  const { holdfast, store, busy, pass } = await openEngine(database)
  const lock = await lockRow(database)
  const sent = send(holdfast, held, 'Do it.').catch((error: unknown) => error)
  await busy
  pass(10_000)
  expect(await sent).toMatchObject({ code: 'store-locked' })
  await lock.release()
  const client = await database.connect()
  for (const table of ['messages', 'events', 'calls']) {
    expect((await client.query(`SELECT FROM holdfast.${table}`)).rows).toEqual([])
  }
  expect(await store.readThread(held)).toMatchObject({ seq: 0 })
  expect((await send(holdfast, held, 'Do it.')).kind).toBe('started')
  expect(await untilEnded(holdfast, held)).toEqual(completed)
})

it('[OP7] what waits for a row that others write all the time stays in the line for it, with few of the connections', async () => {
  const database = await openTestDatabase()
  const store = database.open()
  await createThread(store, held)
  const admin = await database.connect()
  await admin.query('BEGIN')
  await admin.query(`UPDATE holdfast.threads SET seq = seq WHERE id = '${held}'`)
  const set = () => store.setThreadMetadata({ threadId: held, from: {}, to: {} })
  const all = Promise.all(Array.from({ length: 6 }, set))
  // Whoever would come again after a pause could wait for a moment only.
  const long = `${blocked} AND clock_timestamp() - query_start > interval '300 milliseconds'`
  const waiting = await waitFor(await database.connect(), long, (rows) => rows.length > 1)
  expect(waiting).toHaveLength(2)
  await admin.query('COMMIT')
  expect(await all).toEqual(Array.from({ length: 6 }, () => 'set'))
})
