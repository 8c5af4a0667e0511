import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import pg from 'pg'
import { startPostgres } from '../test/support/postgres-server.ts'
import { printTable, type Row } from './measure.ts'
import { calls } from './turn-script.ts'
import { createTurns, holdfastHandler } from './turn-work.ts'

const turns = 200

/** What the turn of the turn bench takes on disk, with what a vacuum has not given back. */
export async function benchSize(): Promise<void> {
  printTable(`Size: ${turns} turns of ${calls} calls with 1 KB results, bytes per turn`, [
    await onSqlite(),
    await onPostgres(),
  ])
}

async function onSqlite(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const file = join(folder, 'chat.db')
  const store = sqlite(file)
  const bytes = await fill(store, () => {
    const reader = new DatabaseSync(file)
    reader.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    reader.close()
    return statSync(file).size
  })
  await store.close()
  rmSync(folder, { recursive: true })
  return toRow('SQLite', bytes, 80)
}

async function onPostgres(): Promise<Row> {
  const url = process.env['HOLDFAST_TEST_PG']
  const server = url === undefined ? await startPostgres() : { url, stop: async () => {} }
  const store = postgres(server.url)
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const bytes = await fill(store, async () => {
    await client.query('VACUUM ANALYZE')
    const { rows } = await client.query<{ bytes: string }>(
      `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
       WHERE relkind = 'r' AND relname IN ('threads', 'messages', 'events', 'calls')`,
    )
    return Number(rows[0]?.bytes)
  })
  await client.end()
  await store.close()
  await server.stop()
  return toRow('PostgreSQL', bytes, 110)
}

async function fill(store: Store, size: () => number | Promise<number>): Promise<number> {
  const { handler, close } = holdfastHandler(store, 0)
  const run = createTurns(handler)
  await run('bytes')
  const before = await size()
  for (let turn = 0; turn < turns; turn++) await run('bytes')
  await close()
  return ((await size()) - before) / turns
}

const toRow = (name: string, bytes: number, goalKilobytes: number): Row => ({
  what: `${name}: goal ${goalKilobytes} kB`,
  measured: `${(bytes / 1_000).toFixed(0)} kB`,
  ratio: bytes / 1_000 / goalKilobytes,
  bar: 1,
})
