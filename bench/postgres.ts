import { parseMessageId, parseThreadId, type Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import pg from 'pg'
import { startPostgres } from '../test/support/postgres-server.ts'
import { startTransactionPooler } from '../test/support/transaction-pooler.ts'
import { pollStatement } from '../src/store/postgres/change-poll.ts'
import { measure, ms, printTable, type Row } from './measure.ts'
import { createThreadWriter, type ThreadWriter } from './thread-writer.ts'

const threads = 200_000
const at = 1

/** What the ways to reach PostgreSQL cost, and what it costs to ask for changes. The figures of docs/scale.md. */
export async function benchPostgres(): Promise<void> {
  const server = await startPostgres()
  const pooler = await startTransactionPooler(server.url, { size: 4 })
  const pool = new pg.Pool({ connectionString: server.url })
  pool.on('error', () => {})
  const stores = {
    'an address': postgres(server.url, { schema: 'direct' }),
    'an address, 16 partitions': postgres(server.url, { schema: 'spread' }),
    'an address behind a pooler': postgres(pooler.url, { schema: 'pooled' }),
    "a pool of the host's": postgres({ pool }, { schema: 'hosted' }),
  }
  await stores['an address, 16 partitions'].migrate({ partitions: 16 })
  await benchWays(stores)
  await benchPolling(pool)
  for (const store of Object.values(stores)) await store.close()
  await pool.end()
  await pooler.close()
  await server.stop()
}

async function benchWays(stores: Readonly<Record<string, Store>>): Promise<void> {
  const threadId = parseThreadId('thread')
  const writers = new Map<string, ThreadWriter>()
  for (const [name, store] of Object.entries(stores)) {
    await store.createThread({ id: threadId, ownerId: 'o', title: '', at })
    writers.set(name, createThreadWriter(store, threadId))
  }
  let count = 0
  const append = await measure(
    Object.keys(stores).map((name) => ({
      name,
      async run() {
        for (let commit = 0; commit < 10; commit++) {
          const messageId = parseMessageId(`message-${count++}`)
          const parts = [{ type: 'text' as const, text: 'Hello' }]
          await writers
            .get(name)
            ?.write([{ type: 'message-added', messageId, role: 'user', parts, at }])
        }
      },
    })),
    15,
  )
  const page = await measure(
    Object.entries(stores).map(([name, store]) => ({
      name,
      async run() {
        for (let read = 0; read < 10; read++) {
          await store.readPage({
            threadId,
            limit: 25,
            before: null,
            live: 'include',
            results: 'full',
          })
        }
      },
    })),
    15,
  )
  const rows = (what: string, measured: typeof append): readonly Row[] =>
    measured.map(({ name, medianMs }) => ({
      what: `${what}: ${name}`,
      measured: ms(medianMs / 10),
      ratio: medianMs / (measured[0]?.medianMs ?? Number.NaN),
    }))
  printTable('PostgreSQL: by which way it is reached', [
    ...rows('append', append),
    ...rows('page of 25', page),
  ])
}

/** How long one look for the changes of all followed threads takes, from the timer to the answer. */
async function benchPolling(pool: pg.Pool): Promise<void> {
  for (const schema of ['direct', 'spread']) {
    await pool.query(`INSERT INTO ${schema}.threads (id, owner_id, title, created_at, updated_at)
      SELECT 'thread-' || n, 'o', '', 1, 1 FROM generate_series(1, ${threads}) n`)
    await pool.query(`ANALYZE ${schema}.threads`)
  }
  const rows: Row[] = []
  for (const [name, schema] of [
    ['one table', 'direct'],
    ['16 partitions', 'spread'],
  ] as const) {
    for (const followed of [1_000, 10_000, 100_000]) {
      rows.push({
        what: `${followed.toLocaleString('en-US')} of ${threads.toLocaleString('en-US')} threads, ${name}`,
        measured: ms(await timePoll(pool, schema, followed)),
      })
    }
  }
  printTable('PostgreSQL: one look for what has changed in all followed threads', rows)
}

async function timePoll(pool: pg.Pool, schema: string, followed: number): Promise<number> {
  const ids = Array.from(
    { length: followed },
    (_, index) => `thread-${1 + Math.floor((index * threads) / followed)}`,
  )
  const { rows } = await pool.query<{ id: string; incarnation: string }>(
    `SELECT id, incarnation FROM ${schema}.threads WHERE id = ANY ($1)`,
    [ids],
  )
  const values = [
    rows.map(({ id }) => id),
    rows.map(() => 0),
    rows.map(({ incarnation }) => incarnation),
    rows.map(() => false),
  ]
  const [measured] = await measure(
    [{ name: 'poll', run: () => pool.query(pollStatement(`"${schema}"`).text, values) }],
    9,
  )
  return measured?.medianMs ?? Number.NaN
}
