import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createHoldfast, memory } from 'holdfast'
import {
  createHandler,
  createRecordingProxy,
  listen,
  type RecordingProxyOptions,
} from 'holdfast/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openTab } from './chat-tab.ts'
import { readPage } from './thread-page.ts'

type Backend = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** An old backend, and the proxy that stands before it. */
async function start(backend: Backend, options: Partial<RecordingProxyOptions> = {}) {
  const asked: IncomingMessage[] = []
  const old = createServer((request, response) => {
    asked.push(request)
    void text(request).then((body) => backend(request, response, body))
  })
  await new Promise<void>((resolve) => {
    old.listen(0, '127.0.0.1', resolve)
  })
  const { port } = old.address() as AddressInfo
  const store = memory()
  const holdfast = createHoldfast({ store, recoverEveryMs: 0, textDelayMs: 0 })
  const target = new URL(`http://127.0.0.1:${port}/chat`)
  const proxy = createRecordingProxy(holdfast, { target, ...options })
  const rest = createHandler(holdfast)
  const server = await listen(
    (request) => (new URL(request.url).pathname === '/api/chat' ? proxy(request) : rest(request)),
    { port: 0, host: '127.0.0.1' },
  )
  onTestFinished(async () => {
    old.closeAllConnections()
    old.close()
    await server.close()
    await holdfast.close()
  })
  const { url } = server
  const post = (headers: Record<string, string> = {}, id = 'u1') =>
    fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        id: 't',
        messages: [{ id, role: 'user', parts: [{ type: 'text', text: 'go' }] }],
      }),
    })
  const page = () => readPage({ url, threadId: 't', sdk: 7 })
  return { url, asked, post, page, holdfast, store }
}

const respondWith =
  (answer: string, contentType = 'text/plain'): Backend =>
  (_, response) => {
    response.writeHead(200, { 'content-type': contentType })
    response.end(answer)
  }
const sse = (...chunks: readonly object[]) =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
const hello = '0:"Hello."\nd:{"finishReason":"stop"}\n'

describe('a backend with sign-in behind the recording proxy', () => {
  const guarded: Backend = (request, response) => {
    if (request.headers.authorization === 'Bearer good')
      return respondWith(hello)(request, response, '')
    response.writeHead(401, {
      'content-type': 'application/json',
      'www-authenticate': 'Bearer',
      'x-internal': 'secret',
    })
    response.end('{"message":"Sign in first."}')
  }

  it('[RS4] gets the headers that say who asks, and no others', async () => {
    const { asked, post, page } = await start(guarded)
    const response = await post({
      authorization: 'Bearer good',
      cookie: 'session=1',
      'accept-language': 'de',
      'x-custom': 'no',
    })
    expect(await response.text()).toContain('Hello.')
    const { headers } = asked[0] as IncomingMessage
    expect(headers).toMatchObject({
      authorization: 'Bearer good',
      cookie: 'session=1',
      'accept-language': 'de',
      'content-type': 'application/json',
    })
    expect(headers['x-custom']).toBeUndefined()
    expect(headers.host).toMatch(/^127\.0\.0\.1:\d+$/)
    expect(await page()).toHaveLength(2)
  })

  it.each<[string, RecordingProxyOptions['forwardHeaders'], Record<string, unknown>]>([
    ['by name', ['X-Tenant', 'Host', 'Connection'], { 'x-tenant': 'a', authorization: undefined }],
    [
      'by a function',
      (headers) => ({ authorization: `Bearer ${headers.get('x-tenant')}`, connection: 'close' }),
      { authorization: 'Bearer a', 'x-tenant': undefined },
    ],
    ['not at all', [], { authorization: undefined, cookie: undefined, 'x-tenant': undefined }],
  ])('[RS4] gets what the host lets pass: %s', async (_, forwardHeaders, expected) => {
    const { asked, post } = await start(
      respondWith(hello),
      forwardHeaders === undefined ? {} : { forwardHeaders },
    )
    await (await post({ authorization: 'Bearer b', 'x-tenant': 'a', cookie: 'c=1' })).text()
    const { headers } = asked[0] as IncomingMessage
    for (const [name, value] of Object.entries(expected))
      expect([name, headers[name]]).toEqual([name, value])
    expect(headers.host).toMatch(/^127\.0\.0\.1:\d+$/)
  })

  it('[RS4 LG6] that says no is heard by the client, and nothing of it is kept', async () => {
    const { post, url, holdfast } = await start(guarded)
    const refused = await post()
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    expect(refused.headers.get('x-internal')).toBeNull()
    expect(await refused.json()).toEqual({ message: 'Sign in first.' })
    await holdfast.settled()
    const threads = await fetch(`${url}/api/threads`)
    expect(await threads.json()).toMatchObject({ results: [] })
    // The same message again, signed in.
    const taken = await post({ authorization: 'Bearer good' })
    expect(await taken.text()).toContain('Hello.')
    expect((await readPage({ url, threadId: 't', sdk: 7 })).map(({ id }) => id)[0]).toBe('u1')
    // A thread that was there before stays.
    expect((await post({}, 'u2')).status).toBe(401)
    expect(await readPage({ url, threadId: 't', sdk: 7 })).toHaveLength(2)
  })
})

describe('what a backend may do wrong behind the recording proxy', () => {
  const textOf = (text: string) => [
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: text },
    { type: 'text-end', id: '1' },
  ]
  const call = { type: 'tool-input-available', toolCallId: 'c', toolName: 'look', input: {} }

  it.each<[string, string, string, RegExp | null]>([
    ['text and no end, by lines', 'text/plain', '0:"Hello."\n', null],
    ['text and no end, by events', 'text/event-stream', sse(...textOf('Hello.')), null],
    [
      'text that was not ended, and the mark of the end',
      'text/event-stream',
      `${sse(...textOf('Hello.').slice(0, 2))}data: [DONE]\n\n`,
      null,
    ],
    [
      'events over two lines, ended by carriage returns, and a last one without its blank line',
      'text/event-stream',
      `: hello\r\r${sse(...textOf('Hello.'))
        .replaceAll(',', ',\ndata: ')
        .replaceAll('\n', '\r')}data: [DONE]`,
      null,
    ],
    [
      'a call that was answered',
      'text/plain',
      '9:{"toolCallId":"c","toolName":"look","args":{}}\na:{"toolCallId":"c","result":1}\n0:"Ok."\n',
      null,
    ],
    ['half a line', 'text/plain', '0:"Hello."\n0:"Ha', /before its end/],
    ['half a text', 'text/event-stream', sse(...textOf('Hello.').slice(0, 2)), /before the answer/],
    ['a call and no result', 'text/event-stream', sse(call), /before the answer/],
    [
      'a call and no result, by lines',
      'text/plain',
      '9:{"toolCallId":"c","toolName":"look","args":{}}\n',
      /before the answer/,
    ],
    ['nothing', 'text/plain', '', /before the answer/],
    ['a page', 'text/html', '<h1>Welcome</h1>', /text\/html/],
    ['an object', 'application/json', '{"answer":"Hello."}', /application\/json/],
    ['what is not JSON', 'text/event-stream', 'data: {"type":"text-st\n\n', /cannot be read/],
  ])('[RS4 ST2] ends without an end mark, with %s', async (_, contentType, answer, error) => {
    const { post, page, url } = await start(respondWith(answer, contentType))
    const streamed = await (await post()).text()
    const [, turn] = await page()
    const note = JSON.stringify(turn?.parts.filter(({ type }) => type === 'data-holdfast'))
    if (error === null) {
      expect(streamed).not.toContain('"type":"error"')
      expect(note).toBe('[]')
    } else {
      expect(streamed).toContain('"type":"error"')
      expect(note).toMatch(error)
    }
    expect(JSON.stringify(turn)).not.toContain('input-available')
    const tab = openTab({ url, threadId: 't', client: 7, live: turn?.id ?? '' })
    await tab.chat.resumeStream()
    expect(tab.messages().at(-1)?.parts).toEqual(turn?.parts)
  })

  it.each<[string, Backend, RegExp]>([
    ['500', (_, response) => void response.writeHead(500).end('oops'), /responded with 500/],
    [
      'a redirect',
      (_, response) => void response.writeHead(302, { location: '/login' }).end(),
      /responded with 302\./,
    ],
    ['a broken connection', (request) => void request.socket.destroy(), /could not be reached/],
    [
      'a connection that breaks in mid-answer',
      (request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' })
        response.write('0:"Half"\n', () => request.socket.destroy())
      },
      /before the answer|could not be reached/,
    ],
  ])('[RS4 ST2] keeps the message where it gets %s', async (_, backend, error) => {
    const { post, page } = await start(backend)
    expect(await (await post()).text()).toContain('"type":"error"')
    const [user, turn] = await page()
    expect(user?.id).toBe('u1')
    expect(JSON.stringify(turn)).toMatch(error)
  })

  it('[RS1] is read to its end although the client has gone', async () => {
    const gone = Promise.withResolvers<void>()
    const { url, page, holdfast } = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('0:"Hello, "\n')
      void gone.promise.then(() => response.end('0:"world."\nd:{"finishReason":"stop"}\n'))
    })
    const abort = new AbortController()
    const response = await fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      signal: abort.signal,
      body: JSON.stringify({
        id: 't',
        messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'go' }] }],
      }),
    })
    await response.body?.getReader().read()
    abort.abort()
    gone.resolve()
    await holdfast.settled()
    expect((await page()).at(-1)?.parts).toContainEqual({
      type: 'text',
      text: 'Hello, world.',
      state: 'done',
    })
  })
})

describe('what goes on behind the recording proxy', () => {
  it('[RS3] makes an answer anew, in the place of the one before', async () => {
    let answers = 0
    const { url, page } = await start((request, response) =>
      respondWith(`0:"Answer ${++answers}."\nd:{"finishReason":"stop"}\n`)(request, response, ''),
    )
    const tab = openTab({ url, threadId: 't', client: 7 })
    await tab.chat.sendMessage({ text: 'go' })
    await tab.chat.regenerate()
    expect(tab.chat.error).toBeUndefined()
    expect(tab.messages()).toEqual(await page())
    expect(JSON.stringify(await page())).toContain('Answer 2.')
  })

  it('[AP1 AP5] wait, and go on with the answer that the backend is sent', async () => {
    const bodies: string[] = []
    const { url, page } = await start((_, response, body) => {
      bodies.push(body)
      const input = { type: 'tool-input-available', toolCallId: 'c', toolName: 'rm', input: {} }
      const first = [
        { type: 'start' },
        { type: 'start-step' },
        input,
        { type: 'tool-approval-request', toolCallId: 'c', approvalId: 'a1' },
        { type: 'finish-step' },
        { type: 'finish' },
      ]
      const second = [
        { type: 'start' },
        { type: 'tool-output-available', toolCallId: 'c', output: 'gone' },
        { type: 'start-step' },
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'Removed.' },
        { type: 'text-end', id: '1' },
        { type: 'finish-step' },
        { type: 'finish' },
      ]
      respondWith(
        `${sse(...(bodies.length === 1 ? first : second))}data: [DONE]\n\n`,
        'text/event-stream',
      )(_, response, '')
    })
    const tab = openTab({ url, threadId: 't', client: 7, automatic: 'approvals' })
    await tab.chat.sendMessage({ text: 'rm' })
    expect(tab.messages()).toEqual(await page())
    const part = tab.messages().at(-1)?.parts.at(-1) as { state: string; approval: { id: string } }
    expect(part).toMatchObject({ state: 'approval-requested', approval: { id: 'a1' } })
    await tab.chat.addToolApprovalResponse({ id: 'a1', approved: true })
    await tab.idle()
    expect(tab.chat.error).toBeUndefined()
    expect(bodies[1]).toContain('approval-responded')
    expect(tab.messages()).toEqual(await page())
    expect(JSON.stringify(tab.messages())).toContain('Removed.')
  })
})
