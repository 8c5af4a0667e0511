import { connect } from 'node:net'
import { memory, type Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { createRandom, type Random } from '../../src/testing/random.ts'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createDatabase } from '../support/create-database.ts'
import { startChatServer } from './chat-server.ts'
import { readPage } from './thread-page.ts'

const seeds = [1, 2, 3]
const requestsPerSeed = 150

const words = [
  '',
  ' ',
  '0',
  '-1',
  '1e9',
  'null',
  'known',
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  '%',
  '../..',
  'ä🙂',
  '<script>',
  "'; drop table threads; --",
  'x'.repeat(300),
  'accept',
  'reject',
  'ui',
  'submit-message',
  'regenerate-message',
] as const

const keys = [
  'id',
  'title',
  'messages',
  'message',
  'messageId',
  'trigger',
  'decision',
  'decisions',
  'callId',
  'args',
  'feedback',
  'resolution',
  'result',
  'role',
  'parts',
  'type',
  'text',
  'content',
  'state',
  'approval',
  'approved',
  'toolCallId',
  '__proto__',
] as const

const routes = [
  'GET /api/health',
  'GET /api/threads',
  'POST /api/threads',
  'GET /api/threads/:',
  'PATCH /api/threads/:',
  'GET /api/threads/:/messages',
  'GET /api/messages/:/tool-calls',
  'GET /api/threads/:/tool-calls/:',
  'POST /api/threads/:/tool-calls/:/decision',
  'POST /api/threads/:/tool-calls/:/resolve',
  'POST /api/threads/:/decisions',
  'POST /api/chat',
  'GET /api/chat/:/stream',
  'POST /api/chat/:/stop',
  'POST /api/chat/:/continue',
  'POST /api/import',
  'GET /api/tools',
  'PUT /api/threads/:',
  'GET /api/:/:/:',
] as const

const queries = ['format', 'limit', 'cursor', 'results', 'live', 'sdk', 'include', 'after', 'sort']

function randomJson(random: Random, depth = 0): unknown {
  const kind = random.int(depth > 4 ? 4 : 6)
  if (kind === 0) return random.pick(words)
  if (kind === 1) return random.pick([null, true, false, 0, -1, 1.5, 1e308])
  if (kind === 2) return { type: 'text', text: random.pick(words) }
  if (kind === 3) return { id: random.pick(words), role: random.pick(['user', 'assistant', 'x']) }
  if (kind === 4) {
    return Array.from({ length: random.int(4) }, () => randomJson(random, depth + 1))
  }
  const fields = Array.from({ length: random.int(7) }, () => random.pick(keys))
  return Object.fromEntries(fields.map((key) => [key, randomJson(random, depth + 1)]))
}

/** A body that may well be right, with words in it that may not. */
const randomChat = (random: Random): unknown => ({
  id: random.pick(words),
  messages: [
    {
      id: random.pick(words),
      role: 'user',
      parts: [{ type: 'text', text: random.pick(words) }],
      metadata: randomJson(random),
    },
  ],
})

function randomRequest(random: Random): {
  readonly path: string
  readonly init: RequestInit & { readonly body?: string }
} {
  const [method = '', pattern = ''] = random.pick(routes).split(' ')
  const path = pattern.replaceAll(':', () =>
    encodeURIComponent(random.pick(words).toWellFormed() || '-'),
  )
  const query = new URLSearchParams()
  for (let count = random.int(3); count > 0; count--) {
    query.append(random.pick(queries), random.pick(words))
  }
  const isRead = method === 'GET'
  const said = pattern === '/api/chat' && random.chance(0.5) ? randomChat(random) : null
  const body = random.chance(0.1) ? random.pick(words) : JSON.stringify(said ?? randomJson(random))
  const type = random.int(8) === 0 ? 'text/plain' : 'application/json'
  return {
    path: `${path}?${query}`,
    init: { method, ...(isRead ? {} : { body, headers: { 'content-type': type } }) },
  }
}

/** Counts whatever changes the store. */
function watchWrites(store: Store): { readonly store: Store; readonly writes: () => number } {
  let writes = 0
  return {
    writes: () => writes,
    store: {
      ...store,
      async createThread(thread) {
        const result = await store.createThread(thread)
        if (result.kind === 'created') writes++
        return result
      },
      async commit(appends) {
        const results = await store.commit(appends)
        writes += results.filter(({ kind }) => kind === 'appended').length
        return results
      },
      async deleteThread(id) {
        writes++
        return store.deleteThread(id)
      },
    },
  }
}

const stores: Readonly<Record<string, () => Promise<Store>>> = {
  memory: async () => memory(),
  async postgres() {
    const database = await createDatabase(inject('postgresUrl'))
    const store = postgres(database.url)
    onTestFinished(async () => {
      await store.close()
      await database.drop()
    })
    return store
  },
}

describe.each(Object.keys(stores))('on %s', (name) => {
  it.each(seeds)('[HT3 HT1] answers whatever comes with 4xx or less (seed %i)', async (seed) => {
    const { store, writes } = watchWrites((await stores[name]?.()) ?? memory())
    const { url, holdfast } = await startChatServer(() => [{ text: 'Hello.' }], { store })
    await sendRequest(url, '/api/threads', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"id":"known"}',
    })
    const random = createRandom(seed)
    const statuses = new Map<number, number>()
    for (let count = 0; count < requestsPerSeed; count++) {
      const { path, init } = randomRequest(random)
      const before = writes()
      const { status, text } = await sendRequest(url, path, init)
      const request = `${init.method} ${path} ${init.body}`
      if (status >= 500) throw new Error(`${request} → ${text}`)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status < 400) {
        await holdfast.settled()
        continue
      }
      expect({ request, writes: writes() }).toEqual({ request, writes: before })
      const { error } = JSON.parse(text) as { error: { code: unknown; message: unknown } }
      expect([typeof error.code, typeof error.message]).toEqual(['string', 'string'])
    }
    expect((await sendRequest(url, '/api/health', {})).status).toBe(200)
    await readPage({ url, threadId: 'known' })
    // It reached something, and was refused something.
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 404]))
  })
})

async function sendRequest(url: string, path: string, init: RequestInit) {
  const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(5_000) })
  return { status: response.status, text: await response.text() }
}

it('[HT3] survives what is no request at all', async () => {
  const { url } = await startChatServer(() => [])
  const { port, hostname } = new URL(url)
  for (const bytes of [
    'hello\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET http://evil.example/api/threads HTTP/1.1\r\nhost: evil.example\r\n\r\n',
    'TRACE /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
    'CONNECT /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
    'GET //[ HTTP/1.1\r\nhost: [\r\nconnection: close\r\n\r\n',
    'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n{"',
    `GET /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
  ]) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    const answered = new Promise<string>((resolve) => {
      let text = ''
      socket.on('data', (data) => {
        text += data.toString()
        socket.end()
      })
      socket.on('close', () => resolve(text))
    })
    socket.write(bytes)
    if (bytes.endsWith('{"')) socket.destroy()
    expect(await answered).not.toMatch(/^HTTP\/1\.1 (2|5)/)
  }
  expect((await sendRequest(url, '/api/health', {})).status).toBe(200)
})
