import { createHoldfast, parseMessageId } from 'holdfast'
import { scriptedModel, storeRules } from 'holdfast/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgres } from '../../src/store/postgres/index.ts'
import type { Store } from '../../src/store/store.ts'
import { createThread, thread } from '../../src/testing/store-rules/thread-script.ts'
import { findPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { createTestDatabase } from './test-database.ts'

const program = findPgBouncer()
const reason = 'no pgbouncer on the path, nor in HOLDFAST_TEST_PGBOUNCER'

/** What PgBouncer itself sets for its clients. */
const itsOwn = [
  'application_name',
  'client_encoding',
  'DateStyle',
  'TimeZone',
  'IntervalStyle',
  'standard_conforming_strings',
]

// Needs a PgBouncer: npm has none. The strict pooler of transaction-pooler.test.ts stands in for it everywhere.
describe.skipIf(program === null)(
  `through PgBouncer in transaction mode (skipped where there is ${reason})`,
  () => {
    let database: Awaited<ReturnType<typeof createTestDatabase>>
    let bouncer: PgBouncer
    let count = 0
    const stores = new Map<Store, string>()
    const open = (schema: string) => {
      const store = postgres({ url: bouncer.url }, { schema, poolSize: 4 })
      stores.set(store, schema)
      return store
    }
    beforeAll(async () => {
      database = await createTestDatabase()
      bouncer = await startPgBouncer(program as string, database.url)
    })
    afterAll(async () => {
      await Promise.all([...stores.keys()].map((store) => store.close()))
      await bouncer.close()
      await database.close()
    })

    for (const { id, claim, check } of storeRules.filter((rule) => /^(?:LG|RS)/.test(rule.id))) {
      it(`[${id}] ${claim}`, () =>
        check({
          clock: null,
          open: async () => open(`store_${count++}`),
          async reopen(store) {
            await store.close()
            return open(stores.get(store) ?? 'holdfast')
          },
        }))
    }

    it('[OP1 RS7] two servers follow and stop turns of each other', async () => {
      const model = scriptedModel(() => [{ text: 'Well, ' }, { waitMs: 3_600_000 }])
      const [one, two] = [1, 2].map(() => createHoldfast({ store: open('holdfast'), model }))
      await createThread(one!.store)
      await one!.send({
        threadId: thread,
        message: { id: parseMessageId('one'), parts: [{ type: 'text', text: 'How are you?' }] },
      })
      const seen: string[] = []
      for await (const { changes } of two!.subscribe(thread, 0)) {
        for (const change of changes) {
          seen.push(change.kind === 'event' ? change.event.type : change.turn.progress.status)
        }
        if (seen.includes('turn-ended') || seen.includes('ended')) break
        if (seen.includes('text-appended')) await two!.stop(thread)
      }
      await Promise.all([one!.close(), two!.close()])
    })

    it('[OP1] whoever gets its connections next finds nothing of ours on them', async () => {
      // All at once, and none lets go before all have one: each is on another connection.
      const clients = await Promise.all(
        Array.from({ length: 6 }, async () => {
          const client = new pg.Client({ connectionString: bouncer.url })
          await client.connect()
          await client.query('BEGIN')
          return client
        }),
      )
      for (const client of clients) {
        const { rows } = await client.query<{ left: string }>(
          `SELECT name AS left FROM pg_settings WHERE source = 'session' AND name <> ALL ($1)
         UNION ALL SELECT name FROM pg_prepared_statements
         UNION ALL SELECT pg_listening_channels()
         UNION ALL SELECT locktype FROM pg_locks
           WHERE pid = pg_backend_pid() AND locktype = 'advisory'`,
          [itsOwn],
        )
        expect(rows).toEqual([])
        await client.query('COMMIT')
        await client.end()
      }
    })
  },
)
