import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, expect, inject } from 'vitest'
import { memory } from '../../src/store/memory/index.ts'
import { postgres } from '../../src/store/postgres/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import type { Store } from '../../src/store/store.ts'
import type { StoreClock, StoreFixture } from '../../src/testing/index.ts'
import { createDatabase, type TestDatabase } from '../support/create-database.ts'
import { startTransactionPooler, type TransactionPooler } from '../support/transaction-pooler.ts'
import { reopenAfterWrites } from './reopening-store.ts'

export interface StoreUnderTest {
  readonly name: string
  /** The rules that concern what is different here. Default: all. */
  readonly rules?: RegExp
  readonly createFixture: () => Promise<StoreFixture & { readonly cleanUp: () => Promise<void> }>
}

export const memoryStore: StoreUnderTest = { name: 'memory', createFixture: createMemoryFixture }

export const sqliteStore: StoreUnderTest = { name: 'sqlite', createFixture: createSqliteFixture }

export const postgresStore: StoreUnderTest = {
  name: 'postgres',
  createFixture: createPostgresFixtures(),
}

export const reopenedStore: StoreUnderTest = {
  name: 'sqlite, reopened after every write',
  createFixture: createReopeningFixture,
}

export const pooledStore: StoreUnderTest = {
  name: 'postgres, partitioned and through a transaction pooler',
  createFixture: createPostgresFixtures(async (url, schema) => {
    pooler ??= startTransactionPooler(url, { size: 8 })
    const store = postgres({ url: (await pooler).url }, { schema })
    await store.migrate({ partitions: 3 })
    return store
  }),
}

export const hostPoolStore: StoreUnderTest = {
  name: 'postgres, on a pool of the host',
  rules: /^(?:LG|RS)/,
  createFixture: createPostgresFixtures(async (url, schema) => {
    pool ??= new pg.Pool({ connectionString: url, max: 8 })
    return postgres({ pool }, { schema })
  }),
}

function createClock(): StoreClock {
  let now = 1_770_000_000_000
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}

async function createMemoryFixture() {
  const clock = createClock()
  return {
    clock,
    open: async () => memory({ now: () => clock.now() }),
    reopen: async (store: Store) => store,
    cleanUp: async () => {},
  }
}

async function createSqliteFixture() {
  const clock = createClock()
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-sqlite-'))
  const files = new Map<Store, string>()
  const openFile = (file: string) => {
    const store = sqlite(file, { now: () => clock.now() })
    files.set(store, file)
    return store
  }
  return {
    clock,
    open: async () => openFile(join(folder, `${files.size}.db`)),
    async reopen(store: Store) {
      await store.close()
      return openFile(files.get(store) ?? ':memory:')
    },
    async cleanUp() {
      for (const store of files.keys()) await store.close()
      await rm(folder, { recursive: true })
    },
  }
}

async function createReopeningFixture() {
  const fixture = await createSqliteFixture()
  return {
    ...fixture,
    open: async () => reopenAfterWrites(await fixture.open(), (store) => fixture.reopen(store)),
    reopen: async (store: Store) => store,
  }
}

// One database for a test file, and a schema for each store of a rule. Later rules get the schemas of earlier ones,
// emptied: making the tables takes ten times as long as most rules do.
let database: Promise<TestDatabase> | undefined
let client: Promise<pg.Client> | undefined
let schemaCount = 0

// The last that is registered is the first that is called: what uses the database is closed before it is dropped.
afterAll(async () => {
  await (await client)?.end()
  await (await database)?.drop()
})

async function connect(): Promise<pg.Client> {
  database ??= createDatabase(inject('postgresUrl'))
  const opened = new pg.Client({ connectionString: (await database).url })
  await opened.connect()
  return opened
}

/** Deletes every row but those that say which version the tables are of. */
async function emptySchema(schema: string): Promise<void> {
  const connection = await (client ??= connect())
  const { rows } = await connection.query<{ readonly name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> 'migrations'`,
    [schema],
  )
  const statements = rows.map(({ name }) => `DELETE FROM "${schema}"."${name}"`)
  await connection.query(statements.join(';'))
}

function createPostgresFixtures(
  toStore: (url: string, schema: string) => Promise<Store> = async (url, schema) =>
    postgres(url, { schema }),
): StoreUnderTest['createFixture'] {
  const emptied: string[] = []
  return async () => {
    database ??= createDatabase(inject('postgresUrl'))
    const { url } = await database
    const schemas = new Map<Store, string>()
    const openSchema = async (schema: string) => {
      const store = await toStore(url, schema)
      schemas.set(store, schema)
      return store
    }
    return {
      clock: null,
      open: async () => openSchema(emptied.pop() ?? `store_${schemaCount++}`),
      async reopen(store: Store) {
        await store.close()
        return openSchema(schemas.get(store) ?? 'holdfast')
      },
      async cleanUp() {
        for (const store of schemas.keys()) await store.close()
        for (const schema of new Set(schemas.values())) {
          await emptySchema(schema)
          emptied.push(schema)
        }
      },
    }
  }
}

let pooler: Promise<TransactionPooler> | undefined

afterAll(async () => {
  const left = await (await pooler)?.leftBehind()
  await (await pooler)?.close()
  if (left !== undefined) expect(left).toEqual([])
})

let pool: pg.Pool | undefined

afterAll(() => pool?.end())
