import { createHoldfast, importThreads, readImport } from 'holdfast'
import { createHandler, type HandlerOptions } from 'holdfast/server'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openStore, temporaryFile } from '../sqlite/temporary-file.ts'

const million = 1_000_000
/** Three bytes for each character, which is what takes longest to read and to encode. */
const text = '文字の後に文字、'.repeat(million)

const answer = { id: 'answer', role: 'assistant', parts: [{ type: 'text', text }] }

/** Imported by itself, as a server begins to index what was imported. */
async function startWithThread(messages: readonly object[], options?: HandlerOptions) {
  const store = openStore(temporaryFile())
  async function* source() {
    yield JSON.stringify({ id: 'thread', messages })
  }
  const report = await importThreads(store, readImport(source()), { ownerId: 'local' })
  expect(report).toMatchObject({ messages: messages.length, failed: [] })
  const holdfast = createHoldfast({ store, recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const handler = createHandler(holdfast, { localOnly: true, ...options })
  return (query: string) => {
    const url = `http://localhost/api/threads/thread/messages?${query}`
    return handler(new Request(url, { headers: { host: 'localhost' } }))
  }
}

/**
 * What is done with millions of characters, each with the turn of the event loop it is done in. It is done on a clock that is
 * later at each look, so that how fast the machine is does not decide.
 */
function watchLongWork() {
  let ms = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (ms += 10))
  let turn = 0
  let isOver = false
  const next = () => {
    turn++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  const works: { readonly turn: number; readonly what: string; readonly chars: number }[] = []
  const add = (what: string, chars = 0) => {
    if (chars > million) works.push({ turn, what, chars })
  }
  const { parse, stringify } = JSON
  const decode = TextDecoder.prototype.decode.bind(new TextDecoder())
  const encode = TextEncoder.prototype.encode.bind(new TextEncoder())
  vi.spyOn(TextDecoder.prototype, 'decode').mockImplementation((...args) => {
    const decoded = decode(...args)
    add('read', decoded.length)
    return decoded
  })
  vi.spyOn(JSON, 'parse').mockImplementation((...args: Parameters<typeof parse>) => {
    add('parse', args[0].length)
    return parse(...args) as unknown
  })
  vi.spyOn(JSON, 'stringify').mockImplementation((...args: Parameters<typeof stringify>) => {
    const json = stringify(...args)
    add('write', json?.length)
    return json
  })
  vi.spyOn(TextEncoder.prototype, 'encode').mockImplementation((given) => {
    add('encode', given?.length)
    return encode(given)
  })
  const stop = () => {
    isOver = true
    vi.restoreAllMocks()
  }
  onTestFinished(stop)
  return { works, stop }
}

it('[OP7] a page with a text of 8,000,000 characters is read, parsed, written and encoded in turns of the event loop of their own', async () => {
  const requestPage = await startWithThread([answer])
  const { works, stop } = watchLongWork()
  const response = await requestPage('format=vercel')
  stop()
  // The text is twice in a message of AI SDK 4.
  const twice = ['write', 'encode', 'write', 'encode']
  expect(works.map(({ what }) => what)).toEqual(['read', 'parse', ...twice])
  expect(new Set(works.map(({ turn }) => turn)).size).toBe(works.length)
  const most = Math.max(...works.map(({ chars }) => chars))
  expect(most).toBeLessThan(text.length + 1_000)
  const body = await response.text()
  expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(body)))
  expect(JSON.parse(body)).toMatchObject({ results: [{ content: text, parts: answer.parts }] })
})

it('[OP7a] a page is cut between two such texts', async () => {
  const requestPage = await startWithThread([
    { id: 'question', role: 'user', content: text },
    answer,
  ])
  const response = await requestPage('format=ui')
  const page = (await response.json()) as { readonly results: object[] }
  expect(page).toMatchObject({ results: [{ id: 'answer' }], hasMore: true })
})

it('[OP7a] all of a response that is sent in pieces counts until it is taken', async () => {
  const requestPage = await startWithThread([answer], {
    // One of its two texts has 24 MB.
    limits: { unreadBytesPerOwner: 30 * million },
  })
  const statusOfNext = async () => {
    const { status, body } = await requestPage('format=ledger')
    await body?.cancel()
    return status
  }
  const statuses: number[] = []
  const whole = await requestPage('format=vercel')
  for await (const _piece of whole.body as ReadableStream<Uint8Array>) {
    statuses.push(await statusOfNext())
  }
  // Before the first text, in it, between the two, in the second, and behind it.
  expect(statuses).toEqual([429, 429, 200, 200, 200])
  const left = await requestPage('format=vercel')
  const reader = (left.body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  expect(await statusOfNext()).toBe(429)
  await reader.cancel()
  expect(await statusOfNext()).toBe(200)
})
