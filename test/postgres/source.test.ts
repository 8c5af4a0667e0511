import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { inspect } from 'node:util'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HoldfastError } from '../../src/core/holdfast-error.ts'
import { parseThreadId } from '../../src/core/ids.ts'
import { postgres } from '../../src/store/postgres/index.ts'
import { temporaryFolder } from '../cli/run-holdfast.ts'

const url = 'postgres://ana:Sesame@db/chat'
const pool = { connect: () => Promise.reject(new Error('no')) }

function faultOf(source: unknown, options?: unknown): string {
  try {
    postgres(source as never, options as never)
  } catch (error) {
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('Sesame')
    if (error instanceof HoldfastError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'none'
}

const inAddress =
  'It is part of the address: { url: "postgres://user:password@host:5432/database" }.'
const inMode = 'TLS is set in the address: "postgres://…/database?sslmode=verify-full".'

describe('the first argument of postgres', () => {
  it.each([
    [
      { url, schema: 'chat_a' },
      'the option "schema" belongs in the second argument: postgres({ url }, { schema }).',
    ],
    [
      { url, schema: 'chat_a', poolSize: 2 },
      'the options "schema" and "poolSize" belong in the second argument: postgres({ url }, { schema, poolSize }).',
    ],
    [
      { pool, schema: 'chat_a', pollMs: 20, onError: () => {} },
      'the options "schema", "pollMs" and "onError" belong in the second argument: postgres({ pool }, { schema, pollMs, onError }).',
    ],
  ])('[CF1] %o has options of the second', (source, told) => {
    expect(faultOf(source)).toBe(`bad-option: postgres: ${told}`)
  })

  it.each([
    [{ connectionString: url }, 'postgres has no option "connectionString". Did you mean "url"?'],
    [
      { url, connectionString: url },
      'postgres has no option "connectionString". Did you mean "url"?',
    ],
    [{ uri: url }, 'postgres has no option "uri". Did you mean "url"?'],
    [{ URL: url }, 'postgres has no option "URL". Did you mean "url"?'],
    [{ url, max: 4 }, 'postgres has no option "max". Did you mean "poolSize"?'],
    [{ url, ssl: true }, `postgres has no option "ssl". ${inMode}`],
    [
      { host: 'db', user: 'ana', password: 'Sesame' },
      `postgres has no option "host". ${inAddress}`,
    ],
    [
      { url, nonsenseXyz: 1 },
      'postgres has no option "nonsenseXyz". Its options are url, pool, schema, listenUrl, pollMs, poolSize, connectTimeoutMs, statementTimeoutMs, onError.',
    ],
  ])('[CF1] %o has a name that postgres does not know', (source, told) => {
    expect(faultOf(source)).toBe(`bad-option: ${told}`)
  })

  it.each([
    [undefined, 'postgres takes a postgres:// address, { url } or { pool }, not undefined.'],
    [7, 'postgres takes a postgres:// address, { url } or { pool }, not 7.'],
    [[url], 'postgres takes a postgres:// address, { url } or { pool }, not a list.'],
    [new URL(url), 'postgres takes an address as a string: url.href.'],
    [pool, 'postgres takes a pool as { pool }, not the pool itself.'],
    [
      new pg.Pool({ connectionString: url }),
      'postgres takes a pool as { pool }, not the pool itself.',
    ],
    [{}, 'postgres needs the option "url": a postgres:// address; or "pool": a pool of pg.'],
    [
      { url: undefined },
      'postgres needs the option "url": a postgres:// address; or "pool": a pool of pg.',
    ],
    [{ url: 7 }, 'postgres: the option "url" must be a postgres:// address, not 7.'],
    [
      { url: new URL(url) },
      'postgres: the option "url" must be a postgres:// address, not an object.',
    ],
    [
      { pool: {} },
      'postgres: the option "pool" must be a pool of pg, or one with its `connect`, not an object.',
    ],
    [{ url, pool }, 'postgres takes { url } or { pool }, not both.'],
  ])('[CF1] is not %o', (source, told) => {
    expect(faultOf(source)).toBe(`bad-option: ${told}`)
  })

  it('[CF1] is not an option of the driver in the second argument either', () => {
    expect(faultOf(url, { ssl: true })).toBe(`bad-option: postgres has no option "ssl". ${inMode}`)
    expect(faultOf({ pool }, { user: 'ana' })).toBe(
      `bad-option: postgres has no option "user". ${inAddress}`,
    )
  })
})

const encode =
  'Percent-encode special characters of the user name and the password: "@" is %40, "/" is %2F, "#" is %23, "?" is %3F, "%" is %25.'

describe('an address', () => {
  it.each([
    ['mysql://ana:Sesame@db/chat', 'The address must begin with postgres://, not with mysql://.'],
    ['http://ana:Sesame@db/chat', 'The address must begin with postgres://, not with http://.'],
    ['postgres:/ana:Sesame@db/chat', 'The address must begin with postgres://.'],
    [
      'chat.db',
      'The address must begin with postgres://. For a file: sqlite(file), from holdfast/sqlite.',
    ],
    [
      'file:chat.db',
      'The address must begin with postgres://. For a file: sqlite(file), from holdfast/sqlite.',
    ],
    ['host=db password=Sesame', 'The address must begin with postgres://.'],
    ['', 'The address must begin with postgres://, and is empty.'],
  ])('[CF1] is not %j', (address, told) => {
    expect(faultOf(address)).toBe(`bad-option: ${told}`)
    expect(faultOf({ url: address })).toBe(`bad-option: ${told}`)
    expect(faultOf({ pool }, { listenUrl: address })).toBe(
      `bad-option: The address "listenUrl": ${told}`,
    )
  })

  it.each([
    'postgres://ana:S@esame/w#rd@db/chat',
    'postgres://ana:Sesame#1@db/chat',
    'postgres://ana:Sesame/1@db/chat',
    'postgres://ana:4711/Sesame@db/chat',
    'postgres://ana:4711?Sesame@db/chat',
    'postgres://ana:Sesame?1@db/chat',
    'postgres://ana:Sesame%E0@db/chat',
    'postgres://ana:Sesame@db:port/chat',
  ])('[CF1] that cannot be read says what to encode, and shows nothing of it: %s', (address) => {
    expect(faultOf(address)).toBe(`bad-option: The address cannot be read as a URL. ${encode}`)
  })

  it('[CF1] may have a password that is encoded, and a name with an "@" in a parameter', () => {
    for (const address of [
      'postgres://ana:p%40ss%2Fw%23rd@db/chat',
      'postgres://ana:p@ss@db/chat',
      'postgres://db/chat?user=ana@server&password=Sesame',
      'POSTGRES://db/chat',
    ]) {
      expect(faultOf(address)).toBe('none')
    }
  })

  it('[CF1] that names a certificate which cannot be read says which', () => {
    const missing = `${temporaryFolder()}/none.pem`
    expect(faultOf(`${url}?sslmode=verify-full&sslrootcert=${missing}`)).toBe(
      `bad-option: The address names the file ${missing}, which cannot be read.`,
    )
  })
})

/** A server that agrees to TLS, and then sends `answer`. */
async function startServer(answer: string): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('S')
      socket.once('data', () => socket.end(answer))
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as { readonly port: number }).port}`
}

it('[LG3a] a TLS that fails is a server that cannot be reached, and may be in a moment', async () => {
  const host = await startServer('HTTP/1.1 400 Bad Request\r\n\r\n')
  const store = postgres(`postgres://ana:Sesame@${host}/chat?sslmode=no-verify`)
  onTestFinished(() => store.close())
  await expect(store.readThread(parseThreadId('t'))).rejects.toMatchObject({
    code: 'store-unreachable',
    isTemporary: true,
    message: 'PostgreSQL cannot be reached at its URL.',
  })
})
