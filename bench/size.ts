import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LeaseUse, MessageId, Store, ThreadId } from 'holdfast/store'
import { planCommit } from 'holdfast/store'
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
    ...(await onPostgres()),
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

/** Also with pages that are filled, which is the measure of what the free space of `fillfactor` is worth. */
async function onPostgres(): Promise<readonly Row[]> {
  const url = process.env['HOLDFAST_TEST_PG']
  const server = url === undefined ? await startPostgres() : { url, stop: async () => {} }
  const free = await fillPostgres(server.url, 'holdfast_free')
  const full = await fillPostgres(server.url, 'holdfast_full', (schema) =>
    ['threads', 'messages'].map((table) => `ALTER TABLE ${schema}.${table} SET (fillfactor = 100)`),
  )
  await server.stop()
  return [
    toRow('PostgreSQL', free.first.bytes, 110),
    { what: 'PostgreSQL: log written', measured: kilobytes(free.first.logBytes) },
    { what: 'PostgreSQL: the same with full pages', measured: kilobytes(full.first.bytes) },
    { what: 'PostgreSQL: log written with full pages', measured: kilobytes(full.first.logBytes) },
    ...toAgainRows('the same threads again', free.again),
    ...toAgainRows('the same threads again, full pages', full.again),
  ]
}

const toAgainRows = (what: string, { bytes, logBytes, heapOnly }: Again): readonly Row[] => [
  { what: `${what}: grown`, measured: kilobytes(bytes) },
  { what: `${what}: log written`, measured: kilobytes(logBytes) },
  ...Object.entries(heapOnly).map(([table, share]) => ({
    what: `${what}: heap-only updates of ${table}`,
    measured: share,
  })),
]

/** What a turn costs, in bytes. */
interface Cost {
  readonly bytes: number
  readonly logBytes: number
}
interface Again extends Cost {
  readonly heapOnly: Readonly<Record<string, string>>
}

/** How often turns come to each thread again, and how often the leases of all threads are renewed after each time. */
const [rounds, renewals] = [3, 20] as const

async function fillPostgres(
  url: string,
  schema: string,
  settings: (schema: string) => readonly string[] = () => [],
): Promise<{ readonly first: Cost; readonly again: Again }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const store = postgres(url, { schema })
  // Creates the tables, so that even the first row is written with the settings.
  await store.listThreads({ ownerId: 'bench', limit: 1, before: null })
  for (const setting of settings(schema)) await client.query(setting)
  const readNumber = async (text: string) =>
    Number((await client.query<{ value: string }>(`SELECT ${text} AS value`)).rows[0]?.value)
  const readLogEnd = () => readNumber("pg_current_wal_lsn() - '0/0'")
  /** The log as it is before the vacuum that measuring needs. */
  const readSize = async (): Promise<Cost> => {
    const logBytes = await readLogEnd()
    await client.query('VACUUM ANALYZE')
    await client.query('CHECKPOINT')
    const bytes = await readNumber(`(SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
      WHERE c.relnamespace = '${schema}'::regnamespace AND c.relkind = 'r'
        AND c.relname IN ('threads', 'messages', 'events', 'calls'))`)
    return { bytes, logBytes }
  }
  const { handler, close } = holdfastHandler(store, 0)

  const run = createTurns(handler, turns)
  const fill = async (times: number, after: () => Promise<void> = async () => {}) => {
    const before = await readSize()
    const start = await readLogEnd()
    for (let time = 0; time < times; time++) {
      for (let turn = 0; turn < turns; turn++) await run('bytes')
      await after()
    }
    const end = await readSize()
    const count = times * turns
    return {
      bytes: (end.bytes - before.bytes) / count,
      logBytes: (end.logBytes - start) / count,
    }
  }

  await run('bytes')
  const first = await fill(1)
  const updatesBefore = await readUpdates(client, schema)
  const again = await fill(rounds, () => renewAll(store, client, schema))
  const updates = await readUpdates(client, schema)
  const heapOnly = Object.fromEntries(
    ['threads', 'messages'].map((table) => {
      const [all, hot] = [0, 1].map(
        (column) => (updates.get(table)?.[column] ?? 0) - (updatesBefore.get(table)?.[column] ?? 0),
      )
      return [table, `${((100 * (hot ?? 0)) / (all ?? 1)).toFixed(0)} % of ${all}`]
    }),
  )
  await close()
  await store.close()
  await client.query(`DROP SCHEMA ${schema} CASCADE`)
  await client.end()
  return { first, again: { ...again, heapOnly } }
}

/** Each thread has a run that lives for `renewals` heartbeats, all at the same time, as on a busy server. */
async function renewAll(store: Store, client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ id: ThreadId }>(`SELECT id FROM ${schema}.threads`)
  const turnId = 'bench' as MessageId
  const write = async (leaseOf: (index: number) => LeaseUse) => {
    const commits = rows.map(({ id: threadId }, index) => {
      const planned = planCommit({ threadId, events: [], lease: leaseOf(index) })
      if ('kind' in planned) throw new Error('A lease was not planned.')
      return planned
    })
    return (await store.commit(commits)).map((result) => {
      if (result.kind !== 'appended') throw new Error(`A lease is ${result.kind}.`)
      return result.fence ?? 0
    })
  }
  const fences = await write(() => ({ kind: 'acquire', holder: 'bench', ttlMs: 60_000, turnId }))
  const fenceOf = (index: number) => fences[index] ?? 0
  for (let renewal = 0; renewal < renewals; renewal++) {
    await write((index) => ({ kind: 'hold', fence: fenceOf(index), renewMs: 60_000 }))
  }
  await write((index) => ({ kind: 'release', fence: fenceOf(index) }))
}

/** Updates of each table, and how many of them were heap-only. A backend reports its own after a second without a statement. */
async function readUpdates(
  client: pg.Client,
  schema: string,
): Promise<ReadonlyMap<string, readonly [all: number, heapOnly: number]>> {
  await sleep(3_000)
  const { rows } = await client.query<{ name: string; all: string; hot: string }>(
    `SELECT relname AS name, n_tup_upd AS all, n_tup_hot_upd AS hot
     FROM pg_stat_user_tables WHERE schemaname = $1`,
    [schema],
  )
  return new Map(rows.map(({ name, all, hot }) => [name, [Number(all), Number(hot)]]))
}

async function fill(store: Store, size: () => number): Promise<number> {
  const { handler, close } = holdfastHandler(store, 0)
  const run = createTurns(handler)
  await run('bytes')
  const before = size()
  for (let turn = 0; turn < turns; turn++) await run('bytes')
  await close()
  return (size() - before) / turns
}

const toRow = (name: string, bytes: number, goalKilobytes: number): Row => ({
  what: `${name}: goal ${goalKilobytes} kB`,
  measured: kilobytes(bytes),
  ratio: bytes / 1_000 / goalKilobytes,
  bar: 1,
})

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(0)} kB`
