import { once } from 'node:events'
import { connect } from 'node:net'
import { createHoldfast, memory, type Store } from 'holdfast'
import {
  createHandler,
  createRecordingProxy,
  type HandlerOptions,
  listen,
  type RequestRecord,
} from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createSignal } from '../support/signal.ts'
import { stallBody, toStreamedRequest } from './stalled-body.ts'

const thread = 'a-thread-of-eves-own'
const limits = { bodyBytes: 50_000, unreadBytesPerOwner: 100_000 }
const people: HandlerOptions = {
  authenticate: (request) => {
    const id = request.headers.get('x-owner')
    return id === null ? null : { id }
  },
}
const as = (owner: string) => ({ 'x-owner': owner })

function start(store: Store = memory()) {
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(() => [{ text: 'Hello.' }]),
    recoverEveryMs: 0,
  })
  onTestFinished(() => holdfast.close())
  return { holdfast, handler: createHandler(holdfast, { ...people, limits }) }
}
type Handler = ReturnType<typeof start>['handler']

/** All but the last character of a body of 40,000 bytes. */
const begin = `{"x":"${'x'.repeat(40_000)}"`

const stallAs = (owner: string, handler: Handler, path = '/api/threads', method = 'POST') =>
  stallBody(handler, path, { method, headers: as(owner), begin })

const send = (owner: string, handler: Handler, body: string) =>
  handler(
    new Request('http://localhost/api/threads', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...as(owner) },
      body,
    }),
  )

const statusOf = (outcome: 'stalled' | Response) =>
  outcome === 'stalled' ? outcome : outcome.status

const routes = [
  ['POST', '/api/threads'],
  ['PATCH', `/api/threads/${thread}`],
  ['POST', `/api/threads/${thread}/fork`],
  ['PATCH', `/api/threads/${thread}/queue/m`],
  ['POST', `/api/threads/${thread}/decisions`],
  ['POST', `/api/threads/${thread}/tool-calls/c/decision`],
  ['POST', `/api/threads/${thread}/tool-calls/c/resolve`],
  ['POST', '/api/messages/m/feedback'],
  ['POST', '/api/chat'],
] as const

it.each(routes)(
  '[OP7] bodies that are never finished count for their owner: %s %s',
  async (method, path) => {
    const { holdfast, handler } = start()
    await holdfast.threads.create({ id: thread, ownerId: 'eve' })
    const open = [stallAs('eve', handler), stallAs('eve', handler)]
    for (const { outcome } of open) expect(statusOf(await outcome)).toBe('stalled')

    const refused = await stallAs('eve', handler, path, method).outcome
    expect(statusOf(refused)).toBe(429)
    const { headers } = refused as Response
    expect(headers.get('retry-after')).toBe('5')
    expect(await (refused as Response).json()).toEqual({
      error: { code: 'too-many', message: 'You have too many bytes of unanswered requests.' },
    })
    const other = stallAs('ben', handler)
    expect(statusOf(await other.outcome)).toBe('stalled')
    expect((await other.end('}')).status).toBe(201)

    // What ends, and what is left, counts no more.
    expect((await open[0]?.end('}'))?.status).toBe(201)
    expect((await open[1]?.abort())?.status).toBe(400)
    const again = [stallAs('eve', handler), stallAs('eve', handler)]
    for (const { outcome } of again) expect(statusOf(await outcome)).toBe('stalled')
    for (const { abort } of again) await abort()
  },
)

it('[OP7] so do those of a recording proxy', async () => {
  const { holdfast } = start()
  const target = new URL('http://backend.example/chat')
  const proxy = createRecordingProxy(holdfast, { ...people, limits, target })
  const open = [stallAs('eve', proxy), stallAs('eve', proxy)]
  for (const { outcome } of open) expect(statusOf(await outcome)).toBe('stalled')
  expect(statusOf(await stallAs('eve', proxy).outcome)).toBe(429)
  for (const { abort } of open) await abort()
  expect(statusOf(await stallAs('eve', proxy).outcome)).toBe('stalled')
})

it('[OP7] a body counts until its request is answered', async () => {
  const store = memory()
  const gate = Promise.withResolvers<void>()
  const arrived = createSignal()
  let waiting = 0
  const { handler } = start({
    ...store,
    async createThread(created) {
      waiting++
      arrived.notify()
      await gate.promise
      return store.createThread(created)
    },
  })
  const held = [send('eve', handler, `${begin}}`), send('eve', handler, `${begin}}`)]
  await arrived.until(() => waiting === 2)
  expect((await send('eve', handler, `${begin}}`)).status).toBe(429)
  gate.resolve()
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([201, 201])
  expect((await send('eve', handler, `${begin}}`)).status).toBe(201)
})

it('[OP7] a body that arrives in tiny parts counts for more than its bytes', async () => {
  const { handler } = start()
  const open = [stallAs('eve', handler), stallAs('eve', handler)]
  for (const { outcome } of open) await outcome
  let parts = 0
  const tiny = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode(parts < 1_000 ? '  ' : '{}'))
      if (parts++ === 1_000) controller.close()
    },
  })
  const response = await handler(toStreamedRequest('/api/threads', 'POST', as('eve'), tiny))
  expect(response.status).toBe(429)
  expect((await send('eve', handler, `${' '.repeat(2_000)}{}`)).status).toBe(201)
})

it('[OP7] of a request that is not signed in nothing is read', async () => {
  const { handler } = start()
  const body = stallBody(handler, '/api/threads', { begin })
  expect(statusOf(await body.outcome)).toBe(401)
  expect(body.pulls()).toBe(0)
})

it('[OP7b] an import may be larger than the bodies of an owner together', async () => {
  const { handler } = start()
  const open = [stallAs('eve', handler), stallAs('eve', handler)]
  for (const { outcome } of open) await outcome
  const messages = [{ id: 'm', role: 'user', content: 'x'.repeat(150_000) }]
  const response = await handler(
    new Request('http://localhost/api/import', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...as('eve') },
      body: JSON.stringify({ messages }),
    }),
  )
  expect(await response.json()).toMatchObject({ messages: 1, failed: [] })
})

it('[OP7] a connection that breaks while its body is sent frees what it held', async () => {
  const { holdfast } = start()
  const ended = createSignal()
  const records: RequestRecord[] = []
  const log = (record: RequestRecord) => {
    records.push(record)
    ended.notify()
  }
  const handler = createHandler(holdfast, { ...people, limits, log })
  const server = await listen(handler, { port: 0, host: '127.0.0.1' })
  onTestFinished(() => server.close())
  const { hostname, port } = new URL(server.url)
  const open = async () => {
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    const head = `POST /api/threads HTTP/1.1\r\nhost: ${hostname}\r\nx-owner: eve\r\n`
    const type = 'content-type: application/json\r\ncontent-length: 50000\r\n\r\n'
    socket.write(`${head}${type}${begin}`)
    await once(socket, 'connect')
    return socket
  }
  const sockets = [await open(), await open(), await open()]
  // Of the three, which arrive in any order, one is over the limit.
  await ended.until(() => records.length === 1)
  expect(records[0]?.status).toBe(429)
  for (const socket of sockets) socket.destroy()
  await ended.until(() => records.length === 3)
  const again = [stallAs('eve', handler), stallAs('eve', handler)]
  for (const { outcome } of again) expect(statusOf(await outcome)).toBe('stalled')
})

it('[OP7] bodies of many values that one person sends at once are parsed one by one, and others have their turn between them', async () => {
  const { handler } = start()
  const body = `{"title":"Long","x":[${'0,'.repeat(1_100)}0]}`
  let turn = 0
  let isOver = false
  const next = () => {
    turn++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  const turns = new Set<number>()
  const { parse } = JSON
  const parsing = vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    if (text === body) turns.add(turn)
    return parse(text, reviver) as unknown
  })
  onTestFinished(() => {
    parsing.mockRestore()
    isOver = true
  })
  const answers = await Promise.all(Array.from({ length: 5 }, () => send('eve', handler, body)))
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
  expect(turns.size).toBe(5)
})
