import { randomBytes } from 'node:crypto'
import { createHoldfast, parseMessageId, parseOwnerId } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../src/store/postgres/index.ts'
import { allMigrations } from '../../src/store/postgres/migrations/all-migrations.ts'
import type { Store } from '../../src/store/store.ts'
import { checkStore } from '../../src/audit/check-store.ts'
import { readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  createThread,
  ended,
  messageAdded,
  started,
  thread,
} from '../../src/testing/store-rules/thread-script.ts'
import { runHoldfast } from '../cli/run-holdfast.ts'
import { openTestDatabase, type TestDatabase } from './test-database.ts'

const newest = allMigrations.at(-1)?.version ?? 0
const before = allMigrations.at(-2)?.version ?? 0

/** What docs/guides/postgres.md tells to give to the account of the servers. */
const grants = (role: string) => [
  `GRANT USAGE ON SCHEMA holdfast TO ${role}`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA holdfast TO ${role}`,
  `GRANT USAGE ON ALL SEQUENCES IN SCHEMA holdfast TO ${role}`,
]

/** An account that may connect, and nothing else. */
async function createRole(database: TestDatabase) {
  const name = `role_${randomBytes(6).toString('hex')}`
  const client = await database.connect()
  await client.query(`CREATE ROLE ${name} LOGIN PASSWORD 'Sesame'`)
  onTestFinished(async () => {
    await client.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`)
  })
  const url = new URL(database.url)
  url.username = name
  url.password = 'Sesame'
  return { name, client, url: url.href }
}

function open(url: string): Store {
  const store = postgres(url)
  onTestFinished(() => store.close())
  return store
}

const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  )

it('[LG3a] an account with fewer connections than the pool waits for its own', async () => {
  const database = await openTestDatabase()
  const { name, client, url } = await createRole(database)
  await database.open().migrate!()
  for (const grant of grants(name)) await client.query(grant)
  await client.query(`ALTER ROLE ${name} CONNECTION LIMIT 3`)
  const store = postgres(url, { poolSize: 10 })
  onTestFinished(() => store.close())
  const holdfast = createHoldfast({ store, model: scriptedModel(() => [{ text: 'Fine.' }]) })
  onTestFinished(() => holdfast.close())
  const sent = await Promise.all(
    Array.from({ length: 12 }, (_, nth) =>
      holdfast.send({
        threadId: `thread-${nth}`,
        create: { ownerId: 'ana', title: '' },
        message: { parts: [{ type: 'text', text: 'How are you?' }] },
      }),
    ),
  )
  expect(sent.map(({ kind }) => kind)).toEqual(sent.map(() => 'started'))
  await holdfast.settled()
  const pages = await Promise.all(
    sent.map((_, nth) => holdfast.messages(`thread-${nth}`, { order: 'oldest-first' })),
  )
  expect(pages.map((page) => page?.results.length)).toEqual(sent.map(() => 2))
})

describe('an account that may only read and write rows', () => {
  it('[OP2] is all that a server needs once the tables are there', async () => {
    const database = await openTestDatabase()
    const { name, client, url } = await createRole(database)
    expect(await database.open().migrate!()).toEqual({ from: 0, to: newest })
    for (const grant of grants(name)) await client.query(grant)
    const store = open(url)
    expect(await store.migrate!()).toEqual({ from: newest, to: newest })
    const holdfast = createHoldfast({ store, model: scriptedModel(() => [{ text: 'Fine.' }]) })
    const sent = await holdfast.send({
      threadId: thread,
      create: { ownerId: parseOwnerId('ana'), title: '' },
      message: { id: parseMessageId('one'), parts: [{ type: 'text', text: 'How are you?' }] },
    })
    expect(sent.kind).toBe('started')
    await holdfast.settled()
    await holdfast.close()
    const reader = open(url)
    expect((await readPage(reader)).messages).toHaveLength(2)
    expect(await checkStore(reader)).toMatchObject({ threads: 1, found: 0 })
    expect(await reader.deleteThread(thread)).toEqual({ messages: 2 })
  })

  it('[OP2] gets an error that names the missing tables, where they are not there or too old', async () => {
    const database = await openTestDatabase()
    const { name, client, url } = await createRole(database)
    expect(await faultOf(open(url).readThread(thread))).toMatchObject({
      code: 'store-read-only',
      message: expect.stringMatching(/"holdfast" has no tables yet.*`holdfast migrate`/) as string,
    })
    await database.open().migrate!()
    for (const grant of grants(name)) await client.query(grant)
    await client.query(`DELETE FROM holdfast.migrations WHERE version = ${newest}`)
    expect(await faultOf(open(url).readThread(thread))).toMatchObject({
      code: 'store-read-only',
      message: expect.stringMatching(
        new RegExp(`of version \\d+, this program needs version ${newest}.*holdfast migrate`),
      ) as string,
    })
  })

  it('[OP2] gets an error that names the missing right', async () => {
    const database = await openTestDatabase()
    const { name, client, url } = await createRole(database)
    const owner = database.open()
    await createThread(owner)
    await append(owner, [started()])
    for (const grant of grants(name)) await client.query(grant)
    for (const [revoked, needed] of [
      [`USAGE ON SCHEMA holdfast`, /GRANT USAGE ON SCHEMA "holdfast"/],
      [`SELECT ON holdfast.migrations`, /GRANT SELECT.* ON TABLE "migrations"/],
      [`SELECT ON holdfast.threads`, /GRANT SELECT.* ON TABLE "threads"/],
      [`UPDATE ON holdfast.threads`, /GRANT .*UPDATE.* ON TABLE "threads"/],
      [`INSERT ON holdfast.messages`, /GRANT .*INSERT.* ON TABLE "messages"/],
      [`DELETE ON holdfast.events`, /GRANT .*DELETE ON TABLE "events"/],
      [`USAGE ON SEQUENCE holdfast.activity`, /GRANT USAGE ON SEQUENCE "activity"/],
    ] as const) {
      await client.query(`REVOKE ${revoked} FROM ${name}`)
      const store = open(url)
      // A commit needs the rights to the tables that it writes: this one adds a message and replaces events.
      const answered = append(store, [ended(), messageAdded('Hi', parseMessageId(revoked))])
      expect(await faultOf(answered)).toMatchObject({
        name: 'HoldfastError',
        code: 'store-read-only',
        message: expect.stringMatching(needed) as string,
      })
      await client.query(`GRANT ${revoked} TO ${name}`)
      await store.close()
    }
    const store = open(url)
    expect((await append(store, [ended(), messageAdded('Hi', parseMessageId('last'))])).seq).toBe(3)
  })
})

describe('tables that are made ahead', () => {
  it('[OP2] by a command, by several at once, while the version before writes', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    const client = await database.connect()
    // The newest step only adds, so what is there without it is what the version before has.
    await client.query(`DELETE FROM holdfast.migrations WHERE version = ${newest};
      ALTER TABLE holdfast.file_uses DROP COLUMN queued`)
    const running = await Promise.all(
      [1, 2].map(() => runHoldfast(['migrate'], { env: { HOLDFAST_DB: database.url } })),
    )
    expect(running.map(({ code }) => code)).toEqual([0, 0])
    expect(running.map(({ out }) => out.trim()).toSorted()).toEqual([
      `From version ${before} to version ${newest}.`,
      `Up to date: version ${newest}.`,
    ])
    await append(store, [messageAdded('Hi')])
  })

  it('[OP2] by a newer version are refused, and what is no number of parts as well', async () => {
    const database = await openTestDatabase()
    await database.open().migrate!()
    const client = await database.connect()
    await client.query(`INSERT INTO holdfast.migrations (version) VALUES (${newest + 1})`)
    const { code, err } = await runHoldfast(['migrate', '--db', database.url])
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(
        `has version ${newest + 1}; this program supports versions up to ${newest}`,
      ),
    ])
    const parts = await runHoldfast(['migrate', '--partitions', '0', '--db', database.url])
    expect([parts.code, parts.err]).toEqual([2, expect.stringContaining('from 1 to 1024')])
    await expect(faultOf(database.open().migrate!({ partitions: 0 }))).resolves.toMatchObject({
      code: 'bad-option',
    })
  })

  it('[OP2] are spread with what is in them, and with the rights that were given', async () => {
    const database = await openTestDatabase()
    const { name, client, url } = await createRole(database)
    const store = database.open()
    await createThread(store)
    await append(store, [messageAdded('Hi')])
    for (const grant of grants(name)) await client.query(grant)
    const before = await readPage(store)
    const results = await Promise.all(
      [database.open(), database.open()].map((each) => each.migrate!({ partitions: 4 })),
    )
    expect(results).toEqual([1, 2].map(() => ({ from: newest, to: newest })))
    expect(await readPage(store)).toEqual(before)
    const other = open(url)
    await append(other, [messageAdded('Again', parseMessageId('again'))])
    expect((await readPage(store)).messages).toHaveLength(2)
    const { rows } = await client.query<{ parts: string }>(
      `SELECT inhparent::regclass::text || ' ' || count(*) AS parts FROM pg_inherits
       WHERE inhparent::regclass::text IN ('holdfast.threads', 'holdfast.messages', 'holdfast.events', 'holdfast.calls')
       GROUP BY inhparent ORDER BY 1`,
    )
    expect(rows.map(({ parts }) => parts)).toEqual(
      ['calls', 'events', 'messages', 'threads'].map((table) => `holdfast.${table} 4`),
    )
  })
})

describe("a pool of the host's", () => {
  const openPool = (database: TestDatabase, config: pg.PoolConfig = {}) => {
    const pool = new pg.Pool({ connectionString: database.url, max: 2, ...config })
    onTestFinished(() => pool.end())
    return pool
  }

  it('[OP2] is used in a schema of choice, left as it was, and not ended with the store', async () => {
    const database = await openTestDatabase()
    const pool = openPool(database)
    const [store, other] = [
      postgres({ pool }, { schema: 'chat' }),
      postgres({ pool }, { schema: 'chat' }),
    ]
    await createThread(store)
    const heard = new Promise<void>((resolve) => {
      other.watch(
        ({ threadId, seq }) => {
          if (threadId === thread && seq === 1) resolve()
        },
        () => [thread],
      )
    })
    await append(store, [messageAdded('Hi')])
    await heard
    expect(await checkStore(store)).toMatchObject({ threads: 1, found: 0 })
    expect(await faultOf(append(store, [messageAdded('Hi')]))).not.toBeNull()
    await Promise.all([store.close(), other.close()])
    const left = await Promise.all(
      [1, 2].map(async () => {
        const client = await pool.connect()
        const { rows } = await client.query<{ left: string }>(
          `SELECT name AS left FROM pg_settings WHERE source = 'session' AND name <> 'client_encoding'
           UNION ALL SELECT name FROM pg_prepared_statements`,
        )
        expect(client.listenerCount('error')).toBeLessThanOrEqual(1)
        return { client, rows }
      }),
    )
    expect(left.flatMap(({ rows }) => rows)).toEqual([])
    for (const { client } of left) client.release()
    expect(pool.totalCount).toBe(2)
  })

  it('[OP2] that has no connection to give, or whose connections are cut, is met as every other fault', async () => {
    const database = await openTestDatabase()
    const pool = openPool(database, { max: 1 })
    pool.on('error', () => {})
    const store = postgres({ pool }, { connectTimeoutMs: 60_000 })
    await createThread(store)
    const taken = await pool.connect()
    const impatient = postgres({ pool }, { connectTimeoutMs: 100 })
    expect(await faultOf(impatient.readThread(thread))).toMatchObject({
      code: 'store-unreachable',
      isTemporary: true,
    })
    await impatient.close()
    taken.release()
    const client = await database.connect()
    await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`)
    await expect.poll(() => store.readThread(thread).catch(() => null)).toMatchObject({ seq: 0 })
    await append(store, [messageAdded('Hi')])
    await store.close()
  })

  it('[CF1] is one, or an address: anything else is refused without being shown', () => {
    for (const source of [
      undefined,
      null,
      7,
      {},
      { url: 7 },
      { pool: {} },
      { url: 'postgres://a:Sesame@b/c', pool: {} },
    ]) {
      expect(() => postgres(source as never)).toThrow(
        /^(?!.*Sesame)postgres(?: takes| needs|: the option)/,
      )
    }
    const pool = { connect: () => Promise.reject(new Error('no')) }
    expect(() => postgres({ pool }, { poolSize: 4 })).toThrow('"poolSize" is for an address')
  })
})
