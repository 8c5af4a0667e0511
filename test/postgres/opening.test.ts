import { createServer } from 'node:net'
import { once } from 'node:events'
import { inspect } from 'node:util'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HoldfastError } from '../../src/core/holdfast-error.ts'
import { parseCallId } from '../../src/core/ids.ts'
import { postgres } from '../../src/store/postgres/index.ts'
import { allMigrations } from '../../src/store/postgres/migrations/all-migrations.ts'
import type { Store } from '../../src/store/store.ts'
import {
  foldEvents,
  newestFirst,
  readChanges,
  readPage,
} from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  at,
  begun,
  call,
  createThread,
  ended,
  turnEvent,
  recorded,
  resumed,
  messageAdded,
  started,
  succeeded,
  text,
  thread,
  tryAppend,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { createTestDatabase, openTestDatabase } from './test-database.ts'

const password = 'Sesame-4711'

async function faultOf(store: Store): Promise<HoldfastError> {
  const error = await store.readThread(thread).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  await store.close()
  if (!(error instanceof HoldfastError)) throw new Error(`No fault but ${inspect(error)}`)
  return error
}

const endedLine = '{"type":"turn-ended","ending":{"kind":"completed"}}'

const oldFunctions =
  'append_to_turn close_way commit_appends delete_thread find_illegal seal_turn write_wide'

/** What version 5 would have left, if every append had one event. */
const toVersion5 = `
  DROP TABLE holdfast.shares, holdfast.share_messages, holdfast.repairs, holdfast.inputs;
  DROP TABLE holdfast.search_threads, holdfast.search_texts;
  ALTER TABLE holdfast.threads DROP COLUMN incarnation, DROP COLUMN mark,
    DROP COLUMN metadata, DROP COLUMN queue, DROP COLUMN forked_from,
    DROP COLUMN pinned, DROP COLUMN archived, DROP COLUMN title_note;
  ALTER TABLE holdfast.messages DROP COLUMN mark, DROP COLUMN parent_seq, DROP COLUMN versions;
  DROP TABLE holdfast.files, holdfast.file_uses, holdfast.file_pieces;
  ALTER TABLE holdfast.events DROP COLUMN mark;
  ALTER TABLE holdfast.events DROP COLUMN size, ADD COLUMN call_id text COLLATE "C";
  UPDATE holdfast.events SET call_id = substring(payload from '"callId":"([^"]*)"');
  DELETE FROM holdfast.migrations WHERE version > 5;`

describe('opening', () => {
  it('makes its tables once when many processes open an empty database at the same time', async () => {
    const database = await openTestDatabase()
    const stores = Array.from({ length: 6 }, () => database.open())
    const found = await Promise.all(stores.map((store) => store.readThread(thread)))
    expect(found).toEqual(stores.map(() => null))
    await createThread(stores[0]!)
    await append(stores[1]!, [messageAdded('Hi')])
    expect((await stores[5]!.readThread(thread))?.seq).toBe(1)
    const client = await database.connect()
    const { rows } = await client.query<{ version: number }>(
      'SELECT version FROM holdfast.migrations ORDER BY version',
    )
    expect(rows.map(({ version }) => version)).toEqual(allMigrations.map(({ version }) => version))
  })

  it('brings a database of an older version up to date, and shows what it showed', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    await append(store, [messageAdded('Hi'), started(), ...text('One'), ended()])
    for (const event of [resumed(), ...text('Two')]) await append(store, [event])
    const before = await readPage(store)
    const client = await database.connect()
    await client.query(`${toVersion5}
      ALTER TABLE holdfast.messages DROP COLUMN is_sealed;
      CREATE INDEX events_by_message ON holdfast.events (thread_id, message_id, seq);
      DELETE FROM holdfast.migrations WHERE version > 1;
      INSERT INTO holdfast.migrations (version) VALUES (2), (3), (4)`)
    const newer = database.open()
    expect(await readPage(newer)).toEqual(before)
    await append(newer, [...text('Three'), ended()])
    expect((await readPage(newer)).messages[0]).toMatchObject({ progress: { status: 'ended' } })
    const { rows } = await client.query('SELECT FROM holdfast.messages WHERE NOT is_sealed')
    expect(rows).toEqual([])
  })

  it('reads the events of version 5, a row for each, as it reads its own', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    const broken = turnEvent({ type: 'text-started', block: '9', kind: 'text' })
    for (const event of [
      messageAdded('Hi'),
      started(),
      ...text('One'),
      recorded(call, { input: { city: 'Oslo' } }),
      begun(),
      succeeded({ degrees: 20 }),
      broken,
      recorded(parseCallId('second')),
      begun(parseCallId('second')),
      { type: 'thread-renamed', title: 'Weather', at } as const,
    ]) {
      await append(store, [event])
    }
    const client = await database.connect()
    const cut = await client.query(`UPDATE holdfast.events SET payload = left(payload, 12)
      WHERE payload LIKE '%"block":"9"%'`)
    expect(cut.rowCount).toBe(1)
    const before = { page: await readPage(store), changes: await readChanges(store, 0) }
    expect(before.page.messages[0]).toMatchObject({ unreadable: 1 })
    await client.query(`${toVersion5}
      ${oldFunctions
        .split(' ')
        .map((name) => `CREATE FUNCTION holdfast.${name}() RETURNS void LANGUAGE sql AS '';`)
        .join('')}`)

    const newer = database.open()
    expect(await readPage(newer)).toEqual(before.page)
    expect(await readChanges(newer, 0)).toEqual(before.changes)
    const { rows } = await client.query(
      `SELECT proname FROM pg_proc WHERE pronamespace = 'holdfast'::regnamespace`,
    )
    expect(rows).toEqual([{ proname: 'refuse_revival' }])
    // Events of before and batches of now, one after the other.
    await append(newer, [...text('Two'), succeeded(1, parseCallId('second')), ended()])
    const [answer] = (await readPage(newer)).messages
    expect(answer).toMatchObject({ unreadable: 1, progress: { status: 'ended' } })
    expect(await newer.readMessage(thread, turn)).toEqual(answer)
  })

  it('[LG4] reads a turn by its events that had ended before a turn was its snapshot at once', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    await append(store, [started(), ...text('One')])
    const client = await database.connect()
    await client.query(`SET search_path = holdfast;
      INSERT INTO events (thread_id, seq, size, commit_seq, message_id, at, payload)
        SELECT thread_id, 5, 1, 5, message_id, at, '${endedLine}' FROM events;
      UPDATE messages SET status = 'ended'; UPDATE threads SET seq = 5`)
    const written = [started(), ...text('One'), ended()]
    expect((await readPage(store)).messages).toEqual(newestFirst(foldEvents(written)))
    const more = [resumed(), ...text('Two'), ended()]
    await append(store, more)
    expect((await readPage(store)).messages).toEqual(newestFirst(foldEvents([...written, ...more])))
    expect((await client.query('SELECT FROM events')).rows).toEqual([])
  })

  it('keeps stores of two schemas of one database apart', async () => {
    const database = await openTestDatabase()
    const [one, two] = [database.open({ schema: 'one' }), database.open({ schema: 'Two' })]
    await createThread(one)
    expect(await two.readThread(thread)).toBeNull()
    await createThread(two)
    await append(two, [messageAdded('Hi')])
    expect((await one.readThread(thread))?.seq).toBe(0)
    expect(() => postgres(database.url, { schema: 'a"; DROP TABLE b' })).toThrow(HoldfastError)
  })

  it('refuses a database of a newer version and leaves it as it is', async () => {
    const database = await openTestDatabase()
    await createThread(database.open())
    const client = await database.connect()
    await client.query('INSERT INTO holdfast.migrations (version) VALUES (999)')
    const store = database.open()
    await expect(tryAppend(store, [messageAdded('Hi')])).rejects.toMatchObject({
      name: 'HoldfastError',
      code: 'store-newer',
      message: expect.stringContaining('999') as string,
    })
    const { rows } = await client.query('SELECT seq FROM holdfast.threads')
    expect(rows).toEqual([{ seq: '0' }])
  })

  it('reads a database that cannot be written to, and says so when it is to write', async () => {
    const database = await openTestDatabase()
    const first = database.open()
    await createThread(first)
    const client = await database.connect()
    const name = new URL(database.url).pathname.slice(1)
    await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    const store = database.open()
    expect((await store.readThread(thread))?.seq).toBe(0)
    await expect(tryAppend(store, [messageAdded('Hi')])).rejects.toMatchObject({
      code: 'store-read-only',
    })
    const empty = database.open({ schema: 'empty' })
    expect((await faultOf(empty)).code).toBe('store-read-only')
  })

  it('[LG9] refuses a database in which most texts cannot be stored, and leaves nothing in it', async () => {
    const database = await openTestDatabase()
    const client = await database.connect()
    const name = `${new URL(database.url).pathname.slice(1)}_latin`
    await client.query(
      `CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    )
    onTestFinished(async () => {
      const admin = await createTestDatabase()
      const other = await admin.connect()
      await other.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.close()
    })
    const url = new URL(database.url)
    url.pathname = `/${name}`
    const store = postgres(url.href)
    onTestFinished(() => store.close())
    const refused = {
      code: 'bad-option',
      message: expect.stringContaining('has the encoding LATIN1') as string,
    }
    await expect(createThread(store)).rejects.toMatchObject(refused)
    await expect(store.migrate?.()).rejects.toMatchObject(refused)
    const latin = new pg.Client({ connectionString: url.href })
    await latin.connect()
    onTestFinished(() => latin.end())
    const { rows } = await latin.query(`SELECT FROM pg_namespace WHERE nspname = 'holdfast'`)
    expect(rows).toHaveLength(0)
  })

  it('[LG9] stores the same for an account whose lists have no nulls', async () => {
    const database = await openTestDatabase()
    const client = await database.connect()
    const name = new URL(database.url).pathname.slice(1)
    await client.query(`ALTER DATABASE ${name} SET array_nulls = off`)
    const store = database.open()
    await createThread(store)
    await tryAppend(store, [messageAdded('Hi')])
    expect((await store.readThread(thread))?.seq).toBe(1)
  })

  it('does not touch a schema with tables of somebody else', async () => {
    const database = await openTestDatabase()
    const client = await database.connect()
    await client.query('CREATE SCHEMA holdfast; CREATE TABLE holdfast.messages (mine integer)')
    expect((await faultOf(database.open())).code).toBe('store-foreign')
    const { rows } = await client.query(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'holdfast'`,
    )
    expect(rows).toEqual([{ tablename: 'messages' }])
  })

  it('tries again when it could not be opened', async () => {
    const database = await openTestDatabase()
    const client = await database.connect()
    await client.query('CREATE SCHEMA holdfast; CREATE TABLE holdfast.messages (mine integer)')
    const store = database.open()
    await expect(store.readThread(thread)).rejects.toMatchObject({ code: 'store-foreign' })
    await client.query('DROP SCHEMA holdfast CASCADE')
    expect(await store.readThread(thread)).toBeNull()
  })

  it("leaves the parsers of the host's own connections alone", async () => {
    const database = await openTestDatabase()
    await createThread(database.open())
    const client = await database.connect()
    const { rows } = await client.query('SELECT 1::bigint AS one')
    expect(rows).toEqual([{ one: '1' }])
  })
})

describe('a server that cannot be used', () => {
  async function faultAt(change: (url: URL) => void): Promise<HoldfastError> {
    const database = await openTestDatabase()
    const url = new URL(database.url)
    url.password = password
    change(url)
    const fault = await faultOf(postgres(url.href))
    // Not in the sentence, nor in anything that a logger would print with it.
    expect(inspect(fault, { depth: 10, showHidden: true })).not.toContain(password)
    return fault
  }

  it('says that the password is wrong without showing it', async () => {
    const fault = await faultAt(() => {})
    expect(fault.code).toBe('store-unreachable')
    expect(fault.message).toBe('PostgreSQL rejected the user name or the password.')
  })

  it('says that nobody answers', async () => {
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as { readonly port: number }
    probe.close()
    await once(probe, 'close')
    const fault = await faultAt((url) => {
      url.port = `${port}`
    })
    expect(fault.code).toBe('store-unreachable')
    expect(fault.message).toBe('PostgreSQL cannot be reached at its URL.')
  })

  it('says that the host does not exist', async () => {
    const fault = await faultAt((url) => {
      url.hostname = 'nobody.invalid'
    })
    expect(fault.code).toBe('store-unreachable')
  })

  it('says that the database does not exist', async () => {
    const database = await openTestDatabase()
    const url = new URL(database.url)
    url.pathname = '/no_such_database'
    const fault = await faultOf(postgres(url.href))
    expect(fault.code).toBe('store-unreachable')
    expect(fault.message).toBe('The PostgreSQL database of the address does not exist.')
  })

  it.each([
    'nonsense',
    '',
    `http://ana:${password}@localhost/db`,
    `postgres://ana:${password}@local host:port/db`,
  ])('refuses %j as an address at once', (url) => {
    let fault: unknown
    try {
      postgres(url)
    } catch (error) {
      fault = error
    }
    expect(fault).toBeInstanceOf(HoldfastError)
    expect(fault).toMatchObject({ code: 'bad-option' })
    expect(inspect(fault, { depth: 10, showHidden: true })).not.toContain(password)
  })
})
