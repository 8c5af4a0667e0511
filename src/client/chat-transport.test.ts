import { describe, expect, it } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import {
  type Answer,
  createScriptedServer,
  eventStream,
  refusal,
} from '../../test/support/scripted-server.ts'
import { createChatTransport } from './chat-transport.ts'

function open(answer: Answer) {
  const server = createScriptedServer()
  server.on(/./, answer)
  const { fetch } = server.options
  const transport = createChatTransport<never, object>({ fetch, headers: () => ({ a: 'own' }) })
  return { server, transport }
}
const sending = { chatId: 't', messages: [{ id: 'u' }], trigger: 'submit-message' } as const

async function read(stream: ReadableStream<object> | null): Promise<unknown> {
  const chunks: object[] = []
  try {
    for await (const chunk of stream ?? []) chunks.push(chunk)
  } catch {
    return [...chunks, 'broken']
  }
  return chunks
}

describe('an answer', () => {
  const start = { type: 'start' }
  const text = `data: ${JSON.stringify(start)}\n\n`
  it.each<readonly [string, Answer, unknown]>([
    ['that is whole', () => eventStream(`${text}data: [DONE]\n\ndata: {}\n\n`), [start]],
    ['with a chunk that is not JSON', () => eventStream(`${text}data: {\n\n`), [start, 'broken']],
  ])('[RS3] %s', async (_, answer, expected) => {
    const { transport } = open(answer)
    expect(await read(await transport.sendMessages(sending))).toEqual(expected)
    expect(await read(await transport.reconnectToStream({ chatId: 't' }))).toEqual(expected)
  })

  it('[RS10] that breaks off: its message is requested again; a regenerated answer is not begun twice', async () => {
    const begun = `data: {"type":"start","messageId":"m 1"}\n\n`
    const { server, transport } = open(({ line }) =>
      eventStream(line.includes('?message=') ? `${begun}data: [DONE]\n\n` : begun),
    )
    const trigger = 'regenerate-message'
    const expected = [{ type: 'start', messageId: 'm 1' }]
    expect(await read(await transport.sendMessages(sending))).toEqual(expected)
    expect(await read(await transport.sendMessages({ ...sending, trigger }))).toEqual(expected)
    expect(await read(await transport.reconnectToStream({ chatId: 't' }))).toEqual(expected)
    const again = 'GET /api/chat/t/stream?message=m+1'
    expect(server.drainRequests()).toEqual([
      ...['POST /api/chat', again],
      ...['POST /api/chat', again],
      ...['GET /api/chat/t/stream', again],
    ])
    expect(new Set(server.requests.map(({ headers }) => headers['a']))).toEqual(new Set(['own']))
    const silent = open(() => eventStream(''))
    expect(await read(await silent.transport.sendMessages({ ...sending, trigger }))).toEqual([])
    expect(silent.server.drainRequests()).toEqual(['POST /api/chat'])
  })

  it.each<readonly [string, Answer, string]>([
    ['409', () => refusal(409, 'run-active'), 'run-active'],
    ['429', () => refusal(429, 'too-many', { 'retry-after': '3' }), 'too-many'],
    ['a page of a proxy', () => new Response('<html>'), 'bad-answer'],
    ['nothing', () => Promise.reject(new TypeError('fetch failed')), 'unreachable'],
  ])('[RS3] that is %s is an error with its code', async (_, answer, code) => {
    const { transport } = open(answer)
    await expect(transport.sendMessages(sending)).rejects.toMatchObject({ code })
    await expect(transport.reconnectToStream({ chatId: 't' })).rejects.toMatchObject({ code })
  })

  it('[RS3] is left when the chat is: the request ends', async () => {
    const { server, transport } = open(() => null)
    const leaving = new AbortController()
    const sent = transport.sendMessages({ ...sending, abortSignal: leaving.signal })
    await settled()
    leaving.abort(new Error('left'))
    await expect(sent).rejects.toThrow('left')
    expect(server.requests.map(({ signal }) => signal?.aborted)).toEqual([true])
  })
})

it('[RS3] resumes what was left out of the page, and a chat without messages is empty', async () => {
  const { server, transport } = open(({ line }) =>
    line.includes('messages')
      ? Response.json({ results: [{ id: 'b' }, { id: 'a' }], live: { messageId: 'm 1' } })
      : new Response(null, { status: 204 }),
  )
  expect(await transport.load('t')).toEqual([{ id: 'a' }, { id: 'b' }])
  expect(await transport.reconnectToStream({ chatId: 't' })).toBeNull()
  expect(await transport.reconnectToStream({ chatId: 't' })).toBeNull()
  expect(server.drainRequests()).toEqual([
    'GET /messages?live=exclude&limit=50',
    'GET /api/chat/t/stream?message=m+1',
    'GET /api/chat/t/stream',
  ])
  const none = open(() => refusal(404, 'thread-not-found'))
  expect(await none.transport.load('t')).toEqual([])
  expect(await none.transport.reconnectToStream({ chatId: 't' })).toBeNull()
  expect(none.server.requests.map(({ headers }) => headers)).toEqual([{ a: 'own' }, { a: 'own' }])
})

it('[RS3] begins with a page that a server component has read, and resumes what that left out', async () => {
  const { server, transport } = open(() => new Response(null, { status: 204 }))
  const results = [{ id: 'b' }, { id: 'a' }]
  expect(transport.loadPage('t', { results, live: { messageId: 'm1' } })).toEqual([
    { id: 'a' },
    { id: 'b' },
  ])
  await transport.reconnectToStream({ chatId: 't' })
  expect(transport.loadPage('t', { results, live: { messageId: 'm1' } })).toHaveLength(2)
  expect(transport.loadPage('t', { results })).toHaveLength(2)
  await transport.reconnectToStream({ chatId: 't' })
  expect(transport.loadPage('t', null)).toEqual([])
  expect(server.drainRequests()).toEqual([
    'GET /api/chat/t/stream?message=m1',
    'GET /api/chat/t/stream',
  ])
})
