import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { postgres } from '../../src/store/postgres/index.ts'
import { createDatabase } from '../support/create-database.ts'
import { temporaryFolder } from './run-holdfast.ts'
import { runInProcess } from './run-in-process.ts'

/** A database that is there and has nothing in it. */
interface EmptyDatabase {
  /** For `--db`. */
  readonly place: string
  /** What a person is told who wants to read it. */
  readonly told: string
  /** What it has in it now. */
  readonly content: () => Promise<unknown>
}

async function queryAt(url: string, text: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

async function createPostgres(): Promise<string> {
  const database = await createDatabase(inject('postgresUrl'))
  onTestFinished(() => database.drop())
  return database.url
}

const readSchemas = (url: string) =>
  queryAt(
    url,
    `SELECT nspname AS schema, (SELECT count(*)::int FROM pg_class WHERE relnamespace = n.oid) AS relations
     FROM pg_namespace AS n WHERE nspname !~ '^(pg_|information_schema)' ORDER BY 1`,
  )

const emptyDatabases: Readonly<Record<string, () => Promise<EmptyDatabase>>> = {
  'an empty PostgreSQL database': async () => {
    const place = await createPostgres()
    return {
      place,
      told: 'The database has no Holdfast tables in the schema "holdfast". Run `holdfast migrate`, or check --db.',
      content: () => readSchemas(place),
    }
  },
  'a PostgreSQL database of another program': async () => {
    const place = await createPostgres()
    await queryAt(place, 'CREATE SCHEMA holdfast; CREATE TABLE holdfast.notes (text text)')
    return {
      place,
      told: 'The database has no Holdfast tables in the schema "holdfast". Run `holdfast migrate`, or check --db.',
      content: () => readSchemas(place),
    }
  },
  'an empty file': async () => {
    const place = join(temporaryFolder(), 'chat.db')
    writeFileSync(place, '')
    return {
      place,
      told: `${place} is empty: it has no Holdfast tables. Run \`holdfast migrate\`, or choose another with --db.`,
      content: async () => statSync(place).size,
    }
  },
}

const readers = [['export', '--all'], ['export', 'thread'], ['check'], ['check', '--repair']]
const rows = '[{"role": "user", "content": "Hello"}]'

describe.each(Object.entries(emptyDatabases))('%s', (_, create) => {
  it.each(readers.map((args) => [args.join(' '), args] as const))(
    '[CR6 LE1] holdfast %s refuses it, and creates nothing in it',
    async (_name, args) => {
      const { place, told, content } = await create()
      const before = await content()
      expect(await runInProcess([...args, '--db', place])).toEqual({
        code: 2,
        out: '',
        err: `holdfast: ${told}\n`,
      })
      expect(await content()).toEqual(before)
    },
  )

  it('[LE5] a dry run says what it would import, and creates nothing in it', async () => {
    const { place, content } = await create()
    const before = await content()
    expect(await runInProcess(['import', '-', '--dry-run', '--db', place], rows)).toEqual({
      code: 0,
      out: 'Read 1 thread, 1 message, 0 calls; 0 messages were here already; 0 mended; 0 failed.\nThis was a dry run: nothing was written.\n',
      err: '',
    })
    expect(await content()).toEqual(before)
  })
})

describe('a PostgreSQL database of an older version', () => {
  it('[LE5] is not migrated by a dry run', async () => {
    const url = await createPostgres()
    const store = postgres(url)
    await store.migrate()
    await store.close()
    await queryAt(
      url,
      `DELETE FROM holdfast.migrations WHERE version = (SELECT max(version) FROM holdfast.migrations)`,
    )
    const readVersions = () => queryAt(url, 'SELECT * FROM holdfast.migrations ORDER BY version')
    const before = await readVersions()
    expect(await runInProcess(['import', '-', '--dry-run', '--db', url], rows)).toEqual({
      code: 2,
      out: '',
      err: 'holdfast: The tables in the schema "holdfast" are of an older version, and a dry run changes nothing. Run `holdfast migrate` first.\n',
    })
    expect(await readVersions()).toEqual(before)
  })
})
