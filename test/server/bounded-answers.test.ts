import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createHoldfast, memory, parseOwnerId, parseThreadId } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type ChatServerOptions, startChatServer } from './chat-server.ts'

const million = 1_000_000
interface Page {
  readonly results: readonly { readonly id: string }[]
  readonly nextCursor: string | null
  readonly hasMore: boolean
}

async function startWithThread(id: string, sizes: readonly number[], options?: ChatServerOptions) {
  const server = await startChatServer(() => [{ text: 'Hello.' }], options)
  const messages = sizes.flatMap((size, turn) => [
    { id: `${id}-u${turn}`, role: 'user', parts: [{ type: 'text', text: 'Look it up.' }] },
    {
      id: `${id}-a${turn}`,
      role: 'assistant',
      parts: [
        ...Array.from({ length: Math.ceil(size / million) }, (_, call) => ({
          type: 'tool-look_up',
          toolCallId: `${id}-${turn}-${call}`,
          state: 'output-available',
          input: {},
          output: `${call}`.repeat(Math.min(size, million)),
        })),
        { type: 'text', text: `Found ${turn}.` },
      ],
    },
  ])
  const response = await fetch(`${server.url}/api/import?format=ui`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-owner': 'ana' },
    body: JSON.stringify({ threads: [{ id, messages }] }),
  })
  await response.text()
  expect(response.status).toBe(200)
  return server
}

const formats = ['format=ui', 'format=vercel', 'format=entities', 'format=chat', 'format=ledger']

it.each([...formats, 'vercel_format=true', 'vercel_format=false'])(
  '[OP7a] a page with %s ends at a message when it has enough bytes, and the pages are the thread',
  async (format) => {
    const { url } = await startWithThread(
      't',
      Array.from({ length: 12 }, () => million),
    )
    const ids: string[] = []
    let pages = 0
    for (let cursor: string | null = ''; cursor !== null;) {
      const place = cursor === '' ? '' : `&cursor=${cursor}`
      const text = await (await fetch(`${url}/api/threads/t/messages?${format}${place}`)).text()
      expect(text.length).toBeLessThan(5 * million)
      const { next_cursor: older, ...page } = JSON.parse(text) as Page & {
        readonly next_cursor?: string | null
      }
      expect(page.results.length).toBeGreaterThan(0)
      ids.push(...page.results.map(({ id }) => id))
      cursor = older === undefined ? page.nextCursor : older
      pages++
    }
    expect(pages).toBeGreaterThanOrEqual(3)
    expect(new Set(ids).size).toBe(ids.length)
    // Entity rows have one for the results of each turn as well.
    expect(ids.length).toBe(/entities|=false/.test(format) ? 48 : 24)
  },
)

it('[OP7a] a turn that is too large comes without its results, and says where they are', async () => {
  const { url } = await startWithThread('t', [6 * million])
  const pageText = await (await fetch(`${url}/api/threads/t/messages?results=full`)).text()
  expect(pageText.length).toBeLessThan(20_000)
  const lazy = { bytes: million + 2, href: expect.stringContaining('/tool-calls/') as string }
  const page = JSON.parse(pageText) as {
    readonly results: readonly { readonly parts: readonly { readonly output?: unknown }[] }[]
  }
  const outputs = page.results[0]?.parts.flatMap(({ output }) =>
    output === undefined ? [] : [output],
  )
  expect(outputs).toEqual(Array.from({ length: 6 }, () => ({ 'holdfast:lazy': lazy })))
  const hrefs = [...pageText.matchAll(/"href":"([^"]+)"/g)].map(([, href]) => href)
  const call = (await (await fetch(`${url}${hrefs[2]}`)).json()) as { readonly result: string }
  expect(call.result).toBe('2'.repeat(million))

  const turnId = 't-a0'
  for (const path of [
    `/api/chat/t/stream?message=${turnId}`,
    `/api/chat/t/stream?message=${turnId}&protocol=data-stream`,
    `/api/messages/${turnId}/tool-calls`,
  ]) {
    const text = await (await fetch(`${url}${path}`)).text()
    expect([path, text.length < 20_000]).toEqual([path, true])
    expect([path, text.match(/holdfast:lazy/g)?.length]).toEqual([path, 6])
  }
  const events = await fetch(`${url}/api/threads/t/events`)
  const reader = (events.body as ReadableStream<Uint8Array>).getReader()
  let frames = ''
  while (!frames.includes('"turn"')) {
    frames += new TextDecoder().decode((await reader.read()).value)
  }
  await reader.cancel()
  expect(frames.match(/"omitted"/g)).toHaveLength(6)
})

/** Sends a request and takes nothing of the answer. */
async function requestWithoutReading(url: string, path: string, owner: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nx-owner: ${owner}\r\n\r\n`)
  await once(socket, 'readable')
  return socket
}

it('[OP7a] who does not take what was sent is refused more, with 429 and a time, and nobody else', async () => {
  const sizes = Array.from({ length: 12 }, () => million)
  const { url, followers } = await startWithThread('t', sizes, {
    handler: {
      authenticate: (request) => ({ id: request.headers.get('x-owner') ?? 'ben' }),
      limits: { unreadBytesPerOwner: 500_000 },
    },
  })
  const requestPath = (owner: string, to: string) =>
    fetch(`${url}${to}`, { headers: { 'x-owner': owner } })
  const path = '/api/threads/t/messages?limit=1'
  const socket = await requestWithoutReading(url, '/api/threads/t/events', 'ana')
  // The buffers of the system take the first of it, and nothing announces when they are full.
  const refused = await pollUntil(
    () => requestPath('ana', '/api/chat/none/stream'),
    ({ status }) => status !== 204,
    { what: 'a refusal' },
  )
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ error: { code: 'too-many' } })
  expect((await requestPath('ana', path)).status).toBe(429)
  expect((await requestPath('ana', '/api/threads/t/events')).status).toBe(429)
  expect((await requestPath('ana', '/api/chat/t/stream')).status).toBe(429)
  expect((await requestPath('ben', '/api/threads/t')).status).toBe(404)
  expect((await requestPath('ben', '/api/chat/none/stream')).status).toBe(204)
  socket.destroy()
  await followers.until(({ present }) => present === 0)
  const answer = await requestPath('ana', path)
  expect(answer.status).toBe(200)
  await answer.body?.cancel()
})

it('[OP7a] refuses more streams than the process may have, whoever asks', async () => {
  const { url } = await startWithThread('t', [], {
    handler: {
      authenticate: (request) => ({ id: request.headers.get('x-owner') ?? 'ben' }),
      limits: { followers: 1 },
    },
  })
  const create = await fetch(`${url}/api/threads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"id":"a-thread-of-bens-own"}',
  })
  expect(create.status).toBe(201)
  const open = await fetch(`${url}/api/threads/a-thread-of-bens-own/events`)
  const second = await fetch(`${url}/api/chat/a-thread-of-bens-own/stream`)
  expect([open.status, second.status, second.headers.get('retry-after')]).toEqual([200, 429, '5'])
  await open.body?.cancel()
})

/** The time that the server waits for whoever reads, which passes when the test says so. All other timers are the system's. */
function controlStalls(stallMs: number) {
  const system = { setTimeout, clearTimeout }
  const waits = new Map<unknown, { readonly endsAt: number; readonly end: () => void }>()
  let now = 0
  let perWaitMs = 0
  vi.stubGlobal('setTimeout', (call: () => void, ms?: number, ...rest: readonly []) => {
    if (ms !== stallMs) return system.setTimeout(call, ms, ...rest)
    const timer = {}
    waits.set(timer, { endsAt: now + ms, end: call })
    advance(perWaitMs)
    return timer
  })
  vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout) => {
    if (!waits.delete(timer)) system.clearTimeout(timer)
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  const advance = (ms: number) => {
    now += ms
    for (const [timer, { endsAt, end }] of waits) {
      if (endsAt <= now && waits.delete(timer)) end()
    }
  }
  return {
    now: () => now,
    advance,
    /** From now on each wait takes this long. */
    makeEachTake: (ms: number) => void (perWaitMs = ms),
  }
}

it('[OP7a] cuts off who takes a byte now and then, and not who is slow', async () => {
  // As long as no other timer.
  const stallMs = 12_345
  const sizes = Array.from({ length: 40 }, () => million)
  const { url, holdfast, followers } = await startWithThread('t', sizes, { stallMs })
  const stalls = controlStalls(stallMs)
  const trickle = await requestWithoutReading(url, '/api/threads/t/events', 'ben')
  const closed = once(trickle, 'close')
  const cutOff = followers.until(({ left }) => left === 1).then(() => true)
  while (!(await Promise.race([cutOff, nextTurn(false)]))) {
    trickle.read(1)
    stalls.advance(stallMs / 4)
  }
  expect(holdfast.metrics().followers).toBe(0)
  trickle.resume()
  await closed

  stalls.makeEachTake(stallMs - 1)
  const before = stalls.now()
  const response = await fetch(`${url}/api/threads/t/messages?limit=8`)
  const body = await response.arrayBuffer()
  expect(body.byteLength).toBe(Number(response.headers.get('content-length')))
  expect(stalls.now() - before).toBeGreaterThan(10 * stallMs)
})

describe.each([
  ['memory', () => memory()],
  ['sqlite', () => sqlite(temporaryFile())],
] as const)('the list of threads, on %s', (_, open) => {
  it('[OP7a LE5] has titles of 500 characters at most, imported ones and those of older versions too', async () => {
    const store = open()
    const { url } = await startChatServer(() => [{ text: 'Hello.' }], { store })
    const ownerId = parseOwnerId('local')
    const id = parseThreadId('old')
    await store.createThread({ id, ownerId, title: 'o'.repeat(million), at: 1 })
    const message = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] }
    const imported = await fetch(`${url}/api/import?format=ui`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        threads: [{ id: 'new', title: 'n'.repeat(million), messages: [message] }],
      }),
    })
    expect(await imported.json()).toMatchObject({
      threads: 1,
      mended: [{ what: 'The title was cut at 500 characters.' }],
    })
    const list = (await (await fetch(`${url}/api/threads`)).json()) as {
      readonly results: readonly { readonly id: string; readonly title: string }[]
    }
    const titles = list.results.map((thread) => [thread.id, thread.title.length])
    expect(Object.fromEntries(titles)).toEqual({ new: 500, old: 500 })
  })
})

it('[OP7a] a list of threads that nobody takes counts for whoever asked', async () => {
  const store = memory()
  const holdfast = createHoldfast({ store, model: scriptedModel(() => []), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const handler = createHandler(holdfast, {
    authenticate: (request) => ({ id: request.headers.get('x-owner') ?? '' }),
    threadMetadata: 'read',
    limits: { unreadBytesPerOwner: 500_000 },
  })
  const metadata = { note: 'm'.repeat(16_000) }
  for (let thread = 0; thread < 50; thread++) {
    await holdfast.threads.create({ ownerId: 'ana', title: `${thread}`, metadata })
  }
  const requestThreads = (owner: string) =>
    handler(new Request('http://localhost/api/threads?limit=50', { headers: { 'x-owner': owner } }))
  const unread = await requestThreads('ana')
  expect(unread.status).toBe(200)
  // It counts until more is asked for, as a socket does when it has taken what it was given.
  const reader = unread.body?.getReader()
  expect((await reader?.read())?.value?.length).toBeGreaterThan(500_000)
  expect((await requestThreads('ana')).status).toBe(429)
  expect((await requestThreads('ben')).status).toBe(200)
  await reader?.cancel()
  expect((await requestThreads('ana')).status).toBe(200)
})
