import { HoldfastError, memory, type Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { readSse } from '../../src/client/read-sse.ts'
import { createDatabase } from '../support/create-database.ts'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { type ChatServer, startChatServer } from './chat-server.ts'

/** How soon a client must hear that nothing can be stored. */
const soonMs = 2_000

interface Trouble {
  readonly code: string
  readonly store: Store
  begin(): Promise<void>
  end(): Promise<void>
}

/** A store whose writes are refused while it is in trouble. */
function refusing(): Trouble {
  const store = memory()
  let isAway = false
  return {
    code: 'store-locked',
    store: {
      ...store,
      commit(appends) {
        const options = { isTemporary: true } as const
        if (isAway) throw new HoldfastError('store-locked', 'Locked.', options)
        return store.commit(appends)
      },
    },
    begin: async () => void (isAway = true),
    end: async () => void (isAway = false),
  }
}

/** A real file that another process locks for itself. */
function locked(): Trouble {
  const file = temporaryFile()
  const store = sqlite(file)
  onTestFinished(() => store.close())
  const script = `
    const { DatabaseSync } = require('node:sqlite')
    const db = new DatabaseSync(${JSON.stringify(file)})
    db.exec('PRAGMA busy_timeout = 5000')
    db.exec('BEGIN EXCLUSIVE')
    process.stdout.write('locked')
    process.stdin.once('data', () => { db.exec('ROLLBACK'); db.close(); process.exit(0) })`
  let holder: ReturnType<typeof spawn> | undefined
  onTestFinished(() => void holder?.kill())
  return {
    code: 'store-locked',
    store,
    async begin() {
      holder = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
      await once(holder.stdout!, 'data')
    },
    async end() {
      const gone = once(holder!, 'exit')
      holder!.stdin!.write('go')
      await gone
    },
  }
}

/** A real PostgreSQL behind a line that is cut. */
async function unreachable(): Promise<Trouble> {
  const database = await createDatabase(inject('postgresUrl'))
  const { hostname, port } = new URL(database.url)
  const sockets = new Set<Socket>()
  const line = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  const open = async (at: number) => {
    line.listen(at, '127.0.0.1')
    await once(line, 'listening')
    return (line.address() as AddressInfo).port
  }
  const cut = async () => {
    const closed = once(line, 'close')
    line.close()
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    await closed
  }
  const url = new URL(database.url)
  const ownPort = await open(0)
  url.host = `127.0.0.1:${ownPort}`
  const store = postgres(url.href)
  onTestFinished(async () => {
    await store.close()
    await cut()
    await database.drop()
  })
  return {
    code: 'store-unreachable',
    store,
    begin: cut,
    end: async () => void (await open(ownPort)),
  }
}

/** A real PostgreSQL whose database takes no connections, as while it is restored or renamed. */
async function closedDatabase(): Promise<Trouble> {
  const database = await createDatabase(inject('postgresUrl'))
  const name = new URL(database.url).pathname.slice(1)
  const admin = new pg.Client({ connectionString: inject('postgresUrl') })
  await admin.connect()
  const store = postgres(database.url)
  onTestFinished(async () => {
    await store.close()
    await admin.end()
    await database.drop()
  })
  const allow = (isAllowed: boolean) =>
    admin.query(`alter database ${name} allow_connections ${String(isAllowed)}`)
  return {
    code: 'store-unreachable',
    store,
    async begin() {
      await allow(false)
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      )
    },
    end: async () => void (await allow(true)),
  }
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

/** Reads one server-sent event after the other. */
const reader = (response: Response) => {
  const events = readSse(response.body as ReadableStream<Uint8Array>)
  onTestFinished(async () => void (await events.return()))
  return {
    async until(fits: (data: string) => boolean): Promise<string> {
      for (;;) {
        const { done, value } = await events.next()
        if (done === true) throw new Error('The stream has ended.')
        if (fits(value.data)) return value.data
      }
    },
  }
}

describe.each([
  ['refuses every write', refusing],
  ['is locked by another process', locked],
  ['cannot be reached', unreachable],
  ['takes no connections', closedDatabase],
])('while the store %s', (_, cause) => {
  it('[LG3a] clients hear of it within 2 s, new messages get 503, and the turn goes on after', async () => {
    const trouble = await cause()
    const server = await startChatServer(
      (text) =>
        text === 'long'
          ? [
              { text: 'one ' },
              { waitMs: 1_000 },
              { text: 'two ' },
              { waitMs: 50 },
              { text: 'three' },
            ]
          : [{ text: 'Fine.' }],
      { store: trouble.store, leaseMs: 2_000 },
    )
    await (await post(server, 'other', 'hi')).text()
    const chat = reader(await post(server, 't', 'long'))
    const feed = reader(await fetch(`${server.url}/api/threads/t/events?after=0`))
    await chat.until((data) => data.includes('one '))
    await trouble.begin()
    // The model speaks again a second after it began.
    const saidAt = performance.now() + 1_000
    const interrupted = chat.until((data) => data.includes('saving-interrupted'))
    const fed = feed.until((data) => data.includes('saving-interrupted'))
    expect(JSON.parse(await interrupted)).toEqual({
      type: 'data-holdfast',
      data: {
        status: 'saving-interrupted',
        message: expect.any(String) as string,
        canContinue: false,
      },
      transient: true,
    })
    expect(JSON.parse(await fed)).toMatchObject({ status: 'saving-interrupted' })
    expect(performance.now() - saidAt).toBeLessThan(soonMs)
    const asked = performance.now()
    const refused = await post(server, 'other', 'again')
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      {
        error: {
          code: trouble.code,
          message: expect.stringContaining('Nothing was stored') as string,
        },
      },
    ])
    expect((await fetch(`${server.url}/api/ready`)).status).toBe(503)
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200)
    expect(performance.now() - asked).toBeLessThan(soonMs)
    await trouble.end()
    await feed.until((data) => data.includes('"status":"saving"'))
    await chat.until((data) => data.includes('three'))
    await chat.until((data) => data === '[DONE]')
    const page = await (await fetch(`${server.url}/api/threads/t/messages?limit=1`)).text()
    expect([...page.matchAll(/"text":"(.*?)"/g)].map(([, text]) => text)).toEqual([
      'one ',
      'two ',
      'three',
    ])
    expect(page).not.toContain('saving')
    expect(await (await post(server, 'other', 'again')).text()).toContain('Fine.')
    expect((await fetch(`${server.url}/api/ready`)).status).toBe(200)
  }, 30_000)
})
