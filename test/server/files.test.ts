import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tool } from 'ai'
import { memory, systemClock } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { planCommit } from 'holdfast/store'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { type ChatServer, startChatServer } from './chat-server.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAAFCAYAAACAcVaiAAAAEElEQVR42mNk+M9Qz0AEAAAzEQH9AJR9AAAAAElFTkSuQmCC',
  'base64',
)
const answering = () => [{ text: 'Seen.' }]

interface Uploaded {
  readonly id: string
  readonly url: string
  readonly mediaType: string
  readonly bytes: number
  readonly filename?: string
}

async function upload(
  { url }: ChatServer,
  body: Uint8Array | string | ReadableStream<Uint8Array>,
  type: string,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly file: Uploaded; readonly code?: string }> {
  const response = await fetch(`${url}/api/files`, {
    method: 'POST',
    headers: { 'content-type': type, ...headers },
    body,
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  } as RequestInit)
  const answer = (await response.json()) as Uploaded & { readonly error?: { code: string } }
  return {
    status: response.status,
    file: answer,
    ...(answer.error === undefined ? {} : { code: answer.error.code }),
  }
}

const as = (name: string) => ({ authorization: name })
const people = {
  authenticate: (request: Request) => ({ id: request.headers.get('authorization') ?? 'nobody' }),
}

function sendParts(
  { url }: ChatServer,
  thread: string,
  parts: readonly object[],
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ id: thread, messages: [{ id: 'm', role: 'user', parts }] }),
  })
}

const filesIn = (path: string): readonly string[] =>
  readdirSync(`${path}-files`, { recursive: true })
    .map(String)
    .filter((name) => name.includes('file_'))

const picture = ({ url, mediaType }: Uploaded) => ({ type: 'file', mediaType, url })

it('[FL1] takes a file, says what it is, and gives it back whole and in ranges', async () => {
  const server = await startChatServer(answering)
  const { status, file } = await upload(server, png, 'image/png', {
    'x-filename': encodeURIComponent('Größe/../😀.png'),
  })
  expect(status).toBe(201)
  expect(file).toEqual({
    id: file.id,
    url: `/api/files/${file.id}`,
    mediaType: 'image/png',
    bytes: png.byteLength,
    filename: 'Größe_.._😀.png',
    width: 3,
    height: 5,
  })
  const whole = await fetch(server.url + file.url)
  expect(Buffer.from(await whole.arrayBuffer())).toEqual(png)
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': `${png.byteLength}`,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    etag: `"${createHash('sha256').update(png).digest('hex')}"`,
    'content-disposition': `inline; filename="Gr__e_..___.png"; filename*=UTF-8''Gr%C3%B6%C3%9Fe_.._%F0%9F%98%80.png`,
  })
  const ranges: readonly (readonly [string, number, Buffer | null])[] = [
    ['bytes=0-0', 206, png.subarray(0, 1)],
    ['bytes=8-15', 206, png.subarray(8, 16)],
    ['bytes=-4', 206, png.subarray(-4)],
    ['bytes=70-9999', 206, png.subarray(70)],
    [`bytes=${png.byteLength}-`, 416, null],
    ['bytes=5-2', 416, null],
    ['lines=1-2', 200, png],
  ]
  for (const [range, expected, bytes] of ranges) {
    const part = await fetch(server.url + file.url, { headers: { range } })
    expect([range, part.status]).toEqual([range, expected])
    const body = Buffer.from(await part.arrayBuffer())
    if (bytes !== null) expect(body).toEqual(bytes)
    // RFC 9110, 15.5.17: the client learns the size, to ask for a range that there is.
    const size = part.headers.get('content-range')
    if (expected === 416) expect([range, size]).toEqual([range, `bytes */${png.byteLength}`])
  }
  const etag = whole.headers.get('etag') ?? ''
  const conditions: readonly (readonly [string, number])[] = [
    [etag, 304],
    [`W/${etag}`, 304],
    [`"another", W/"third", ${etag}`, 304],
    ['*', 304],
    ['"another"', 200],
    [etag.replaceAll('"', ''), 200],
  ]
  for (const [header, expected] of conditions) {
    const again = await fetch(server.url + file.url, { headers: { 'if-none-match': header } })
    expect([header, again.status]).toEqual([header, expected])
    await again.arrayBuffer()
  }
  const head = await fetch(server.url + file.url, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, `${png.byteLength}`])
})

it('[FL1] [HT5] serves nothing as active content, whatever it says that it is', async () => {
  const server = await startChatServer(answering)
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
  const html = '<!doctype html><script>alert(1)</script>'
  for (const [body, type] of [
    [svg, 'image/svg+xml'],
    [html, 'text/html'],
    [html, 'text/plain'],
    [`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>`, 'application/xml'],
  ] as const) {
    const { status, file } = await upload(server, body, type)
    expect([type, status]).toEqual([type, 201])
    const served = await fetch(server.url + file.url)
    expect(served.headers.get('content-disposition')).toMatch(/^attachment;/)
    expect(served.headers.get('content-type')).toBe('application/octet-stream')
    expect(served.headers.get('content-security-policy')).toContain('sandbox')
    expect(await served.text()).toBe(body)
  }
  expect(await upload(server, html, 'image/png')).toMatchObject({ status: 415, code: 'file-type' })
})

it('[FL1] refuses what is too large, of a refused type, or larger than any screen, and keeps nothing', async () => {
  const path = temporaryFile()
  const files = { maxBytes: 200_000, maxBytesPerOwner: 300_000 }
  const server = await startChatServer(answering, { store: sqlite(path), files })
  const big = Buffer.alloc(200_001, 'a')
  expect(await upload(server, big, 'text/plain')).toMatchObject({
    status: 413,
    code: 'file-too-large',
  })
  const unending = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(10_000).fill(97)),
  })
  expect(await upload(server, unending, 'text/plain')).toMatchObject({
    status: 413,
    code: 'file-too-large',
  })
  expect(await upload(server, Buffer.from('\x7FELF\x02\x01\x01'), 'text/plain')).toMatchObject({
    status: 415,
    code: 'file-type',
  })
  const bomb = Buffer.from(png)
  bomb.writeUInt32BE(100_000, 16)
  bomb.writeUInt32BE(100_000, 20)
  expect(await upload(server, bomb, 'image/png')).toMatchObject({
    status: 413,
    code: 'file-too-large',
  })
  // Behind more than what is looked at of other files.
  const profile = Buffer.concat([Buffer.from([0xff, 0xe2, 0xff, 0xff]), Buffer.alloc(65_533)])
  const frame = Buffer.from([0xff, 0xc0, 0, 17, 8, 0xff, 0xff, 0xff, 0xff, 3])
  const start = Buffer.from([0xff, 0xd8])
  expect(
    await upload(server, Buffer.concat([start, profile, profile, profile, frame]), 'image/jpeg'),
  ).toMatchObject({ status: 413, code: 'file-too-large' })
  // What does not say how large it is may be larger than any memory.
  for (const picture of [png.subarray(0, 12), Buffer.concat([start, profile])]) {
    expect(await upload(server, picture, '')).toMatchObject({ status: 415, code: 'file-type' })
  }
  expect((await upload(server, Buffer.alloc(199_000, 'b'), 'text/plain')).status).toBe(201)
  expect(await upload(server, Buffer.alloc(199_000, 'c'), 'text/plain')).toMatchObject({
    status: 413,
    code: 'files-full',
  })
  expect(filesIn(path)).toHaveLength(1)
})

it('[FL1] a file that is cut off is not there, and leaves nothing behind', async () => {
  const path = temporaryFile()
  const server = await startChatServer(answering, { store: sqlite(path) })
  await new Promise<void>((resolve) => {
    const request = httpRequest(`${server.url}/api/files`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'content-length': 1_000_000 },
    })
    request.on('error', () => resolve())
    request.write(Buffer.alloc(400_000, 'x'), () => request.destroy())
  })
  // It had begun: its folder is there, and nothing is in it any more.
  await expect.poll(() => (existsSync(`${path}-files`) ? filesIn(path) : null)).toEqual([])
})

it('[FL1] [HT2] another owner’s file is not there, and cannot be named', async () => {
  const server = await startChatServer(answering, { handler: people })
  const { file } = await upload(server, png, 'image/png', as('ana'))
  const theirs = await fetch(server.url + file.url, { headers: as('ben') })
  const none = await fetch(`${server.url}/api/files/file_${'0'.repeat(32)}`, {
    headers: as('ben'),
  })
  expect([theirs.status, await theirs.text()]).toEqual([none.status, await none.text()])
  expect(theirs.status).toBe(404)
  const named = await sendParts(server, 'a-thread-of-bens-own', [picture(file)], as('ben'))
  expect([named.status, await named.json()]).toMatchObject([
    404,
    { error: { code: 'file-not-found' } },
  ])
  const thread = await fetch(`${server.url}/api/threads/a-thread-of-bens-own`, {
    headers: as('ben'),
  })
  expect(thread.status).toBe(404)
})

it('[FL2] sends the model the bytes of what a message names, now and in every later turn', async () => {
  const server = await startChatServer(answering)
  const { file } = await upload(server, png, 'image/png')
  const response = await sendParts(server, 't', [
    { type: 'text', text: 'What is this?' },
    picture(file),
  ])
  expect(await response.text()).toContain('Seen.')
  const again = await fetch(`${server.url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 't',
      messages: [{ id: 'm2', role: 'user', parts: [{ type: 'text', text: 'And now?' }] }],
    }),
  })
  await again.text()
  for (const { prompt } of server.calls) {
    const [first] = prompt.filter(({ role }) => role === 'user')
    expect(JSON.stringify(first)).toContain('image/png')
    const content = first?.content as readonly { type: string; data?: { data?: unknown } }[]
    const part = content.find(({ type }) => type === 'file')
    expect(Buffer.from(part?.data?.data as Uint8Array)).toEqual(png)
  }
  expect(server.calls).toHaveLength(2)
  const page = (await (await fetch(`${server.url}/api/threads/t/messages`)).json()) as {
    readonly results: readonly { readonly parts: readonly object[] }[]
  }
  expect(page.results.at(-1)?.parts).toContainEqual(picture(file))
})

it('[FL2] deleting a thread deletes what only it named; what nothing names is collected', async () => {
  let now = Date.now()
  const store = memory()
  const server = await startChatServer(answering, {
    store,
    clock: { ...systemClock, now: () => now },
  })
  const [shared, own, unused] = await Promise.all(
    ['shared', 'own', 'unused'].map(
      async (text) => (await upload(server, text, 'text/plain')).file,
    ),
  )
  if (!shared || !own || !unused) throw new Error('not uploaded')
  await (await sendParts(server, 't', [picture(shared), picture(own)])).text()
  await (await sendParts(server, 'u', [picture(shared)])).text()
  const isThere = async (file: Uploaded) => (await fetch(server.url + file.url)).status === 200
  await fetch(`${server.url}/api/threads/t`, { method: 'DELETE' })
  expect(await Promise.all([shared, own, unused].map(isThere))).toEqual([true, false, true])
  now += 86_400_001
  expect(await server.holdfast.files.collect()).toBe(1)
  expect(await Promise.all([shared, own, unused].map(isThere))).toEqual([true, false, false])
  expect(await server.holdfast.deleteOwner('local')).toMatchObject({ threads: 1 })
  expect(await isThere(shared)).toBe(false)
})

it('[FL2 VR4] a fork keeps the files of what it copied when its origin is deleted', async () => {
  const large = `data:image/png;base64,${Buffer.concat([png, Buffer.alloc(30_000)]).toString('base64')}`
  const server = await startChatServer(
    (_, step) => (step === 0 ? [{ call: 'draw', input: {} }] : [{ text: 'Drawn.' }]),
    { tools: { draw: tool({ inputSchema: z.object({}), execute: () => ({ large }) }) } },
  )
  const { file } = await upload(server, png, 'image/png')
  await (await sendParts(server, 't', [picture(file)])).text()
  const page = await (await fetch(`${server.url}/api/threads/t/messages`)).text()
  const drawn = /\/api\/files\/file_[0-9a-f]{32}(?=","?|"})/.exec(
    page.replaceAll(file.url, ''),
  )?.[0]
  if (drawn === undefined) throw new Error('The tool made no file.')
  expect((await server.holdfast.threads.fork('t')).kind).toBe('forked')
  await fetch(`${server.url}/api/threads/t`, { method: 'DELETE' })
  for (const url of [file.url, drawn]) {
    expect([url, (await fetch(server.url + url)).status]).toEqual([url, 200])
  }
})

/** In both kinds of store that forks are written in: at once, and staged. */
const stores = { memory: () => memory(), sqlite: () => sqlite(temporaryFile()) }

it.each(Object.entries(stores))(
  '[FL2 HT2] %s: who knows the address of another owner’s file can neither keep it nor have it deleted',
  async (_, openStore) => {
    const server = await startChatServer(answering, { store: openStore(), handler: people })
    const sendRequest = async (method: string, path: string, name: string, body?: unknown) => {
      const response = await fetch(server.url + path, {
        method,
        headers: { 'content-type': 'application/json', ...as(name) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, text: await response.text() }
    }
    const isThere = async ({ url }: Uploaded) =>
      (await fetch(server.url + url, { headers: as('ana') })).status === 200
    const [sent, unsent, answered] = await Promise.all(
      ['sent', 'unsent', 'answered'].map(
        async (text) => (await upload(server, text, 'text/plain', as('ana'))).file,
      ),
    )
    if (!sent || !unsent || !answered) throw new Error('not uploaded')
    await (await sendParts(server, 'a-thread-of-anas', [picture(sent)], as('ana'))).text()
    await server.holdfast.post('a-thread-of-anas', {
      role: 'assistant',
      parts: [{ type: 'file', mediaType: 'text/plain', url: answered.url }],
    })

    const all = [sent, unsent, answered]
    const answer = all.map(({ url }) => ({ type: 'text', text: `It is at ${url}` }))
    const call = { type: 'tool-look', toolCallId: 'c', state: 'output-available', input: {} }
    const imported = [
      { id: 'q', role: 'user', parts: [{ type: 'text', text: 'q' }, ...all.map(picture)] },
      {
        ...{ id: 'bens-answer', role: 'assistant' },
        parts: [...answer, ...all.map(picture), { ...call, output: all.map(({ url }) => url) }],
      },
    ]
    const threads = [{ id: 'a-thread-of-bens', messages: imported }]
    expect((await sendRequest('POST', '/api/import', 'ben', threads)).status).toBe(200)
    const fork = await sendRequest('POST', '/api/threads/a-thread-of-bens/fork', 'ben', {})
    expect(fork.status).toBe(201)
    const { id: forked } = JSON.parse(fork.text) as { readonly id: string }
    expect((await sendRequest('DELETE', `/api/threads/${forked}`, 'ben')).status).toBe(204)
    expect(await Promise.all(all.map(isThere))).toEqual([true, true, true])
    // What ben names does not keep it either.
    await sendRequest('DELETE', '/api/threads/a-thread-of-anas', 'ana')
    expect(await Promise.all(all.map(isThere))).toEqual([false, true, false])
    await sendRequest('DELETE', '/api/threads/a-thread-of-bens', 'ben')
    expect(await Promise.all(all.map(isThere))).toEqual([false, true, false])
  },
)

it('[FL2 OP5a] a posted message names only files of its thread’s owner, and keeps them', async () => {
  let now = Date.now()
  const server = await startChatServer(answering, { clock: { ...systemClock, now: () => now } })
  const { holdfast } = server
  const fileOf = async (ownerId: string) => {
    const content = Buffer.from(`Of ${ownerId}`)
    const { id, mediaType, url } = await holdfast.files.add({ ownerId, content, mediaType: '' })
    return { id, part: { type: 'file' as const, mediaType, url } }
  }
  const create = { ownerId: 'ana' }
  const bens = await fileOf('ben')
  for (const role of ['user', 'assistant'] as const) {
    const message = { id: role, role, parts: [bens.part] }
    await expect(holdfast.post('t', message, { create })).rejects.toMatchObject({
      code: 'file-not-found',
    })
    const own = await fileOf('ana')
    expect(await holdfast.post('t', { ...message, parts: [own.part] }, { create })).toMatchObject({
      kind: 'stored',
    })
    now += 86_400_001
    await holdfast.files.collect()
    expect(await holdfast.files.get(own.id)).not.toBeNull()
  }
  expect(await holdfast.files.get(bens.id)).toBeNull()
})

it('[FL2 IN2] a message that waits cannot be made to name another owner’s file', async () => {
  const server = await startChatServer(answering)
  const theirs = await server.holdfast.files.add({
    ownerId: 'ana',
    content: (async function* () {
      yield png
    })(),
    mediaType: 'image/png',
  })
  const { store } = server.holdfast
  await store.createThread({ id: 't', ownerId: 'local', title: '', at: 1 })
  const input = { id: 'waits', mode: 'queue', parts: [{ type: 'text', text: 'Hi' }] } as const
  const planned = planCommit({
    threadId: 't',
    events: [
      { type: 'input-queued', input, at: 1 },
      { type: 'queue-held', at: 1 },
    ],
    expectedSeq: 0,
    queue: [],
  })
  if ('kind' in planned) throw new Error(planned.kind)
  await store.commit([planned])
  const parts = [{ type: 'file', mediaType: 'image/png', url: `/api/files/${theirs.id}` }] as const
  await expect(server.holdfast.queues.update('t', 'waits', { parts })).rejects.toMatchObject({
    code: 'file-not-found',
  })
  expect((await server.holdfast.queues.list('t'))?.[0]?.parts).toEqual(input.parts)
})

it('[FL1] what a tool or the model made large is a file, and small is not', async () => {
  const large = `data:image/png;base64,${Buffer.concat([png, Buffer.alloc(30_000)]).toString('base64')}`
  const small = `data:image/png;base64,${png.toString('base64')}`
  const server = await startChatServer(
    (_, step) => (step === 0 ? [{ call: 'draw', input: {} }] : [{ text: 'Drawn.' }]),
    {
      tools: {
        draw: tool({ inputSchema: z.object({}), execute: () => ({ large, in: [{ small }] }) }),
      },
    },
  )
  await (await sendParts(server, 't', [{ type: 'text', text: 'Draw.' }])).text()
  const page = (await (await fetch(`${server.url}/api/threads/t/messages`)).json()) as {
    readonly results: readonly { readonly parts: readonly Record<string, unknown>[] }[]
  }
  const part = page.results[0]?.parts.find(({ type }) => type === 'tool-draw')
  const output = part?.['output'] as { readonly large: string; readonly in: unknown }
  expect(output.large).toMatch(/^\/api\/files\/file_/)
  expect(output.in).toEqual([{ small }])
  const served = await fetch(server.url + output.large)
  expect(served.headers.get('content-type')).toBe('image/png')
  expect((await served.arrayBuffer()).byteLength).toBe(png.byteLength + 30_000)
})
