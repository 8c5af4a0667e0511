import { expect, it } from 'vitest'
import { createHoldfast, parseMessageId, parseOwnerId } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { allMigrations } from '../../src/store/postgres/migrations/all-migrations.ts'
import type { Migration } from '../../src/store/postgres/migrations/migration.ts'
import { readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  createThread,
  messageAdded,
  thread,
} from '../../src/testing/store-rules/thread-script.ts'
import { openTestDatabase, type TestDatabase } from './test-database.ts'

const newest = allMigrations.at(-1)?.version ?? 0

/** What the next version would do when it opens the database. */
async function upgrade(database: TestDatabase, ...steps: readonly Migration[]): Promise<void> {
  const client = await database.connect()
  await client.query('BEGIN')
  const query = async (text: string, values: readonly unknown[] = []) =>
    (await client.query({ text, values: [...values] })).rows as never
  await migrate(query, 'holdfast', [...allMigrations, ...steps])
  await client.query('COMMIT')
}

const adding: Migration = {
  version: newest + 1,
  isAdditive: true,
  toSql: (schema) => `
    ALTER TABLE ${schema}.threads ADD COLUMN mood text;
    ALTER TABLE ${schema}.messages ADD COLUMN weight integer NOT NULL DEFAULT 1;
    ALTER TABLE ${schema}.events ADD COLUMN origin text;
    ALTER TABLE ${schema}.calls ADD COLUMN retries integer;
    CREATE TABLE ${schema}.moods (id text PRIMARY KEY);
    CREATE INDEX calls_by_name ON ${schema}.calls (thread_id, name)`,
}
const breaking: Migration = {
  version: newest + 2,
  toSql: (schema) => `ALTER TABLE ${schema}.threads RENAME COLUMN title TO name`,
}

it('[LG12] runs on a database that a newer version has only added to, whether it was open or is opened then', async () => {
  const database = await openTestDatabase()
  const before = database.open()
  await createThread(before)
  await append(before, [messageAdded('One', parseMessageId('one'))])
  await upgrade(database, adding)
  await append(before, [messageAdded('Two', parseMessageId('two'))])
  const after = database.open()
  await append(after, [messageAdded('Three', parseMessageId('three'))])
  const holdfast = createHoldfast({ store: after, model: scriptedModel(() => [{ text: 'Fine.' }]) })
  const sent = await holdfast.send({
    threadId: thread,
    create: { ownerId: parseOwnerId('ana'), title: '' },
    message: { id: parseMessageId('four'), parts: [{ type: 'text', text: 'Four' }] },
  })
  expect(sent.kind).toBe('started')
  await holdfast.settled()
  await holdfast.close()
  expect(await readPage(before)).toEqual(await readPage(after))
  expect((await readPage(after)).messages).toHaveLength(5)
  const client = await database.connect()
  const { rows } = await client.query(
    `SELECT version, is_additive FROM holdfast.migrations WHERE version > ${newest}`,
  )
  expect(rows).toEqual([{ version: newest + 1, is_additive: true }])
})

it('[LG12] refuses a database that a newer version has changed otherwise, and leaves it as it is', async () => {
  const database = await openTestDatabase()
  await createThread(database.open())
  await upgrade(database, adding, breaking)
  const store = database.open()
  await expect(store.readThread(thread)).rejects.toMatchObject({
    code: 'store-newer',
    message: expect.stringContaining(`${newest + 2}`) as string,
  })
  // Nor does something that was only added later make it good.
  await upgrade(database, adding, breaking, {
    version: newest + 3,
    isAdditive: true,
    toSql: (schema) => `CREATE TABLE ${schema}.more (id text)`,
  })
  await expect(store.readThread(thread)).rejects.toMatchObject({ code: 'store-newer' })
  const client = await database.connect()
  expect((await client.query('SELECT name FROM holdfast.threads')).rows).toHaveLength(1)
})
