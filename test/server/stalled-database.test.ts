import { HoldfastError, memory, type Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { readSse } from '../../src/client/read-sse.ts'
import { createDatabase } from '../support/create-database.ts'
import { openTcpLine } from '../support/tcp-line.ts'
import { type ChatServer, type Script, startChatServer } from './chat-server.ts'
import { pollUntil } from '../support/poll-until.ts'
import pg from 'pg'

async function openDatabase() {
  const database = await createDatabase(inject('postgresUrl'))
  onTestFinished(() => database.drop())
  const admin = new pg.Client({ connectionString: database.url })
  admin.on('error', () => {})
  await admin.connect()
  onTestFinished(() => admin.end())
  return { url: database.url, admin }
}

const post = (server: ChatServer, thread: string, text: string) =>
  fetch(`${server.url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: thread,
      messages: [{ id: `u-${thread}-${text}`, role: 'user', parts: [{ type: 'text', text }] }],
    }),
  })

const ready = async (server: ChatServer) => {
  const response = await fetch(`${server.url}/api/ready`)
  const body = (await response.json()) as { error?: { code: string; reason: string } }
  return [response.status, body.error?.code, body.error?.reason]
}
const healthy = async (server: ChatServer) => (await fetch(`${server.url}/api/health`)).status

/** One word, a pause, the next: a test that stands still for a second still meets it in the middle. */
const words = ['one ', 'two ', 'three ', 'four']
const script: Script = (text) =>
  text === 'long'
    ? words.flatMap((word) => [{ text: word }, { waitMs: 600 }] as const)
    : [{ text: 'Fine.' }]

const textOf = (page: string) =>
  [...page.matchAll(/"text":"(.*?)"/g)].map(([, text]) => text).join('')
const readText = async (server: ChatServer, thread: string) =>
  textOf(await (await fetch(`${server.url}/api/threads/${thread}/messages?limit=1`)).text())

/** Reads a stream of server-sent events to its end; `until` waits for one that is yet to come. */
function follow(response: Response) {
  const seen: string[] = []
  const waiting: { readonly fits: (data: string) => boolean; readonly found: () => void }[] = []
  const done = (async () => {
    for await (const { data } of readSse(response.body as ReadableStream<Uint8Array>)) {
      seen.push(data)
      for (const { fits, found } of waiting) if (fits(data)) found()
    }
  })()
  return {
    seen,
    done,
    until: (word: string) =>
      new Promise<void>((resolve) => {
        const fits = (data: string) => data.includes(word)
        if (seen.some(fits)) resolve()
        else waiting.push({ fits, found: resolve })
      }),
  }
}

const threads = ['a', 'b', 'c']

describe('while packets to the database vanish', () => {
  it('[LG3b LG1] answers go on over other connections, and everything is stored once', async () => {
    const { url } = await openDatabase()
    const line = await openTcpLine(url)
    const store = postgres(line.url, { statementTimeoutMs: 1_500, connectTimeoutMs: 1_000 })
    const server = await startChatServer(script, { store, leaseMs: 20_000 })
    onTestFinished(() => store.close())
    const chats = []
    for (const thread of threads) chats.push(follow(await post(server, thread, 'long')))
    await Promise.all(chats.map((chat) => chat.until('one ')))
    line.stall('now')
    await Promise.all(chats.map((chat) => chat.until('saving-interrupted')))
    await Promise.all(chats.map((chat) => chat.done))
    for (const [index, thread] of threads.entries()) {
      expect(chats[index]?.seen.at(-1)).toBe('[DONE]')
      expect(await readText(server, thread)).toBe(words.join(''))
    }
    expect(await ready(server)).toEqual([200, undefined, undefined])
  }, 60_000)

  it('[LG3a HT1] the server is not ready and says why, refuses new messages in time, and goes on after', async () => {
    const { url } = await openDatabase()
    const line = await openTcpLine(url)
    const store = postgres(line.url)
    const server = await startChatServer(script, { store, leaseMs: 60_000 })
    onTestFinished(() => store.close())
    await (await post(server, 'other', 'hi')).text()
    const chats = []
    for (const thread of threads) chats.push(follow(await post(server, thread, 'long')))
    await Promise.all(chats.map((chat) => chat.until('one ')))
    line.stall('all')
    await Promise.all(chats.map((chat) => chat.until('saving-interrupted')))
    await expect.poll(() => ready(server)).toEqual([503, 'not-ready', 'commits-waiting'])
    expect(await healthy(server)).toBe(200)
    // The first has to find out for itself that nobody answers.
    expect((await post(server, 'other', 'first')).status).toBe(503)
    const began = performance.now()
    expect((await post(server, 'other', 'again')).status).toBe(503)
    expect(performance.now() - began).toBeLessThan(6_000)
    line.restore()
    await Promise.all(chats.map((chat) => chat.done))
    for (const thread of threads) expect(await readText(server, thread)).toBe(words.join(''))
    await expect.poll(() => ready(server)).toEqual([200, undefined, undefined])
    expect(await (await post(server, 'other', 'again')).text()).toContain('Fine.')
  }, 90_000)
})

describe('while the disk of the database is full', () => {
  const fillDisk = `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
    END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON holdfast.messages
      FOR EACH ROW EXECUTE FUNCTION full_disk();
    CREATE TRIGGER full_disk BEFORE INSERT ON holdfast.events
      FOR EACH ROW EXECUTE FUNCTION full_disk()`

  it('[LG3a HT1] the server is not ready, streams wait, and all goes on when there is room', async () => {
    const { url, admin } = await openDatabase()
    const store = postgres(url)
    const server = await startChatServer(script, { store, leaseMs: 60_000 })
    onTestFinished(() => store.close())
    await (await post(server, 'other', 'hi')).text()
    const chat = follow(await post(server, 'a', 'long'))
    await chat.until('one ')
    await admin.query(fillDisk)
    await chat.until('saving-interrupted')
    expect(await ready(server)).toEqual([503, 'not-ready', 'store-full'])
    expect(await ready(server)).toEqual([503, 'not-ready', 'store-full'])
    expect(await healthy(server)).toBe(200)
    const refused = await post(server, 'other', 'again')
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { error: { code: 'store-full' } },
    ])
    await admin.query('DROP FUNCTION full_disk CASCADE')
    await chat.done
    expect(await readText(server, 'a')).toBe(words.join(''))
    expect(await ready(server)).toEqual([200, undefined, undefined])
  }, 60_000)

  it('[HT1] a message that meets it says so to the probe as well, though nothing runs', async () => {
    const memoryStore = memory()
    let isFull = false
    const store: Store = {
      ...memoryStore,
      commit(commits) {
        const isWrite = commits.some(({ size }) => size > 0)
        if (!isFull || !isWrite) return memoryStore.commit(commits)
        throw new HoldfastError('store-full', 'The disk is full.', { isTemporary: true })
      },
    }
    const server = await startChatServer(script, { store })
    isFull = true
    expect((await post(server, 'a', 'hi')).status).toBe(503)
    expect(await ready(server)).toEqual([503, 'not-ready', 'store-full'])
    isFull = false
    expect(await (await post(server, 'a', 'hi')).text()).toContain('Fine.')
    expect(await ready(server)).toEqual([200, undefined, undefined])
  })

  it('[HT1] the server is not ready until there is room, and then without anybody writing', async () => {
    const { url, admin } = await openDatabase()
    const store = postgres(url)
    const server = await startChatServer(script, { store })
    onTestFinished(() => store.close())
    await (await post(server, 'other', 'hi')).text()
    await admin.query(fillDisk)
    expect((await post(server, 'other', 'again')).status).toBe(503)
    expect(await ready(server)).toEqual([503, 'not-ready', 'store-full'])
    await admin.query('DROP FUNCTION full_disk CASCADE')
    await expect
      .poll(() => ready(server), { interval: 250, timeout: 5_000 })
      .toEqual([200, undefined, undefined])
    const { rows } = await admin.query('SELECT id FROM holdfast.threads')
    expect(rows).toEqual([{ id: 'other' }])
  })

  it('[HT1] a disk that looks full and is not keeps nobody out', async () => {
    const store: Store = { ...memory(), problem: () => 'store-full' }
    const server = await startChatServer(script, { store })
    expect(await ready(server)).toEqual([200, undefined, undefined])
  })
})

it('[HT1] a server that hears of nobody else is not ready', async () => {
  const store: Store = { ...memory(), problem: () => 'listener-down' }
  const server = await startChatServer(script, { store })
  expect(await ready(server)).toEqual([503, 'not-ready', 'listener-down'])
  expect(await healthy(server)).toBe(200)
})

describe('while the database has no connection left', () => {
  it('[LG3a] new messages get 503 at once, streams wait, and all goes on when there is one', async () => {
    const { url, admin } = await openDatabase()
    const name = `few_${crypto.randomUUID().replaceAll('-', '')}`
    await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD 'few' CONNECTION LIMIT 6`)
    await admin.query(`GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO ${name}`)
    onTestFinished(async () => {
      await admin.query(`DROP OWNED BY ${name} CASCADE`)
      await admin.query(`DROP ROLE ${name}`)
    })
    const own = new URL(url)
    own.username = name
    own.password = 'few'
    const store = postgres(own.href, { poolSize: 4 })
    const server = await startChatServer(script, { store, leaseMs: 60_000 })
    onTestFinished(() => store.close())
    await (await post(server, 'other', 'hi')).text()
    const chat = follow(await post(server, 'a', 'long'))
    await chat.until('one ')
    const others = await occupyConnections(admin, own.href, name)
    await chat.until('saving-interrupted')
    const began = performance.now()
    const refused = await post(server, 'other', 'again')
    expect(refused.status).toBe(503)
    // Whoever waits for a connection waits 5 s.
    expect(performance.now() - began).toBeLessThan(4_500)
    expect((await ready(server)).slice(0, 2)).toEqual([503, 'not-ready'])
    for (const other of others) await other.end()
    await chat.done
    expect(await readText(server, 'a')).toBe(words.join(''))
    expect(await (await post(server, 'other', 'again')).text()).toContain('Fine.')
    expect(await ready(server)).toEqual([200, undefined, undefined])
  }, 60_000)

  /** Ends the store's connections and has the places before it comes back. */
  async function occupyConnections(admin: pg.Client, url: string, role: string) {
    const others: pg.Client[] = []
    const end = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
      WHERE usename = '${role}' AND application_name = 'holdfast'`
    const occupyOne = async () => {
      await admin.query(end)
      const other = new pg.Client({ connectionString: url })
      other.on('error', () => {})
      const isIn = await other.connect().then(
        () => true,
        () => false,
      )
      if (isIn) others.push(other)
      return others.length
    }
    await pollUntil(occupyOne, (count) => count === 6, { what: 'the six connections of the role' })
    return others
  }
})
