import { describe, expect, it } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import { createScriptedServer, eventStream, refusal } from '../../test/support/scripted-server.ts'
import { createApi } from './api.ts'
import { resumingStream } from './resuming-stream.ts'

type Chunk = Readonly<Record<string, unknown>> & { readonly type: string }
const start = { type: 'start', messageId: 'm' }
const textStart = { type: 'text-start', id: 't' }
const delta = (text: string) => ({ type: 'text-delta', id: 't', delta: text })
const finish = { type: 'finish', finishReason: 'stop' }
const sse = (...chunks: readonly object[]) =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
const terminated = new TypeError('terminated')

/** Sends these chunks, and breaks. */
function breaking(...chunks: readonly object[]): Response {
  const pieces = [sse(...chunks)]
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift()
      if (piece === undefined) controller.error(terminated)
      else controller.enqueue(new TextEncoder().encode(piece))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
const unreachable = () => Promise.reject(new TypeError('fetch failed'))

/** A reader of a stream whose reconnects get these responses, the last one for ever. */
function open(first: Response, ...answers: readonly (() => Response | Promise<Response>)[]) {
  const server = createScriptedServer()
  let count = 0
  server.on(/./, () => (answers[count++] ?? answers.at(-1))?.() ?? null)
  const { fetch, clock, network, random } = server.options
  const api = createApi({ fetch })
  const leaving = new AbortController()
  const stream = resumingStream<Chunk>(first, {
    again: (id, signal) =>
      id === undefined ? null : api.open(`/stream?message=${id}`, { signal }),
    signal: leaving.signal,
    clock,
    network,
    random,
  })
  const seen: Chunk[] = []
  const end = (async () => {
    for await (const chunk of stream) seen.push(chunk)
    return 'closed' as const
  })().catch((error: unknown) => error)
  return { server, clock, leaving, stream, seen, end }
}

describe('a stream that broke', () => {
  it('[RS10] is requested again, later each time, and continues where it was', async () => {
    const { seen, end, clock, server } = open(
      breaking(start, textStart, delta('ab')),
      unreachable,
      () => refusal(503, 'closing', { 'retry-after': '2' }),
      () => new Response('<html>'),
      () => breaking(start, textStart, delta('abc')),
      () => eventStream(sse(start, textStart, delta('abcd'), finish)),
    )
    for (const ms of [250, 500, 3_000, 2_000, 250]) {
      await settled()
      expect(clock.timers()).toEqual([ms])
      await clock.advance(ms)
    }
    expect(await end).toBe('closed')
    expect(seen).toEqual([start, textStart, delta('ab'), delta('c'), delta('d'), finish])
    expect(new Set(server.drainRequests())).toEqual(new Set(['GET /stream?message=m']))
    expect(clock.timers()).toEqual([])
  })

  it.each([
    ['that is not there', () => refusal(404, 'message-not-found')],
    ['without a session', () => refusal(401, 'not-authenticated')],
    ['with nothing to say', () => new Response(null, { status: 204 })],
    ['of another message', () => eventStream(sse({ ...start, messageId: 'other' }, finish))],
  ])('[RS10] ends with its own error after an answer %s', async (_, answer) => {
    const { seen, end, clock, server } = open(breaking(start), answer)
    await clock.advance(250)
    expect(await end).toBe(terminated)
    expect(seen).toEqual([start])
    expect(server.requests).toHaveLength(1)
  })

  it.each([
    ['that nobody answers', unreachable, terminated],
    ['that brings nothing new', () => breaking(start), terminated],
  ])('[RS10] is given up after about a minute %s', async (_, answer, expected) => {
    const { end, clock, server } = open(breaking(start), answer)
    await clock.advance(59_000)
    expect(clock.timers()).toHaveLength(1)
    await clock.advance(11_000)
    expect(await end).toBe(expected)
    expect(server.requests.length).toBeGreaterThan(8)
    expect(clock.timers()).toEqual([])
  })

  it('[RS10] ends as it did, where there is nothing to request', async () => {
    const broken = open(breaking())
    await broken.clock.advance(250)
    expect(await broken.end).toBe(terminated)
    const ended = open(eventStream(''))
    await ended.clock.advance(250)
    expect(await ended.end).toBe('closed')
  })

  it('[RS10] an end without a last chunk is a break, and a break after the last chunk is none', async () => {
    const cut = open(eventStream(`${sse(start)}data: {"ty`), () => eventStream(sse(start, finish)))
    await cut.clock.advance(250)
    expect(await cut.end).toBe('closed')
    expect(cut.seen).toEqual([start, finish])
    const over = open(breaking(start, finish))
    expect(await over.end).toBe('closed')
    expect(over.server.requests).toEqual([])
    const failed = [
      { type: 'finish', finishReason: 'error' },
      { type: 'error', errorText: 'no' },
    ]
    const half = open(breaking(start, ...failed.slice(0, 1)), () =>
      eventStream(sse(start, ...failed)),
    )
    await half.clock.advance(250)
    expect(await half.end).toBe('closed')
    expect(half.seen).toEqual([start, ...failed])
  })

  it('[RS10] ends when the reader leaves, also between two attempts, with no timer and no request', async () => {
    const waiting = open(breaking(start), unreachable)
    await settled()
    const left = new Error('left')
    waiting.leaving.abort(left)
    expect(await waiting.end).toBe(left)
    expect(waiting.clock.timers()).toEqual([])
    expect(waiting.server.requests).toEqual([])

    const asking = open(breaking(start))
    await asking.clock.advance(250)
    expect(asking.server.requests).toHaveLength(1)
    asking.leaving.abort(left)
    expect(await asking.end).toBe(left)
  })

  it('[RS10] ends when the stream is cancelled', async () => {
    const { fetch, clock, network, random } = createScriptedServer().options
    const api = createApi({ fetch })
    const again = (_: unknown, signal: AbortSignal) => api.open('/stream', { signal })
    const options = { again, signal: undefined, clock, network, random }
    const reader = resumingStream<Chunk>(breaking(start), options).getReader()
    expect((await reader.read()).value).toEqual(start)
    const next = reader.read()
    await settled()
    expect(clock.timers()).toEqual([250])
    await reader.cancel()
    expect((await next).done).toBe(true)
    await settled()
    expect(clock.timers()).toEqual([])
  })
})
