import { tool } from 'ai'
import {
  callsOf,
  createHoldfast,
  foldThread,
  type Holdfast,
  type Message,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
  type ThreadView,
  type Turn,
} from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { type ScriptedCall, type ScriptPart, scriptedModel } from 'holdfast/testing'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { createDatabase } from '../support/create-database.ts'
import { gate } from './fixture.ts'

const threadId = parseThreadId('thread')
let database: Awaited<ReturnType<typeof createDatabase>>
let closing: (() => Promise<void>)[] = []

beforeEach(async () => {
  database = await createDatabase(inject('postgresUrl'))
})
afterEach(async () => {
  for (const close of closing) await close()
  closing = []
  await database.drop()
})

type Options = Partial<Parameters<typeof createHoldfast>[0]>

async function serve(
  script: (call: ScriptedCall) => readonly ScriptPart[],
  options: Options = {},
  url = database.url,
): Promise<{ readonly holdfast: Holdfast; readonly store: Store }> {
  const store = postgres(url)
  const model = scriptedModel(script)
  const holdfast = createHoldfast({ store, model, recoverEveryMs: 50, leaseMs: 1_000, ...options })
  closing.push(async () => {
    await holdfast.close()
    await store.close()
  })
  const ownerId = parseOwnerId('owner')
  await store.createThread({ id: threadId, ownerId, title: '', at: 1 })
  return { holdfast, store }
}

const sendGo = (holdfast: Holdfast, id = 'u1') =>
  holdfast.send({
    threadId,
    message: { id: parseMessageId(id), parts: [{ type: 'text', text: 'go' }] },
  })

/** Follows until the last turn fits, and keeps every state on the way. */
async function until(
  holdfast: Holdfast,
  fits: (turn: Turn) => boolean,
): Promise<{ readonly states: readonly ThreadView[]; readonly turn: Turn }> {
  const states: ThreadView[] = []
  let view: ThreadView = { seq: 0, messages: [] }
  const stop = new AbortController()
  for await (const frame of holdfast.subscribe(threadId, 0, stop.signal)) {
    expect(frame.after).toBe(view.seq)
    view = foldThread(view, frame.changes)
    states.push(view)
    const turn = view.messages.at(-1)
    if (turn?.role === 'assistant' && fits(turn)) {
      stop.abort()
      return { states, turn }
    }
  }
  throw new Error('the thread ended')
}

const hasEnded = ({ progress }: Turn) => progress.status === 'ended'
const pageOf = async (store: Store): Promise<readonly Message[]> => {
  const query = { threadId, limit: 50, before: null, live: 'include', results: 'full' } as const
  return (await store.readPage(query))?.messages.toReversed() ?? []
}

/** Words with a pause between each, so that there are many commits. */
const slowly = (count: number): readonly ScriptPart[] =>
  Array.from({ length: count }, (_, index) => [{ text: `${index} ` }, { waitMs: 40 }]).flat()

describe('two servers on one PostgreSQL', () => {
  it('[RS7 LG4] stream on one and are followed on the other', async () => {
    const one = await serve(() => slowly(20))
    const two = await serve(() => [])
    const following = until(two.holdfast, hasEnded)
    await sendGo(one.holdfast)
    const { states, turn } = await following
    expect(states.length).toBeGreaterThan(5)
    expect(states.at(-1)?.messages).toEqual(await pageOf(one.store))
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
  })

  it('[RS7 ST1] stop from the other', async () => {
    const one = await serve(() => [{ text: 'working' }, { waitMs: 60_000 }])
    const two = await serve(() => [])
    await sendGo(one.holdfast)
    await until(two.holdfast, ({ steps }) => steps[0]?.parts[0] !== undefined)
    expect(await two.holdfast.stop(threadId)).toEqual({ kind: 'stopped', held: 0 })
    const [, turn] = await pageOf(two.store)
    expect(turn).toMatchObject({ progress: { ending: { kind: 'stopped' } } })
  })

  it('[AP2 AP5 RS7] decide on the other, which goes on with the turn', async () => {
    const ran: string[] = []
    const options = (where: string): Options => ({
      tools: {
        remove: tool({ inputSchema: z.object({}), execute: () => ({ by: ran.push(where) }) }),
      },
      policies: { remove: { approval: 'always' } },
    })
    const script = ({ prompt }: ScriptedCall): readonly ScriptPart[] =>
      prompt.some(({ role }) => role === 'tool')
        ? [{ text: 'ok' }]
        : [{ call: 'remove', input: {} }]
    const one = await serve(script, options('one'))
    const two = await serve(script, options('two'))
    await sendGo(one.holdfast)
    const { turn } = await until(two.holdfast, ({ progress }) => progress.status === 'waiting')
    const [call] = callsOf(turn)
    const decisions = [{ callId: call?.id as never, decision: 'accept' }] as const
    const both = await Promise.all([
      two.holdfast.decide({ threadId, by: 'ann', decisions }),
      one.holdfast.decide({ threadId, by: 'bob', decisions }),
    ])
    expect(
      both
        .flat()
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(['accepted', 'already-decided'])
    await until(one.holdfast, hasEnded)
    expect(ran).toHaveLength(1)
  })

  it('[CR2 CR5] one is cut off from the database in mid-turn, and the other carries on', async () => {
    const begun = gate()
    const look = tool({
      inputSchema: z.object({}),
      execute: () => {
        begun.open()
        return new Promise<string>(() => {})
      },
    })
    const again = tool({ inputSchema: z.object({}), execute: () => 'seen' })
    const policies = { look: { repeatable: true } }
    const script = ({ prompt }: ScriptedCall): readonly ScriptPart[] =>
      prompt.some(({ role }) => role === 'tool') ? [{ text: 'ok' }] : [{ call: 'look', input: {} }]
    const one = await serve(script, { tools: { look }, policies })
    await sendGo(one.holdfast)
    await begun.opened
    // Not closed in order: from here on nothing that it does arrives.
    await one.store.close()
    const two = await serve(script, { tools: { look: again }, policies })
    const { turn } = await until(two.holdfast, hasEnded)
    expect([...callsOf(turn)]).toMatchObject([{ state: 'succeeded', output: { value: 'seen' } }])
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
  })

  it('[RS2 RS7] lose their listening connection in mid-stream and miss nothing', async () => {
    const one = await serve(() => slowly(60))
    const two = await serve(() => [])
    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    let cuts = 0
    const cut = async () => {
      const { rowCount } = await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND query ILIKE 'listen%'`,
      )
      cuts += rowCount ?? 0
    }
    const following = until(two.holdfast, (turn) => {
      if (cuts === 0 && turn.steps[0]?.parts[3] !== undefined) void cut()
      return hasEnded(turn)
    })
    await sendGo(one.holdfast)
    const { states } = await following
    await admin.end()
    expect(cuts).toBeGreaterThan(0)
    expect(states.at(-1)?.messages).toEqual(await pageOf(one.store))
  })

  it('[RS2 RS7] one stores a change and notifies nobody of it, as when it dies there: the other finds it', async () => {
    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    await admin.query('CREATE SCHEMA mute')
    await admin.query(
      `CREATE FUNCTION mute.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT'`,
    )
    await admin.end()
    const mute = new URL(database.url)
    mute.searchParams.set('options', '-c search_path=mute,pg_catalog')
    const remove = tool({ inputSchema: z.object({}), execute: () => 'removed' })
    const script = () => [{ call: 'remove', input: {} }] satisfies readonly ScriptPart[]
    const policies = { remove: { approval: 'always' } } as const
    const one = await serve(script, { tools: { remove }, policies }, mute.href)
    // Its clock is fast, so that nobody has to wait for it.
    const clock = {
      now: () => Date.now(),
      soon: setImmediate,
      after(ms: number, call: () => void) {
        const timer = setTimeout(call, ms / 50)
        return () => clearTimeout(timer)
      },
    }
    const two = await serve(() => [], { clock, recoverEveryMs: 0 })
    const following = until(two.holdfast, ({ progress }) => progress.status === 'waiting')
    await sendGo(one.holdfast)
    const { states } = await following
    expect(states.at(-1)?.messages).toEqual(await pageOf(one.store))
  })
})
