import { tool } from 'ai'
import {
  createHoldfast,
  foldThread,
  type Holdfast,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
  type ThreadId,
  type ThreadView,
} from 'holdfast'
import { type ScriptedCall, scriptedModel } from 'holdfast/testing'
import type pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { callsOf } from '../../src/core/message.ts'
import type { PostgresStoreOptions } from '../../src/store/postgres/index.ts'
import { type PlannedCommit, planCommit } from '../../src/store/plan-commit.ts'
import {
  append,
  createThread,
  ended,
  started,
  thread,
} from '../../src/testing/store-rules/thread-script.ts'
import { blocked, openTestDatabase, type TestDatabase } from './test-database.ts'

const held = parseThreadId('held')
const others = Array.from({ length: 20 }, (_, index) => parseThreadId(`other-${index}`))
const completed = { kind: 'completed' }

/** Calls a tool that needs a person where it is said, and says what came of it. */
const script = ({ prompt }: ScriptedCall) => {
  if (prompt.at(-1)?.role === 'tool') return [{ text: 'Done.' }]
  const asks = JSON.stringify(prompt).includes('carefully')
  return [{ text: 'Let me see.' }, { call: asks ? 'careful' : 'quick', input: {} }]
}

function openEngine(database: TestDatabase, options: PostgresStoreOptions = {}) {
  const store = database.open(options)
  const inputSchema = z.object({})
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(script),
    tools: {
      quick: tool({ description: 'Is there.', inputSchema, execute: () => 'quick' }),
      careful: tool({ inputSchema, needsApproval: true, execute: () => 'careful' }),
    },
    recoverEveryMs: 0,
    leaseMs: 60_000,
  })
  onTestFinished(() => holdfast.close())
  return holdfast
}

const send = (holdfast: Holdfast, threadId: ThreadId, text: string) =>
  holdfast.send({
    threadId,
    create: { ownerId: parseOwnerId('ana'), title: '' },
    message: { id: parseMessageId(`message-${threadId}`), parts: [{ type: 'text', text }] },
  })

/** Follows a thread until its turn is as it should be. */
async function untilTurn(holdfast: Holdfast, threadId: ThreadId, status: 'waiting' | 'ended') {
  let view: ThreadView = { seq: 0, messages: [] }
  for await (const frame of holdfast.subscribe(threadId, 0)) {
    view = foldThread(view, frame.changes)
    const turn = view.messages.at(-1)
    if (turn?.role === 'assistant' && turn.progress.status === status) return turn
  }
  throw new Error('The stream has ended.')
}

async function answerAll(holdfast: Holdfast, round: string): Promise<number> {
  const began = performance.now()
  const endings = await Promise.all(
    others.map(async (id) => {
      const threadId = parseThreadId(`${id}-${round}`)
      await send(holdfast, threadId, 'Do it.')
      return (await untilTurn(holdfast, threadId, 'ended')).progress
    }),
  )
  expect(endings).toMatchObject(others.map(() => ({ ending: completed })))
  return performance.now() - began
}

async function lock(client: pg.Client, statement: string) {
  await client.query('BEGIN')
  await client.query(statement)
  return { release: () => client.query('ROLLBACK') }
}

describe('a row that somebody holds', () => {
  it.each([
    ['a call', `SELECT FROM holdfast.calls WHERE thread_id = 'held' FOR UPDATE`],
    ['a message', `SELECT FROM holdfast.messages WHERE thread_id = 'held' FOR UPDATE`],
    ['a thread', `SELECT FROM holdfast.threads WHERE id = 'held' FOR UPDATE`],
  ])(
    '[LG3a] that of %s keeps no other thread waiting, and its own goes on when it is free',
    async (_, statement) => {
      const database = await openTestDatabase()
      const holdfast = openEngine(database)
      await send(holdfast, held, 'Do it carefully.')
      const waiting = await untilTurn(holdfast, held, 'waiting')
      const [call] = [...callsOf(waiting)]
      const free = await answerAll(holdfast, 'free')
      const { release } = await lock(await database.connect(), statement)
      // Its result changes the rows that are held.
      const decided = holdfast.decide({
        threadId: held,
        by: 'ana',
        decisions: [{ callId: call!.id, decision: 'accept' }],
      })
      const busy = await answerAll(holdfast, 'busy')
      expect(busy).toBeLessThan(free + 2_500)
      expect((await holdfast.store.findTurn(waiting.id))?.turn.progress.status).not.toBe('ended')
      await release()
      expect(await decided).toEqual([{ kind: 'accepted' }])
      expect((await untilTurn(holdfast, held, 'ended')).progress).toMatchObject({
        ending: completed,
      })
    },
    60_000,
  )
})

describe('rows of many threads that somebody holds', () => {
  it.each(['calls', 'messages'])(
    '[LG3a OP7] those of %s keep no other thread waiting that is written with them',
    async (table) => {
      const database = await openTestDatabase()
      const holdfast = openEngine(database)
      const locked = Array.from({ length: 5 }, (_, index) => parseThreadId(`held-${index}`))
      const free = Array.from({ length: 5 }, (_, index) => parseThreadId(`free-${index}`))
      const begin = async (threadId: ThreadId) => {
        await send(holdfast, threadId, 'Do it carefully.')
        const [call] = [...callsOf(await untilTurn(holdfast, threadId, 'waiting'))]
        return { threadId, callId: call!.id }
      }
      const asked = await Promise.all([...locked, ...free].map(begin))
      const lockRows = async (ids: string) =>
        lock(
          await database.connect(),
          `SELECT FROM holdfast.${table} WHERE thread_id SIMILAR TO '${ids}' FOR UPDATE`,
        )
      const first = await lockRows('held-[0-2]')
      const last = await lockRows('held-[34]')
      const began = performance.now()
      const decided = asked.map(async ({ threadId, callId }) => {
        const decisions = [{ callId, decision: 'accept' }] as const
        const outcome = await holdfast.decide({ threadId, by: 'ana', decisions })
        return { outcome, ms: performance.now() - began }
      })
      for (const { outcome, ms } of await Promise.all(decided.slice(locked.length))) {
        expect(outcome).toEqual([{ kind: 'accepted' }])
        expect(ms).toBeLessThan(1_500)
      }
      // Those that are tried in vain are tried in turn.
      for (const [{ release }, waiting] of [
        [last, decided.slice(3)],
        [first, decided],
      ] as const) {
        await release()
        for (const { outcome } of await Promise.all(waiting)) {
          expect(outcome).toEqual([{ kind: 'accepted' }])
        }
      }
      for (const threadId of [...locked, ...free]) {
        expect((await untilTurn(holdfast, threadId, 'ended')).progress).toMatchObject({
          ending: completed,
        })
      }
    },
    60_000,
  )
})

describe('rows of very many threads that somebody holds', () => {
  it.each([20, 100])(
    '[LG3a OP7] %i: a commit of a thread that nobody holds is stored the first time it is tried',
    async (most) => {
      const database = await openTestDatabase()
      const store = database.open()
      const ids = Array.from({ length: most }, (_, index) => parseThreadId(`held-${index}`))
      const free = Array.from({ length: 5 }, (_, index) => parseThreadId(`free-${index}`))
      for (const id of [...ids, ...free]) {
        await createThread(store, id)
        await append(store, [started(parseMessageId(id))], { threadId: id })
      }
      const planEnd = async (threadId: ThreadId): Promise<PlannedCommit> => {
        const found = await store.findTurn(parseMessageId(threadId))
        const { turn, seq: expectedSeq } = found!
        const planned = planCommit({
          threadId,
          expectedSeq,
          turns: [turn],
          events: [ended(turn.id)],
        })
        if ('kind' in planned) throw new Error(planned.kind)
        return planned
      }
      const commits = await Promise.all([...ids, ...free].map(planEnd))
      const { release } = await lock(
        await database.connect(),
        `SELECT FROM holdfast.messages WHERE thread_id LIKE 'held-%' FOR UPDATE`,
      )
      const began = performance.now()
      const kinds = (await store.commit(commits)).map(({ kind }) => kind)
      const ms = performance.now() - began
      expect(kinds).toEqual([...ids.map(() => 'busy'), ...free.map(() => 'appended')])
      expect(ms).toBeLessThan(1_500)
      await release()
      const again = await store.commit(commits.slice(0, most))
      expect(again.map(({ kind }) => kind)).toEqual(ids.map(() => 'appended'))
    },
    60_000,
  )

  it.each<[string, (store: Store, threadId: ThreadId) => Promise<unknown> | undefined]>([
    ['stops', (store, id) => store.requestStop(id)],
    ['deletions', (store, id) => store.deleteThread(id)],
    [
      'changes of metadata',
      (store, threadId) => store.setThreadMetadata({ threadId, from: {}, to: { to: 'b' } }),
    ],
    [
      'links',
      (store, id) => store.shares?.begin({ id, threadId: id, at: 1, most: 1, unfinishedBefore: 0 }),
    ],
  ])(
    '[LG3a OP7] %s of them that wait leave connections to all others, and are done when they are free',
    async (_, act) => {
      const database = await openTestDatabase()
      // With a patience that outlasts a slow machine: how long a verb waits for a lock is not what is tested here.
      const store = database.open({ poolSize: 3, statementTimeoutMs: 60_000 })
      const locked = Array.from({ length: 20 }, (_each, index) => parseThreadId(`held-${index}`))
      for (const threadId of locked) {
        await createThread(store, threadId)
        const turnId = parseMessageId(threadId)
        const lease = { kind: 'acquire', holder: 'one', ttlMs: 60_000, turnId } as const
        await append(store, [started(turnId)], { threadId, lease })
      }
      const { release } = await lock(
        await database.connect(),
        `SELECT FROM holdfast.threads FOR UPDATE`,
      )
      let done = 0
      const acts = locked.map(async (id) => {
        await act(store, id)
        done++
      })
      const settled = Promise.allSettled(acts)
      for (const threadId of locked) {
        expect((await store.readThread(threadId))?.id).toBe(threadId)
      }
      expect(done).toBe(0)
      await release()
      expect((await settled).filter(({ status }) => status === 'rejected')).toEqual([])
      expect(done).toBe(locked.length)
    },
    60_000,
  )
})

describe('a table that somebody holds', () => {
  it.each(['threads', 'messages', 'events', 'calls'])(
    '[LG3a] %s: whoever wants it is refused as locked in time, nothing is half stored, and all goes on after',
    async (table) => {
      const database = await openTestDatabase()
      const holdfast = openEngine(database, { statementTimeoutMs: 2_000 })
      await answerAll(holdfast, 'free')
      const client = await database.connect()
      const { release } = await lock(
        client,
        `LOCK TABLE holdfast.${table} IN ACCESS EXCLUSIVE MODE`,
      )
      const began = performance.now()
      const outcome = await send(holdfast, held, 'Do it.').then(
        () => 'taken',
        (error: unknown) => error,
      )
      expect(performance.now() - began).toBeLessThan(8_000)
      // Where its rows need not be read or written yet, a message is taken, and its answer waits.
      if (outcome !== 'taken')
        expect(outcome).toMatchObject({ code: 'store-locked', isTemporary: true })
      await release()
      if (outcome !== 'taken') {
        expect((await send(holdfast, held, 'Do it.')).kind).toBe('started')
      }
      expect((await untilTurn(holdfast, held, 'ended')).progress).toMatchObject({
        ending: completed,
      })
      await answerAll(holdfast, 'after')
    },
    60_000,
  )

  it('[LG3b OP7] what is asked again and again leaves no statement waiting on the server', async () => {
    const database = await openTestDatabase()
    const store = database.open({ statementTimeoutMs: 500 })
    await createThread(store)
    const client = await database.connect()
    const { release } = await lock(client, `LOCK TABLE holdfast.threads IN ACCESS EXCLUSIVE MODE`)
    for (const read of [() => store.findAbandonedRuns(10), () => store.readSeqs?.([thread])]) {
      const fault = await read()?.catch((error: unknown) => error)
      expect(fault).toMatchObject({ code: 'store-locked' })
    }
    expect((await client.query(blocked)).rows).toEqual([])
    await release()
    expect(await store.findAbandonedRuns(10)).toEqual([])
  })
})
