import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createDatabase } from '../support/create-database.ts'
import { runHoldfast, temporaryFolder } from './run-holdfast.ts'

/** A database that may be read and not written, with or without our tables in it. */
async function readOnlyDatabase(): Promise<string> {
  const database = await createDatabase(inject('postgresUrl'))
  onTestFinished(() => database.drop())
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const name = new URL(database.url).pathname.slice(1)
  await client.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`)
  await client.end()
  return database.url
}

const missing = (): string => {
  const url = new URL(inject('postgresUrl'))
  url.pathname = '/no_such_database'
  return url.href
}

/** A place for a socket that is no folder at all, and one that is empty. */
const sockets = (): string => {
  const folder = join(temporaryFolder(), 'sockets')
  mkdirSync(folder)
  chmodSync(folder, 0o700)
  writeFileSync(join(folder, 'plain'), '')
  return folder
}

const places: readonly (readonly [string, () => string | Promise<string>, RegExp])[] = [
  ['cannot be written to', readOnlyDatabase, /^This PostgreSQL cannot be written to\./],
  ['does not exist', missing, /database of the address does not exist/],
  ['has no socket', () => `postgres://u@/x?host=${sockets()}`, /cannot be reached/],
  ['has no place', () => `postgres://u@/x?host=${sockets()}/plain`, /cannot be reached/],
  ['is in capitals', () => 'POSTGRES://127.0.0.1:1/x', /cannot be reached/],
  ['has a space before it', () => ' postgres://127.0.0.1:1/x', /cannot be reached/],
]

describe('a PostgreSQL that', () => {
  it.each(places)('[HT1] %s is not spoken of as a file', async (_, placeOf, why) => {
    const place = await placeOf()
    const folder = temporaryFolder({ 'old.json': '[{"role": "user", "content": "Hello"}]' })
    for (const args of [['serve', '--port', '0'], ['check'], ['import', 'old.json']]) {
      const { code, out, err } = await runHoldfast([...args, '--db', place], { folder })
      expect({ code, out }).toEqual({ code: 2, out: '' })
      const said = err.replace(/^holdfast: /, '').trim()
      expect(said).toMatch(why)
      expect(said).not.toMatch(/\bfile\b|\bfolder\b|\n/i)
    }
  })
})
