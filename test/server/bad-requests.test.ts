import { gzipSync } from 'node:zlib'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startChatServer } from './chat-server.ts'

/** What clients, proxies and curious people send: a clear 4xx in JSON each time, and never a 500. */

const hello = () => startChatServer(() => [{ text: 'Hello.' }])

interface Answer {
  readonly status: number
  readonly body: string
}

async function sendRaw(url: string, head: string, body: string | Uint8Array = ''): Promise<Answer> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  const answered = new Promise<string>((resolve, reject) => {
    let text = ''
    socket.on('data', (data) => (text += data.toString()))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
  socket.write(`${head}\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
  if (body.length > 0) socket.write(body)
  const text = await answered
  const [, json = ''] = /(\{[\s\S]*\})/.exec(text) ?? []
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), body: json }
}

const post = (headers: readonly string[], body: string | Uint8Array) =>
  [
    ['POST /api/threads HTTP/1.1', `content-length: ${body.length}`, ...headers].join('\r\n'),
    body,
  ] as const
const json = 'content-type: application/json'
const long = 'x'.repeat(66_000)

const refused: readonly (readonly [
  what: string,
  status: number,
  code: string,
  head: string,
  body?: string | Uint8Array,
])[] = [
  ['a broken percent sign', 400, 'bad-request', 'GET /api/threads/%E0%A4%A HTTP/1.1'],
  ['half a character', 400, 'bad-request', 'GET /api/threads/%ff HTTP/1.1'],
  ['a NUL', 400, 'bad-id', 'GET /api/threads/%00 HTTP/1.1'],
  ['a dot as an id', 400, 'bad-id', ...post([json], '{"id":"."}')],
  ['two dots as an id', 400, 'bad-id', ...post([json], '{"id":".."}')],
  ['a slash at the end', 404, 'not-found', 'GET /api/threads/ HTTP/1.1'],
  ['two slashes', 404, 'not-found', 'GET /api//threads HTTP/1.1'],
  ['an address that is too long', 431, 'bad-request', `GET /api/threads?${long} HTTP/1.1`],
  ['a whole address', 400, 'bad-request', 'GET http://localhost/api/threads HTTP/1.1'],
  ['a parameter twice', 400, 'bad-request', 'GET /api/threads?limit=1&limit=2 HTTP/1.1'],
  ['a method that it does not take', 405, 'method-not-allowed', 'PUT /api/threads HTTP/1.1'],
  ['OPTIONS that no browser asks', 405, 'method-not-allowed', 'OPTIONS /api/threads HTTP/1.1'],
  ['TRACE', 400, 'bad-request', 'TRACE /api/threads HTTP/1.1'],
  ['CONNECT', 400, 'bad-request', 'CONNECT localhost:80 HTTP/1.1'],
  ['another type', 415, 'unsupported-type', ...post(['content-type: text/plain'], '{}')],
  ['no type', 415, 'unsupported-type', ...post([], '{}')],
  ['two types', 415, 'unsupported-type', ...post([`${json}, text/plain`], '{}')],
  ['another charset', 415, 'unsupported-type', ...post([`${json};charset=utf-16le`], '{}')],
  ['packed', 415, 'unsupported-type', ...post([json, 'content-encoding: gzip'], gzipSync('{}'))],
  ['nothing', 400, 'bad-request', ...post([json], '')],
  ['two values', 400, 'bad-request', ...post([json], '{}{}')],
  ['no UTF-8', 400, 'bad-request', ...post([json], Buffer.from('{"title":"\u00e9"}', 'latin1'))],
  ['UTF-16', 400, 'bad-request', ...post([json], Buffer.from('\ufeff{}', 'utf16le'))],
  [
    'a length that is a lie',
    413,
    'too-large',
    `POST /api/threads HTTP/1.1\r\n${json}\r\ncontent-length: 99999999999`,
    '{}',
  ],
  [
    'a length and chunks',
    400,
    'bad-request',
    `POST /api/threads HTTP/1.1\r\n${json}\r\ncontent-length: 2\r\ntransfer-encoding: chunked`,
    '2\r\n{}\r\n0\r\n\r\n',
  ],
  [
    'chunks without end',
    413,
    'too-large',
    `POST /api/threads HTTP/1.1\r\n${json}\r\ntransfer-encoding: chunked`,
    `${`10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(17)}0\r\n\r\n`,
  ],
  [
    'an expectation that is none',
    417,
    'bad-request',
    `POST /api/threads HTTP/1.1\r\n${json}\r\nexpect: magic\r\ncontent-length: 2`,
    '{}',
  ],
]

const rows = refused.map(([what, status, code, head, body = '']) => ({
  what,
  status,
  code,
  head,
  body,
}))

describe('what is wrong with a request', () => {
  it.each(rows)('[HT1 HT3] $what: $status $code', async ({ status, code, head, body }) => {
    const { url } = await hello()
    const answer = await sendRaw(url, head, body)
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code } })
    const left = await fetch(`${url}/api/threads`)
    expect(await left.json()).toMatchObject({ results: [] })
  })
})

describe('what is odd and right', () => {
  it.each([
    ['a charset', [`${json}; charset=UTF-8`], '{"title":"\u00e9"}'],
    ['a charset in quotes', ['content-type: Application/Json;charset="utf-8"'], '{"title":"x"}'],
    ['a byte order mark', [json], '\ufeff{"title":"x"}'],
    ['an encoding that is none', [json, 'content-encoding: identity'], '{"title":"x"}'],
    ['an expectation to go on', [json, 'expect: 100-continue'], '{"title":"x"}'],
  ])('[HT3] %s is taken', async (_, headers, text) => {
    const { url } = await hello()
    const [head, body] = post(headers, Buffer.from(text))
    expect((await sendRaw(url, head, body)).body).toContain('"title"')
    const { results } = (await (await fetch(`${url}/api/threads`)).json()) as { results: unknown[] }
    expect(results).toHaveLength(1)
  })

  it('[LG5] a title is shown by its first answer as it is by every later one', async () => {
    const { url } = await hello()
    const titles = ['a\u0000b', '\ud800', 'ok \ud83d\ude00']
    for (const [index, title] of titles.entries()) {
      const response = await fetch(`${url}/api/threads`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: `t${index}`, title }),
      })
      const made: unknown = await response.json()
      expect(await (await fetch(`${url}/api/threads/t${index}`)).json()).toEqual(made)
      expect(made).toMatchObject({ title: title.toWellFormed().replaceAll('\u0000', '\ufffd') })
    }
  })
})
