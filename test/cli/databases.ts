import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { postgres } from '../../src/store/postgres/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import type { Store } from '../../src/store/store.ts'
import { createDatabase } from '../support/create-database.ts'
import { temporaryFolder } from './run-holdfast.ts'

/** A database of one kind, with a way to do to it what we never would. */
export interface RawDatabase {
  /** For `--db`. */
  readonly place: string
  openStore(): Store
  /** Runs statements with everything off that would refuse them, and turns it on again. */
  damage(sql: string): Promise<void>
  query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

export const databases = { sqlite: createSqlite, postgres: createPostgres } as const
export type DatabaseKind = keyof typeof databases

async function createSqlite(): Promise<RawDatabase> {
  const place = join(temporaryFolder(), 'chat.db')
  const withRaw = <Result>(work: (db: DatabaseSync) => Result): Result => {
    const db = new DatabaseSync(place)
    try {
      return work(db)
    } finally {
      db.close()
    }
  }
  return {
    place,
    openStore: () => sqlite(place),
    damage: async (sql) =>
      withRaw((db) => {
        const triggers = db
          .prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
          .all()
        db.exec('PRAGMA ignore_check_constraints = ON')
        for (const { name } of triggers) db.exec(`DROP TRIGGER ${String(name)}`)
        db.exec(sql)
        for (const trigger of triggers) db.exec(String(trigger['sql']))
      }),
    query: async (sql) => withRaw((db) => db.prepare(sql).all()),
  }
}

async function createPostgres(): Promise<RawDatabase> {
  const database = await createDatabase(inject('postgresUrl'))
  onTestFinished(() => database.drop())
  const { url } = database
  const withRaw = async <Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      await client.query('SET search_path = holdfast')
      return await work(client)
    } finally {
      await client.end()
    }
  }
  return {
    place: url,
    openStore: () => postgres(url),
    damage: (sql) =>
      withRaw(async (client) => {
        const { rows } = await client.query<{ name: string; of: string; check: string }>(
          `SELECT conname AS name, conrelid::regclass::text AS of, pg_get_constraintdef(oid) AS check
           FROM pg_constraint WHERE contype = 'c' AND connamespace = 'holdfast'::regnamespace`,
        )
        for (const { name, of } of rows)
          await client.query(`ALTER TABLE ${of} DROP CONSTRAINT ${name}`)
        await client.query(`SET session_replication_role = replica; ${sql}`)
        for (const { name, of, check } of rows) {
          await client.query(`ALTER TABLE ${of} ADD CONSTRAINT ${name} ${check} NOT VALID`)
        }
      }),
    query: (sql) =>
      withRaw(async (client) => (await client.query<Record<string, unknown>>(sql)).rows),
  }
}
