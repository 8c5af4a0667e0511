import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHoldfast, memory } from 'holdfast'
import {
  createHandler,
  type HandlerOptions,
  type NodeHandler,
  nodeRequestOf,
  toNodeHandler,
} from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

type Framework = (
  handler: NodeHandler,
) => (request: IncomingMessage, response: ServerResponse) => void

async function parseJson(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text === '' ? undefined : JSON.parse(text)
}

/** What `app.use(path, handler)` of Express 4 and 5, and so of Nest, makes of a request. */
const express =
  (path: string, parse?: (request: IncomingMessage) => Promise<unknown>): Framework =>
  (handler) =>
  async (request, response) => {
    const { url = '' } = request
    const body = await parse?.(request)
    Object.assign(request, { originalUrl: url, ...(body === undefined ? {} : { body }) })
    if (!url.startsWith(`${path}/`)) return response.writeHead(418).end()
    Object.assign(request, { baseUrl: path, url: url.slice(path.length) })
    handler(request, response)
    return undefined
  }

/** What a route `/chat/v1/*` of Fastify passes: it has parsed JSON, and answers itself unless it is told not to. */
const fastify: Framework = (handler) => async (request, response) => {
  const body = request.method === 'GET' ? undefined : await parseJson(request)
  let isHijacked = false
  handler({ raw: request, body }, { raw: response, hijack: () => (isHijacked = true) })
  if (!isHijacked) response.writeHead(500).end('Fastify answered.')
}

async function serve(
  framework: Framework,
  options: HandlerOptions = {},
  model = scriptedModel(() => [{ text: 'Hello.' }]),
) {
  const errors: unknown[] = []
  const store = memory()
  const holdfast = createHoldfast({
    store,
    model,
    recoverEveryMs: 0,
  })
  const handler = createHandler(holdfast, options)
  const onError = (error: unknown) => void errors.push(error)
  const server = createServer(framework(toNodeHandler(handler, { onError })))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await holdfast.close()
  })
  const { port } = server.address() as AddressInfo
  const post = (path: string, body: unknown, more: Readonly<Record<string, string>> = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
    })
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  return { holdfast, errors, post, get }
}

const base = { basePath: '/chat/v1' }

describe.each<[string, Framework, HandlerOptions]>([
  ['Node’s own server', (handler) => handler, base],
  ['Express', express('/chat/v1'), {}],
  ['Express, with the path said twice', express('/chat/v1'), { basePath: '/chat/v1/' }],
  ['Express, behind express.json()', express('/chat/v1', parseJson), {}],
  ['Express, mounted at half of the path', express('/chat'), base],
  ['Express, mounted at /api itself', express('/chat/v1/api'), {}],
  ['Fastify', fastify, base],
])('under %s', (_, framework, options) => {
  it('[OP5d OP5e] every route is at the base path, and every address that is given out has it', async () => {
    const { holdfast, post, get } = await serve(framework, options)
    const made = await post('/chat/v1/api/threads', { id: 't1', title: 'Ä "1"' })
    expect([made.status, await made.json()]).toMatchObject([201, { id: 't1', title: 'Ä "1"' }])
    const asked = await post('/chat/v1/api/chat', {
      id: 't1',
      messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    })
    expect(await asked.text()).toContain('"delta":"Hello."')
    await holdfast.settled()
    const long = 'x'.repeat(20_000)
    const call = { threadId: 't1', messageId: 'own', callId: 'c1', name: 'read' }
    await holdfast.toolCalls.upsert({ ...call, arguments: {}, isPartial: false })
    await holdfast.toolCalls.setResult('own', 'c1', long)
    await holdfast.toolCalls.markAllComplete('own')
    const page = await (await get('/chat/v1/api/threads/t1/messages?results=lazy')).text()
    const href = /"href":"([^"]*)"/.exec(page)?.[1] ?? ''
    expect(href).toMatch(/^\/chat\/v1\/api\/threads\/t1\/tool-calls\//)
    expect(await (await get(href)).json()).toMatchObject({ result: long })
    const list: unknown = await (await get('/chat/v1/api/messages/own/tool-calls')).json()
    expect(list).toMatchObject({ toolCalls: [{ name: 'read' }] })
    const others = ['/chat/v1', '/chat/v1/', '/chat/v1/api', '/chat/v1/chat/v1/api/threads']
    for (const other of others) {
      expect((await get(other)).status).toBeGreaterThanOrEqual(404)
    }
  })
})

it.each([
  ['/api/threads'],
  ['/chat/v10/api/threads'],
  ['/Chat/v1/api/threads'],
  ['//chat/v1/api/threads'],
])('[OP5d] %s is not under /chat/v1', async (path) => {
  const { get } = await serve((handler) => handler, base)
  expect((await get(path)).status).toBe(404)
})

it.each([[''], ['/'], [undefined]])('[OP5d] %j is no base path at all', async (basePath) => {
  const options = basePath === undefined ? {} : { basePath }
  const { get } = await serve((handler) => handler, options)
  expect((await get('/api/threads')).status).toBe(200)
})

it.each([
  ['chat'],
  ['//chat'],
  ['/chat//v1'],
  ['/../chat'],
  ['/chat?x=1'],
  ['https://a.example/chat'],
  [null],
  [7],
])('[OP5d CF1] %j is refused as a base path', (basePath) => {
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  expect(() => createHandler(holdfast, { basePath: basePath as never })).toThrow('"basePath"')
})

it('[OP5e] a body that was read and left nowhere is a 500, and the log says what to do', async () => {
  const { post, errors } = await serve(
    express('/chat', async (request) => {
      await parseJson(request)
    }),
  )
  expect((await post('/chat/api/threads', {})).status).toBe(500)
  expect(String(errors[0])).toContain('req.body')
})

it('[OP5e] what was parsed is read as it would have been: as bytes, as text, and without its encoding', async () => {
  for (const write of [
    (value: unknown) => Buffer.from(JSON.stringify(value)),
    (value: unknown) => JSON.stringify(value),
    (value: unknown) => value,
  ]) {
    const { post } = await serve(express('/c', async (request) => write(await parseJson(request))))
    const made = await post('/c/api/threads', { title: 'Ä' }, { 'content-encoding': 'gzip' })
    expect([made.status, await made.json()]).toMatchObject([201, { title: 'Ä' }])
    expect((await post('/c/api/threads', [])).status).toBe(400)
    const large = await post('/c/api/threads', { title: 'x'.repeat(2_000_000) })
    expect(large.status).toBe(413)
  }
})

/** Leaves on the framework's own request who has signed in, as session middleware does. */
const signedIn =
  (framework: Framework, user: string): Framework =>
  (handler) =>
    framework((request, response) => {
      Object.assign(request, { user: { id: user } })
      handler(request, response)
    })

it.each<[string, Framework]>([
  ['Node’s own server', (handler) => handler],
  ['Express', express('/chat/v1')],
  ['Fastify', fastify],
])('[OP5e] authenticate sees what middleware of %s left on the request', async (_, framework) => {
  const seen: unknown[] = []
  const { post, holdfast } = await serve(signedIn(framework, 'ana'), {
    ...base,
    authenticate: (request) => {
      seen.push(nodeRequestOf(new Request(request.url)))
      return nodeRequestOf<{ user: { id: string } }>(request)?.user ?? null
    },
  })
  expect((await post('/chat/v1/api/threads', { id: 'the-first-thread-of-all' })).status).toBe(201)
  const { results } = await holdfast.threads.list({ ownerId: 'ana' })
  expect(results.map(({ id }) => id)).toEqual(['the-first-thread-of-all'])
  expect(seen).toEqual([undefined])
})

it('[RS1] a stream that is cut because the server goes is broken for its client, and no fault in the log', async () => {
  const endless = scriptedModel(() => [{ text: 'Hello.' }, { waitMs: 600_000 }, { text: 'Bye.' }])
  const { post, holdfast, errors } = await serve((handler) => handler, {}, endless)
  const asked = await post('/api/chat', {
    id: 't1',
    messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  })
  const reader = asked.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('Hello.')) text += (await reader?.read())?.value ?? ''
  await holdfast.close({ graceMs: 0 })
  const rest = async () => {
    while ((await reader?.read())?.done === false);
  }
  await expect(rest()).rejects.toThrow('terminated')
  expect(errors).toEqual([])
})
