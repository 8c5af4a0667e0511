import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createDatabase } from '../support/create-database.ts'
import { runHoldfast, temporaryFolder } from './run-holdfast.ts'

/** An empty database that may be read and not written. */
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
  [
    'cannot be written to',
    readOnlyDatabase,
    // A check does not try to write.
    /^(?:This PostgreSQL cannot be written to|The database has no Holdfast tables in the schema)/,
  ],
  ['does not exist', missing, /database of the address does not exist/],
  ['has no socket', () => `postgres://u@/x?host=${sockets()}`, /cannot be reached/],
  ['has no place', () => `postgres://u@/x?host=${sockets()}/plain`, /cannot be reached/],
  ['is in capitals', () => 'POSTGRES://127.0.0.1:1/x', /cannot be reached/],
  ['has a space before it', () => ' postgres://127.0.0.1:1/x', /cannot be reached/],
]

/** A server that speaks no TLS. */
async function startPlainServer(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end('N'))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  return `postgres://ana:Sesame@127.0.0.1:${port}/chat?sslmode=no-verify`
}

const withPassword = (password: string): string => {
  const url = new URL(inject('postgresUrl'))
  url.password = password
  return url.href
}

const check = 'Check the address in --db or HOLDFAST_DB, and that the server runs.'

const reasons: readonly (readonly [string, () => string | Promise<string>, RegExp | string])[] = [
  [
    'nobody answers',
    () => 'postgres://ana:Sesame@127.0.0.1:1/chat',
    `PostgreSQL cannot be reached at its URL. The cause: connect ECONNREFUSED 127.0.0.1:1. ${check}`,
  ],
  [
    'it has no TLS',
    startPlainServer,
    `PostgreSQL cannot be reached at its URL. The cause: The server does not support SSL connections. ${check}`,
  ],
  [
    'the password is wrong',
    () => withPassword('Sesame'),
    /^PostgreSQL rejected the user name or the password\. The cause: .+\. Check the address/,
  ],
  [
    'the password is not encoded',
    () => 'postgres://ana:S@esame/w#rd@127.0.0.1:1/chat',
    'The address cannot be read as a URL. Percent-encode special characters of the user name and the password: "@" is %40, "/" is %2F, "#" is %23, "?" is %3F, "%" is %25. Check --db or HOLDFAST_DB.',
  ],
]

describe('a PostgreSQL that cannot be used', () => {
  it.each(reasons)('says why, and never its password: %s', async (_, placeOf, told) => {
    const db = await placeOf()
    for (const args of [['check'], ['serve', '--port', '0'], ['export', '--all'], ['migrate']]) {
      const { code, out, err } = await runHoldfast([...args, '--db', db])
      expect({ code, out }).toEqual({ code: 2, out: '' })
      const said = err.replace(/^holdfast: /, '').trim()
      if (typeof told === 'string') expect(said).toBe(told)
      else expect(said).toMatch(told)
      expect(err).not.toMatch(/esame|rd@/)
    }
  })
})

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
