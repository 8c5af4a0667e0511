import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { type StreamServer, onEachDatabase } from './stream-server-process.ts'
import { ms, printTable } from './measure.ts'

const megabytes = 60
const goalMs = 100
/** More than is said while the import takes. The script of it is made in one go, by the main thread that is watched. */
const words = 10_000

/** What everybody else notices while one person imports as much as a request may hold (OP7). */
export async function benchImportPauses(): Promise<void> {
  const body = writeThread(megabytes * 1_000_000)
  await onEachDatabase(async (name, server) => {
    const quiet = await watchWhile(server, 'quiet', () => pause(20_000))
    const busy = await watchWhile(server, 'busy', () => importInto(server, body))
    printTable(`${name}: others, while one person imports ${megabytes} MB`, [
      { what: 'longest pause of a stream, nobody imports', measured: ms(quiet.pauseMs) },
      {
        what: 'longest pause of a stream, import, against 100 ms',
        measured: ms(busy.pauseMs),
        ratio: busy.pauseMs / goalMs,
        bar: 1,
      },
      {
        what: 'p99 of /api/health, import, against 100 ms',
        measured: ms(busy.healthMs),
        ratio: busy.healthMs / goalMs,
        bar: 1,
      },
      {
        what: 'longest work of the main thread without a break, by its CPU time, nobody imports and import',
        measured: `${ms(quiet.workMs)}, ${ms(busy.workMs)}`,
      },
      { what: 'the import', measured: `${busy.seconds.toFixed(1)} s` },
    ])
  })
}

interface Watched {
  readonly pauseMs: number
  readonly healthMs: number
  readonly workMs: number
  readonly seconds: number
}

/** Follows an answer that never pauses, and asks for the health, as long as the work takes. */
async function watchWhile(
  server: StreamServer,
  name: string,
  work: () => Promise<unknown>,
): Promise<Watched> {
  const left = new AbortController()
  const textBegun = Promise.withResolvers<void>()
  let longest = 0
  const reading = (async () => {
    const message = {
      id: `m-${name}`,
      role: 'user',
      parts: [{ type: 'text', text: `Say ${words} words` }],
    }
    const response = await fetch(`${server.url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: `thread-of-the-${name}-stream`, messages: [message] }),
      signal: left.signal,
    })
    let last: number | undefined
    const decoder = new TextDecoder()
    for await (const bytes of response.body as ReadableStream<Uint8Array>) {
      const now = performance.now()
      if (last !== undefined) longest = Math.max(longest, now - last)
      if (last !== undefined || decoder.decode(bytes).includes('word 0')) {
        last = now
        textBegun.resolve()
      }
    }
    if (!left.signal.aborted) throw new Error('The answer was over before the work was.')
  })()
  reading.catch(textBegun.reject)
  await textBegun.promise
  const times: number[] = []
  const over = new AbortController()
  const asking = (async () => {
    while (!over.signal.aborted) {
      const begun = performance.now()
      await (await fetch(`${server.url}/api/health`)).arrayBuffer()
      times.push(performance.now() - begun)
      await pause(10)
    }
  })()
  await server.longestMs()
  const begun = performance.now()
  await work()
  const seconds = (performance.now() - begun) / 1_000
  const workMs = await server.longestMs()
  over.abort()
  await asking
  left.abort()
  await reading.catch((error: unknown) => {
    if ((error as Error).name !== 'AbortError') throw error
  })
  return {
    pauseMs: longest,
    healthMs: times.toSorted((left, right) => left - right)[Math.floor(times.length * 0.99)] ?? 0,
    workMs,
    seconds,
  }
}

/** Through `node:http`, which sends the bytes as they are: `fetch` copies them first, while nobody here reads the stream. */
async function importInto(server: StreamServer, body: Uint8Array): Promise<void> {
  const sent = request(`${server.url}/api/import`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': body.byteLength },
  })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const answer = await text(response)
  if (response.statusCode !== 200) throw new Error(answer)
}

/** One thread, newest first, as list routes answer: all of it is needed to find its order. */
function writeThread(bytes: number): Uint8Array {
  const found = 'What was found, in a few words. '.repeat(32)
  const messages: string[] = []
  for (let written = 0, at = Date.UTC(2025, 0, 1), nth = 0; written < bytes; nth++) {
    const date = (offset: number) => new Date((at += 1_000) + offset).toISOString()
    const question = { id: `u-${nth}`, role: 'user', content: 'Look.', createdAt: date(0) }
    const call = { id: `c-${nth}`, name: 'search', args: { q: nth }, result: { text: found } }
    const toolCalls = [{ ...call, status: 'completed' }]
    const answer = {
      id: `a-${nth}`,
      role: 'assistant',
      content: found,
      createdAt: date(500),
      toolCalls,
    }
    for (const message of [question, answer]) {
      messages.push(JSON.stringify(message))
      written += messages.at(-1)?.length ?? 0
    }
  }
  return Buffer.from(
    `{"id":"imported-while-others-stream","messages":[${messages.toReversed().join(',')}]}`,
  )
}
