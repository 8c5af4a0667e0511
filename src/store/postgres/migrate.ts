import type pg from 'pg'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { allMigrations } from './migrations/all-migrations.ts'

/**
 * Brings a schema up to date, inside the caller's transaction. A schema that is up to date is only
 * read, so that a read-only server can be opened. Two processes that open an empty database at once
 * wait for each other here.
 */
export async function migrate(client: pg.ClientBase, name: string): Promise<void> {
  const newest = allMigrations.at(-1)?.version ?? 0
  if ((await readVersion(client, name)) === newest) return

  const schema = `"${name}"`
  await client.query(`SET LOCAL lock_timeout = '5min'`)
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`holdfast ${name}`])
  const version = await readVersion(client, name)
  if (version > newest) {
    throw new HoldfastError(
      'store-newer',
      `The database is of version ${version}; this program knows versions up to ${newest}.`,
    )
  }
  if (version === 0) {
    // Asked for first: without the right to create schemas, IF NOT EXISTS fails even if it exists.
    const found = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [name])
    if (found.rowCount === 0) await client.query(`CREATE SCHEMA ${schema}`)
    await client.query(`CREATE TABLE ${schema}.migrations (
      version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`)
  }
  for (const migration of allMigrations.filter((step) => step.version > version)) {
    await client.query(migration.toSql(schema))
    await client.query(`INSERT INTO ${schema}.migrations (version) VALUES ($1)`, [
      migration.version,
    ])
  }
}

/** 0: nothing of ours is there. */
async function readVersion(client: pg.ClientBase, name: string): Promise<number> {
  const table = await client.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'migrations') AS found`,
    [name],
  )
  if (table.rows[0]?.found !== true) return 0
  const { rows } = await client.query<{ version: number | null }>(
    `SELECT max(version) AS version FROM "${name}".migrations`,
  )
  return rows[0]?.version ?? 0
}
