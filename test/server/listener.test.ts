import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { listen, toNodeListener } from 'holdfast/server'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startChatServer } from './chat-server.ts'

const hello = () => startChatServer(() => [{ text: 'Hello.' }])

interface Answer {
  readonly status: number
  readonly type: string
  readonly code: string
}

/** Bytes as they are, which no client library would send; the answer up to its end. */
async function sendBytes(url: string, bytes: string): Promise<Answer> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  const answered = new Promise<string>((resolve, reject) => {
    let text = ''
    socket.on('data', (data) => (text += data.toString()))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
  socket.write(bytes)
  const text = await answered
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]),
    type: /content-type: (.*)\r/i.exec(text)?.[1] ?? '',
    code: /"code":"([^"]*)"/.exec(text)?.[1] ?? '',
  }
}

const get = (path: string, host: string | null) =>
  `GET ${path} HTTP/1.1\r\n${host === null ? '' : `host: ${host}\r\n`}connection: close\r\n\r\n`

describe('the name that a request is sent to', () => {
  it('[HT4] is the one in its host header, whatever its path says', async () => {
    const { url } = await hello()
    // A page whose name was made to point here asks for its own address, so it sends no origin.
    for (const path of ['//localhost/api/threads', '//127.0.0.1/api/threads', '/\\localhost/api']) {
      expect(await sendBytes(url, get(path, 'evil.example'))).toEqual({
        status: 403,
        type: 'application/json',
        code: 'foreign-host',
      })
    }
    expect(await sendBytes(url, get('//localhost/api/threads', 'localhost'))).toMatchObject({
      status: 404,
    })
  })

  it.each(['x@localhost', 'localhost/x', 'localhost?x', 'localhost#x', 'a b', '', null])(
    '[HT1 HT4] is refused in JSON if it is no name: %j',
    async (host) => {
      const { url } = await hello()
      expect(await sendBytes(url, get('/api/health', host))).toEqual({
        status: 400,
        type: 'application/json',
        code: 'bad-request',
      })
    },
  )
})

it.each([
  ['a method that is none', 'FOO /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n', 400],
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['two hosts', get('/api/health', 'localhost\r\nhost: localhost'), 400],
  ['two hosts that differ', get('/api/health', 'localhost\r\nHOST: evil.example'), 400],
  ['two hosts in one', get('/api/health', 'localhost,evil.example'), 400],
  ['headers without end', get('/api/health', `localhost\r\nx: ${'y'.repeat(20_000)}`), 431],
])('[HT1] answers %s in JSON', async (_, bytes, status) => {
  const { url } = await hello()
  const answer = await sendBytes(url, bytes)
  expect(answer).toEqual({ status, type: 'application/json', code: 'bad-request' })
})

it('[HT2] keeps what it answers out of caches', async () => {
  const { url } = await hello()
  for (const path of ['/api/threads', '/api/threads/none']) {
    const response = await fetch(`${url}${path}`)
    expect(response.headers.get('cache-control')).toBe('no-store')
    await response.text()
  }
})

it('[OP7a] closes a connection whose requests run far ahead of their responses, and no other', async () => {
  let begun = 0
  const waiting = Promise.withResolvers<Response>()
  const handler = () => {
    begun++
    return begun > 5 ? waiting.promise : Promise.resolve(new Response('fine'))
  }
  const server = await listen(handler, { port: 0, host: '127.0.0.1' })
  onTestFinished(() => server.close())
  const { port, hostname } = new URL(server.url)
  const open = (count: number) => {
    const socket = connect(Number(port), hostname).on('error', () => undefined)
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(count))
    return socket
  }
  const few = open(5)
  let text = ''
  for await (const data of few) {
    text += String(data)
    if (text.split('fine').length === 6) break
  }
  expect(begun).toBe(5)
  await once(open(1_000).resume(), 'close')
  expect(begun).toBe(15)
  waiting.resolve(new Response('late'))
})

it('[OP7a] closes a connection on which hundreds of requests arrive at once, though each is answered before the next', async () => {
  let begun = 0
  const handler = async (request: Request) => {
    begun++
    await request.text()
    return new Response('fine')
  }
  const server = await listen(handler, { port: 0, host: '127.0.0.1' })
  onTestFinished(() => server.close())
  const { port, hostname } = new URL(server.url)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  const post = 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}'
  socket.write(post.repeat(300))
  await once(socket.resume(), 'close')
  expect(begun).toBe(10)
})

it('[OP7a] what arrives behind the requests of a connection that is closed is over at once', async () => {
  const listener = toNodeListener(() => Promise.withResolvers<Response>().promise)
  let [refused, left] = [0, 0]
  const server = createServer((incoming, outgoing) => {
    listener(incoming, outgoing)
    if (!incoming.socket.destroyed) return
    refused++
    // Node makes an error with its stack for each of these when the connection has ended.
    if (!incoming.destroyed) left++
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(300))
  await once(socket.resume(), 'close')
  expect({ refused, left }).toEqual({ refused: 290, left: 0 })
})

it.each([
  ['half a head', 'GET / HTTP/1.1\r\nhost: localhost\r\n'],
  ['half a body', 'POST /body HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"id"'],
  ['a question that is never answered', 'GET /never HTTP/1.1\r\nhost: localhost\r\n\r\n'],
])('[OP7 ST1] closes within two seconds, although a client has sent %s', async (_, sent) => {
  const handler = async (request: Request) => {
    if (request.url.endsWith('/never')) return new Promise<never>(() => {})
    return new Response(await request.text())
  }
  const server = await listen(handler, { port: 0, host: '127.0.0.1' })
  const { port, hostname } = new URL(server.url)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  socket.write(sent)
  // A whole answer on another connection: by then the first one has arrived.
  await fetch(server.url).then((response) => response.text())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const closed = server.close()
  const gone = once(socket.resume(), 'close')
  vi.advanceTimersByTime(1_999)
  expect(socket.destroyed).toBe(false)
  vi.advanceTimersByTime(1)
  await Promise.all([closed, gone])
})
