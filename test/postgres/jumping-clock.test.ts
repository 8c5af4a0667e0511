import { tool } from 'ai'
import {
  callsOf,
  createHoldfast,
  type Holdfast,
  HoldfastError,
  parseOwnerId,
  parseThreadId,
  type Store,
  type ThreadId,
} from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import type pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createFixture, gate } from '../engine/fixture.ts'
import { pollUntil } from '../support/poll-until.ts'
import { openTestDatabase, type TestDatabase, waitFor } from './test-database.ts'

const hour = 3_600_000

/**
 * A database whose clock can be set: by its search path, statements find this function before that of PostgreSQL. Everything
 * that has a connection sees a jump at its next statement.
 */
async function openSettableDatabase() {
  const database = await openTestDatabase()
  const client = await database.connect()
  await client.query(`
    CREATE SCHEMA settable;
    CREATE TABLE settable.jump AS SELECT 0::bigint AS ms;
    CREATE FUNCTION settable.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
      SELECT pg_catalog.clock_timestamp() + ms * interval '1 millisecond' FROM settable.jump $$;
    DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET search_path = settable, pg_catalog', current_database());
    END $$`)
  const jump = (ms: number) => client.query('UPDATE settable.jump SET ms = ms + $1', [ms])
  return { ...database, jump }
}

/** A process whose run waits for its tool, and another on the same database. */
async function openTwo(database: TestDatabase, leaseMs: number, store: Store = database.open()) {
  const done = gate<string>()
  const begun = gate()
  const charge = tool({
    inputSchema: z.object({}),
    execute: () => {
      begun.open()
      return done.opened
    },
  })
  const options = { tools: { charge }, leaseMs }
  const fixture = await createFixture(
    ({ prompt }) =>
      prompt.at(-1)?.role === 'tool' ? [{ text: 'Charged.' }] : [{ call: 'charge', input: {} }],
    { store, ...options },
  )
  const other = createHoldfast({
    store: database.open(),
    model: scriptedModel(() => [{ text: 'carried on' }]),
    whenBusy: 'reject',
    recoverEveryMs: 0,
    ...options,
  })
  onTestFinished(async () => {
    done.open('paid')
    await other.close()
    await fixture.holdfast.close()
  })
  await fixture.send('charge card')
  await begun.opened
  // Every server looks when it starts: from then on it knows the database's clock.
  expect(await other.recover()).toBe(0)
  return { ...fixture, other, done }
}

const message = { id: 'another', parts: [{ type: 'text' as const, text: 'and another thing' }] }

/** Everything that takes over a run whose process is dead. */
const ways: readonly [string, (other: Holdfast, threadId: ThreadId) => Promise<unknown>][] = [
  ['looks for dead runs', (other) => other.recover()],
  ['gets a message', (other, threadId) => other.send({ threadId, message })],
  ['is asked for another answer', (other, threadId) => other.regenerate({ threadId })],
  ['records', (other, threadId) => other.record(new ReadableStream(), { threadId, message })],
]

it.each(ways)(
  '[CR2] the clock of PostgreSQL jumps, and a process that %s takes no run from a living one',
  async (_, act) => {
    const database = await openSettableDatabase()
    // Not renewed while the test runs: only what the other process makes of the clock decides.
    const { holdfast, other, threadId, done, last } = await openTwo(database, 600_000)
    await database.jump(hour)
    for (let time = 0; time < 2; time++) await act(other, threadId).catch(() => undefined)
    expect(other.metrics().takeovers).toBe(0)
    done.open('paid')
    await holdfast.settled()
    const turn = await last()
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect([...callsOf(turn)]).toMatchObject([{ state: 'succeeded' }])
  },
)

/** What keeps everybody from the database, and its end. The connection stays. */
const outages: readonly [string, (admin: pg.Client) => Promise<() => Promise<unknown>>][] = [
  [
    'was away',
    async (admin) => {
      const setOpen = (isOpen: boolean) =>
        admin.query(
          `UPDATE pg_database SET datallowconn = ${isOpen} WHERE datname = current_database()`,
        )
      await setOpen(false)
      await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`)
      return () => setOpen(true)
    },
  ],
  [
    'was locked',
    async (admin) => {
      await admin.query('BEGIN')
      await admin.query('LOCK TABLE holdfast.threads IN ACCESS EXCLUSIVE MODE')
      return () => admin.query('ROLLBACK')
    },
  ],
]

it.each(outages)(
  '[CR2 OP3] a database that %s for longer than a lease gives the living time to renew before anybody takes their runs',
  async (_, begin) => {
    const database = await openTestDatabase()
    const admin = await database.connect()
    const opened = database.open()
    const isBack = gate()
    let isAway = false
    const store: Store = {
      ...opened,
      async commit(commits) {
        // Its way to the database opens last of all.
        if (isAway) await isBack.opened
        return opened.commit(commits)
      },
    }
    const { holdfast, other, done, last } = await openTwo(database, 3_000, store)
    onTestFinished(() => isBack.open())
    isAway = true
    const end = await begin(admin)
    await expect(other.recover()).rejects.toBeInstanceOf(HoldfastError)
    await waitFor(admin, 'SELECT FROM holdfast.threads WHERE lease_until < clock_timestamp()')
    await end()
    // The first that hears of the database again: a connection that was asked for before may still be refused.
    const recover = () => other.recover().catch(() => 'away')
    expect(await pollUntil(recover, (found) => found !== 'away', { what: 'the database' })).toBe(0)
    expect(await other.recover()).toBe(0)
    isBack.open()
    done.open('paid')
    await holdfast.settled()
    expect((await last()).progress).toMatchObject({ ending: { kind: 'completed' } })
    expect(other.metrics().takeovers).toBe(0)
  },
  60_000,
)

it('[CR2] a write that the database refuses says nothing of its clock: the run of a dead process is taken over', async () => {
  const database = await openTestDatabase()
  const opened = database.open()
  const isOver = gate()
  let isDead = false
  const store: Store = {
    ...opened,
    async commit(commits) {
      if (isDead) await isOver.opened
      return opened.commit(commits)
    },
  }
  const { other } = await openTwo(database, 3_000, store)
  onTestFinished(() => isOver.open())
  isDead = true
  const admin = await database.connect()
  await admin.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON holdfast.threads FOR EACH ROW
      EXECUTE FUNCTION refuse()`)
  await waitFor(admin, 'SELECT FROM holdfast.threads WHERE lease_until < clock_timestamp()')
  const [threadId, ownerId] = [parseThreadId('refused'), parseOwnerId('owner')]
  const refused = other.send({ threadId, create: { ownerId }, message })
  await expect(refused).rejects.toMatchObject({ code: 'store-failed' })
  expect(await other.recover()).toBe(1)
})

it.each(['events', 'messages', 'calls'])(
  '[CR2] a lease is renewed while somebody has locked the table of %s',
  async (table) => {
    const database = await openTestDatabase()
    const { holdfast, other, done, last } = await openTwo(database, 1_000)
    const admin = await database.connect()
    await admin.query('BEGIN')
    await admin.query(`LOCK TABLE holdfast.${table} IN ACCESS EXCLUSIVE MODE`)
    await admin.query('CREATE TEMP TABLE before AS SELECT max(lease_until) FROM holdfast.threads')
    const later = `max + interval '2 seconds'`
    await waitFor(admin, `SELECT FROM holdfast.threads, before WHERE lease_until > ${later}`)
    expect(await other.recover()).toBe(0)
    await admin.query('ROLLBACK')
    done.open('paid')
    await holdfast.settled()
    expect((await last()).progress).toMatchObject({ ending: { kind: 'completed' } })
  },
  60_000,
)
