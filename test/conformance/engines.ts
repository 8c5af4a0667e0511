import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { memory } from '../../src/store/memory/index.ts'
import { postgres } from '../../src/store/postgres/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import type { Store } from '../../src/store/store.ts'
import type { StoreClock, StoreFixture } from '../../src/testing/index.ts'
import { createDatabase } from '../support/create-database.ts'
import { reopenBeforeReads } from './reopening-store.ts'

export interface Engine {
  readonly name: string
  readonly createFixture: () => Promise<StoreFixture & { readonly cleanUp: () => Promise<void> }>
}

export const engines: readonly Engine[] = [
  { name: 'memory', createFixture: createMemoryFixture },
  { name: 'sqlite', createFixture: createSqliteFixture },
  { name: 'sqlite, reopened before every read', createFixture: createReopeningFixture },
  { name: 'postgres', createFixture: () => createPostgresFixture() },
]

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
    open: async () => reopenBeforeReads(await fixture.open(), (store) => fixture.reopen(store)),
    reopen: async (store: Store) => store,
  }
}

async function createPostgresFixture(toStore: (store: Store) => Store = (store) => store) {
  const database = await createDatabase(inject('postgresUrl'))
  const schemas = new Map<Store, string>()
  const openSchema = (schema: string) => {
    const store = toStore(postgres(database.url, { schema }))
    schemas.set(store, schema)
    return store
  }
  return {
    clock: null,
    open: async () => openSchema(`store_${schemas.size}`),
    async reopen(store: Store) {
      await store.close()
      return openSchema(schemas.get(store) ?? 'holdfast')
    },
    async cleanUp() {
      for (const store of schemas.keys()) await store.close()
      await database.drop()
    },
  }
}
