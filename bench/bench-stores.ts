import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import pg from 'pg'
import { startPostgres } from '../test/support/postgres-server.ts'

/** A database with our store in it, and the same database bare, for the baseline. */
export interface BenchStore {
  readonly name: string
  readonly store: Store
  readonly raw: RawTable
  /** As a server does by itself within a minute: counts what is in the tables, by which statements are planned. */
  readonly analyze: () => Promise<void>
  close(): Promise<void>
}

/** What somebody would write who stores one row per thing and nothing more. */
export interface RawTable {
  /** Each call is one durable transaction. */
  insert(rows: readonly RawRow[]): Promise<void>
  /** The newest rows of a thread before a place, newest first. */
  read(thread: string, before: number, limit: number): Promise<readonly string[]>
}
export interface RawRow {
  readonly thread: string
  readonly seq: number
  readonly body: string
}

export async function openBenchStores(): Promise<readonly BenchStore[]> {
  return [openSqlite(), await openPostgres()]
}

export function openSqlite(): BenchStore {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const store = sqlite(join(folder, 'holdfast.db'))
  const database = new DatabaseSync(join(folder, 'raw.db'))
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE raw (thread TEXT, seq INTEGER, body TEXT, PRIMARY KEY (thread, seq))')
  const insert = database.prepare('INSERT INTO raw VALUES (?, ?, ?)')
  const read = database.prepare(
    'SELECT body FROM raw WHERE thread = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
  )
  return {
    name: 'SQLite',
    store,
    raw: {
      async insert(rows) {
        database.exec('BEGIN IMMEDIATE')
        for (const { thread, seq, body } of rows) insert.run(thread, seq, body)
        database.exec('COMMIT')
      },
      async read(thread, before, limit) {
        return read.all(thread, before, limit).map((row) => String(row['body']))
      },
    },
    analyze: async () => {},
    async close() {
      await store.close()
      database.close()
      rmSync(folder, { recursive: true })
    },
  }
}

export async function openPostgres(): Promise<BenchStore> {
  const url = process.env['HOLDFAST_TEST_PG']
  const server = url === undefined ? await startPostgres() : { url, stop: async () => {} }
  const store = postgres(server.url)
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(
    'CREATE TABLE IF NOT EXISTS raw (thread text, seq bigint, body text, PRIMARY KEY (thread, seq))',
  )
  return {
    name: 'PostgreSQL',
    store,
    raw: {
      async insert(rows) {
        await client.query({
          name: 'insert',
          text: 'INSERT INTO raw SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])',
          values: [
            rows.map((row) => row.thread),
            rows.map((row) => row.seq),
            rows.map((row) => row.body),
          ],
        })
      },
      async read(thread, before, limit) {
        const { rows } = await client.query<{ body: string }>({
          name: 'read',
          text: 'SELECT body FROM raw WHERE thread = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3',
          values: [thread, before, limit],
        })
        return rows.map(({ body }) => body)
      },
    },
    async analyze() {
      await client.query('VACUUM ANALYZE')
    },
    async close() {
      await store.close()
      await client.end()
      await server.stop()
    },
  }
}
