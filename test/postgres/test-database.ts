import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { postgres, type PostgresStoreOptions } from '../../src/store/postgres/index.ts'
import type { Store } from '../../src/store/store.ts'
import { pollUntil } from '../support/poll-until.ts'
import { createDatabase } from '../support/create-database.ts'

export interface TestDatabase {
  readonly url: string
  /** A store as another process would have it: with connections of its own. */
  open(options?: PostgresStoreOptions): Store
  /** A plain connection beside the stores. */
  connect(): Promise<pg.Client>
}

/** An empty database that goes, with everything that was opened on it, when the test is done. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  onTestFinished(() => database.close())
  return database
}

export async function createTestDatabase(): Promise<TestDatabase & { close(): Promise<void> }> {
  const database = await createDatabase(inject('postgresUrl'))
  const { url } = database
  const closers: (() => Promise<void>)[] = [() => database.drop()]
  return {
    url,
    open(options) {
      const store = postgres(url, options)
      closers.push(() => store.close())
      return store
    },
    async connect() {
      const client = new pg.Client({ connectionString: url })
      // Some tests have the server end it.
      client.on('error', () => {})
      await client.connect()
      closers.push(() => client.end())
      return client
    },
    async close() {
      for (const close of closers.toReversed()) await close()
    },
  }
}

/** Waits for what only the server knows, such as who waits for a lock: nothing announces it. */
export async function waitFor<Row extends object>(
  client: pg.Client,
  question: string,
  isEnough: (rows: readonly Row[]) => boolean = (rows) => rows.length > 0,
): Promise<readonly Row[]> {
  const readRows = async () => (await client.query<Row>(question)).rows
  return pollUntil(readRows, isEnough, { what: question })
}

/** The connections of stores that wait for a lock that somebody else has. */
export const blocked = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'
  AND application_name = 'holdfast' AND datname = current_database()`
