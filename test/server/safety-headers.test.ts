import { once } from 'node:events'
import { connect } from 'node:net'
import { createRecordingProxy, listen } from 'holdfast/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startServer, temporaryFolder } from '../cli/run-holdfast.ts'
import { startChatServer } from './chat-server.ts'

/** What every answer says to a browser, whoever made it open the answer. */
const api = {
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-site',
}

const start = () =>
  startChatServer((text) => (text === 'hang' ? [{ call: 'hang', input: {} }] : [{ text: 'Hi.' }]), {
    handler: { allowedOrigins: ['https://app.example'], limits: { bodyBytes: 2_000 } },
  })
const json = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const chat = (id: string, text: string) =>
  json({ id, messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text }] }] })

type Row = readonly [status: number, path: string, init?: RequestInit]
const rows: readonly Row[] = [
  [200, '/api/health'],
  [200, '/api/ready'],
  [200, '/metrics'],
  [200, '/api/threads', { method: 'HEAD' }],
  [201, '/api/threads', json({ id: 'made' })],
  [200, '/api/threads/made/messages'],
  [200, '/api/threads/made/events'],
  [204, '/api/chat/made/stream'],
  [204, '/api/chat/none/stream'],
  [200, '/api/chat', chat('said', 'hello')],
  [200, '/api/chat?protocol=data-stream', chat('said-2', 'hello')],
  [204, '/api/threads/made', { method: 'DELETE' }],
  [
    204,
    '/api/threads',
    {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
    },
  ],
  [400, '/api/threads?limit=0'],
  [400, '/api/threads/%zz'],
  [403, '/api/threads', { headers: { origin: 'https://evil.example' } }],
  [404, '/api/threads/none'],
  [404, '/api/nowhere'],
  [404, '/'],
  [405, '/api/threads', { method: 'PUT' }],
  [413, '/api/threads', json({ title: 'x'.repeat(3_000) })],
  [415, '/api/threads', { method: 'POST', body: 'x' }],
]

describe('every answer', () => {
  it('[HT5a] is for no page to run, to frame or to guess at: well, badly, empty or streamed', async () => {
    const { url } = await start()
    for (const [status, path, init] of rows) {
      const stop = new AbortController()
      const response = await fetch(`${url}${path}`, { ...init, signal: stop.signal })
      expect({
        path,
        status: response.status,
        ...Object.fromEntries(response.headers),
      }).toMatchObject({ path, status, ...api })
      stop.abort()
    }
  })

  it('[HT5a] and one to what never became a request', async () => {
    const { url } = await start()
    const { port } = new URL(url)
    for (const [status, bytes] of [
      [400, 'GET /api/health HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n'],
      [
        400,
        'GET http://localhost/api/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
      ],
      [400, 'hello\r\n\r\n'],
      [400, 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n'],
      [
        417,
        'POST /api/threads HTTP/1.1\r\nhost: localhost\r\nexpect: gold\r\nconnection: close\r\n\r\n',
      ],
      [431, `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`],
    ] as const) {
      const socket = connect(Number(port), '127.0.0.1')
      let text = ''
      socket.on('data', (data) => (text += data.toString()))
      socket.write(bytes)
      await once(socket, 'close')
      expect(text).toContain(`HTTP/1.1 ${status} `)
      for (const [name, value] of Object.entries(api)) {
        expect(text.toLowerCase()).toContain(`${name}: ${value}`.toLowerCase())
      }
    }
  })

  it('[HT5a] and one of a handler that throws', async () => {
    const server = await listen(
      () => {
        throw new Error('kaput')
      },
      { port: 0, host: '127.0.0.1', onError: () => undefined },
    )
    onTestFinished(() => server.close())
    const response = await fetch(server.url)
    expect(response.status).toBe(500)
    expect(Object.fromEntries(response.headers)).toMatchObject(api)
  })

  it('[HT5a] and those of a recorded backend, refusals too', async () => {
    const { holdfast } = await start()
    const proxy = createRecordingProxy(holdfast, {
      localOnly: true,
      target: new URL('http://backend.example/chat'),
      fetch: async () =>
        new Response('no', { status: 401, headers: { 'x-frame-options': 'ALLOW' } }),
    })
    for (const request of [
      new Request('http://localhost/api/chat', chat('t', 'hello')),
      new Request('http://localhost/api/chat', { method: 'POST' }),
    ]) {
      expect(Object.fromEntries((await proxy(request)).headers)).toMatchObject(api)
    }
  })
})

it('[HT5a] holdfast serve: pages of a config, while it runs and while it closes', async () => {
  const folder = temporaryFolder({
    'config.mjs': `export default { pages: ({ url }) => url.endsWith('/far')
      ? Response.redirect('http://localhost/near')
      : url.endsWith('/none') ? null : new Response('<p>', { headers: { 'content-type': 'text/html' } }) }`,
  })
  const args = ['--config', 'config.mjs', '--db', 'chat.db', '--grace', '30']
  const server = await startServer(args, { folder, env: { HOLDFAST_DEMO_DELAY_MS: '20' } })
  const plain = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' }
  for (const path of ['/', '/far', '/none']) {
    const response = await fetch(`${server.url}${path}`, { redirect: 'manual' })
    expect(Object.fromEntries(response.headers)).toMatchObject(plain)
    await response.body?.cancel()
  }
  const running = await fetch(`${server.url}/api/chat`, chat('t', 'slow tool 20'))
  server.process.kill('SIGTERM')
  await expect
    .poll(async () => (await fetch(`${server.url}/api/threads`, json({}))).status)
    .toBe(503)
  const closing = await fetch(`${server.url}/api/threads`, json({}))
  expect(Object.fromEntries(closing.headers)).toMatchObject(api)
  await running.body?.cancel()
})
