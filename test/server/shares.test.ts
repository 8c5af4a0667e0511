import { randomUUID } from 'node:crypto'
import { tool } from 'ai'
import { createHoldfast, memory } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type ChatServer, type Script, startChatServer } from './chat-server.ts'

const as = (name: string) => ({ authorization: name })
const people = {
  authenticate: (request: Request) => {
    const id = request.headers.get('authorization')
    return id === null ? null : { id }
  },
}
const answering: Script = (text) => [{ text: `You said: ${text}` }]

interface ShareBody {
  readonly id: string
  readonly url: string
  readonly seq: number
  readonly createdAt: string
}

async function sendParts(
  { url }: ChatServer,
  thread: string,
  parts: readonly object[],
  who = 'ana',
) {
  const response = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...as(who) },
    body: JSON.stringify({ id: thread, messages: [{ id: randomUUID(), role: 'user', parts }] }),
  })
  expect(response.status).toBe(200)
  await response.text()
}

const text = (words: string) => [{ type: 'text', text: words }]

const share = async ({ url }: ChatServer, thread: string, who = 'ana') => {
  const path = `${url}/api/threads/${thread}/shares`
  const response = await fetch(path, { method: 'POST', headers: as(who) })
  return { status: response.status, body: (await response.json()) as ShareBody }
}

const errorOf = async (response: Response) => ({
  status: response.status,
  body: (await response.json()) as unknown,
})

const noLink = {
  status: 404,
  body: {
    error: {
      code: 'share-not-found',
      message: 'This conversation does not exist, or it is no longer shared.',
    },
  },
}

it('[FK5] a link is made by the owner, read by everybody without signing in, listed and revoked', async () => {
  const server = await startChatServer(answering, { handler: { ...people, sharing: true } })
  const thread = `thread-${randomUUID()}`
  await sendParts(server, thread, text('hello'))
  const { status, body: made } = await share(server, thread)
  expect(status).toBe(201)
  expect(made).toEqual({
    id: expect.stringMatching(/^shr_[\w-]{32}$/) as string,
    url: `/api/shares/${made.id}/messages`,
    seq: (await server.holdfast.threads.get(thread))?.seq,
    createdAt: new Date(made.createdAt).toISOString(),
  })
  await sendParts(server, thread, text('something later'))
  const page = await fetch(`${server.url}${made.url}?limit=1`)
  expect(page.status).toBe(200)
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("default-src 'none'") as string,
  })
  for (const path of [
    `${made.url}?limit=0`,
    '/api/shares/none/messages',
    `/api/shares/${made.id}/files/none`,
  ]) {
    const refused = await fetch(`${server.url}${path}`)
    expect([refused.ok, refused.headers.get('x-robots-tag')]).toEqual([false, 'noindex, nofollow'])
  }
  const first = (await page.json()) as { nextCursor: string; results: unknown[] }
  expect(first).toEqual({
    ...{
      title: 'hello',
      sharedAt: made.createdAt,
      hasMore: true,
      nextCursor: expect.any(String) as string,
    },
    results: [
      {
        ...{ id: expect.any(String) as string, role: 'assistant' },
        parts: [{ type: 'step-start' }, { type: 'text', text: 'You said: hello', state: 'done' }],
      },
    ],
  })
  const cursor = encodeURIComponent(first.nextCursor)
  const rest = await fetch(`${server.url}${made.url}?limit=5&cursor=${cursor}`, {
    headers: as('a stranger'),
  })
  expect(await rest.json()).toMatchObject({
    ...{ hasMore: false, nextCursor: null },
    results: [{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
  })
  const list = await fetch(`${server.url}/api/threads/${thread}/shares`, { headers: as('ana') })
  expect(await list.json()).toEqual({ results: [made], nextCursor: null, hasMore: false })
  for (const [method, path] of [
    ...[
      ['POST', ''],
      ['GET', ''],
      ['DELETE', `/${made.id}`],
    ],
  ] as const) {
    const address = `${server.url}/api/threads/${thread}/shares${path}`
    expect((await fetch(address, { method, headers: as('ben') })).status).toBe(404)
    expect((await fetch(address, { method })).status).toBe(401)
  }
  const revoke = () =>
    fetch(`${server.url}/api/threads/${thread}/shares/${made.id}`, {
      ...{ method: 'DELETE', headers: as('ana') },
    })
  expect((await revoke()).status).toBe(204)
  expect(await errorOf(await revoke())).toEqual(noLink)
  expect(await errorOf(await fetch(`${server.url}${made.url}`))).toEqual(noLink)
})

it('[FK5] what was revoked, deleted, never made, malformed or switched off is refused in the same words', async () => {
  const server = await startChatServer(answering, { handler: { ...people, sharing: true } })
  const thread = `thread-${randomUUID()}`
  await sendParts(server, thread, text('hello'))
  const { body: made } = await share(server, thread)
  await fetch(`${server.url}/api/threads/${thread}`, { method: 'DELETE', headers: as('ana') })
  for (const id of [made.id, `shr_${'A'.repeat(32)}`, 'shr_x', 'x', '%00', '..%2f']) {
    for (const path of ['messages', 'files/file_x', 'tool-calls/call_x']) {
      expect(await errorOf(await fetch(`${server.url}/api/shares/${id}/${path}`))).toEqual(noLink)
    }
  }
  const off = createHandler(server.holdfast, people)
  const again = `thread-${randomUUID()}`
  await sendParts(server, again, text('hello'))
  const { body: other } = await share(server, again)
  const read = await off(new Request(`http://localhost${other.url}`))
  expect(await errorOf(read)).toEqual(noLink)
  const refused = await off(
    new Request(`http://localhost/api/threads/${again}/shares`, {
      ...{ method: 'POST', headers: as('ana') },
    }),
  )
  expect(refused.status).toBe(403)
  expect(await refused.json()).toMatchObject({ error: { code: 'sharing-off' } })
  const agent = await off(new Request('http://localhost/api/agent', { headers: as('ana') }))
  expect(await agent.json()).toMatchObject({ sharing: false, person: 'ana' })
})

it('[FK5] a thread without anything said, or with too many links, is refused clearly', async () => {
  const server = await startChatServer(answering, { handler: { ...people, sharing: true } })
  const created = await fetch(`${server.url}/api/threads`, {
    ...{
      method: 'POST',
      headers: { 'content-type': 'application/json', ...as('ana') },
      body: '{}',
    },
  })
  const { id } = (await created.json()) as { id: string }
  expect(await share(server, id)).toMatchObject({
    ...{ status: 409, body: { error: { code: 'nothing-to-share' } } },
  })
  await sendParts(server, id, text('hello'))
  for (let made = 0; made < 50; made++) expect((await share(server, id)).status).toBe(201)
  expect(await share(server, id)).toMatchObject({
    ...{ status: 409, body: { error: { code: 'shares-full' } } },
  })
  const lacking = memory()
  const store = { ...lacking, shares: undefined } as unknown as typeof lacking
  const handler = createHandler(createHoldfast({ store, recoverEveryMs: 0 }), {
    ...people,
    sharing: true,
  })
  await store.createThread({ id: 'a thread of ana’s', ownerId: 'ana', title: '', at: 1 })
  const path = `http://localhost/api/threads/${encodeURIComponent('a thread of ana’s')}/shares`
  const none = await handler(new Request(path, { method: 'POST', headers: as('ana') }))
  expect(none.status).toBe(501)
  expect(await none.json()).toMatchObject({ error: { code: 'no-shares' } })
})

it('[FK5] without authentication a link is for this machine, as everything is', async () => {
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const handler = createHandler(holdfast)
  await holdfast.threads.create({ id: 'thread', ownerId: 'local' })
  await holdfast.post('thread', { id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] })
  const result = await holdfast.shares.create('thread')
  const id = result.kind === 'shared' ? result.share.id : ''
  // Nobody has seen the socket of this one.
  const read = await handler(new Request(`http://localhost/api/shares/${id}/messages`))
  expect(read.status).toBe(403)
  const local = createHandler(holdfast, { localOnly: true })
  const here = await local(new Request(`http://localhost/api/shares/${id}/messages`))
  expect(here.status).toBe(200)
})

it('[FK5] files and large results come through the link, only those, and are kept by nobody', async () => {
  const script: Script = (_, step) =>
    step === 0 ? [{ call: 'large', input: {} }] : [{ text: 'Done.' }]
  const large = tool({ inputSchema: z.object({}), execute: () => 'x'.repeat(20_000) })
  const handler = { ...people, sharing: true, basePath: '/chat' }
  const server = await startChatServer(script, { handler, tools: { large } })
  const base = { ...server, url: `${server.url}/chat` }
  const upload = async (words: string) => {
    const response = await fetch(`${base.url}/api/files`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'x-filename': 'note.txt', ...as('ana') },
      body: words,
    })
    return (await response.json()) as { id: string; url: string; mediaType: string }
  }
  const thread = `thread-${randomUUID()}`
  const file = await upload('what was shared')
  const { url, mediaType } = file
  await sendParts(base, thread, [{ type: 'file', url, mediaType }, ...text('read it')])
  const { body: made } = await share(base, thread)
  expect(made.url).toBe(`/chat/api/shares/${made.id}/messages`)
  const later = await upload('later')
  await sendParts(base, thread, [{ type: 'file', url: later.url, mediaType }, ...text('and this')])
  const page = await (await fetch(`${server.url}${made.url}?format=ui`)).text()
  const [, path = ''] = /"(\/chat\/api\/shares\/[\w-]+\/files\/file_\w+)"/.exec(page) ?? []
  const read = await fetch(`${server.url}${path}`)
  expect(await read.text()).toBe('what was shared')
  expect(read.headers.get('cache-control')).toBe('no-store')
  expect(read.headers.get('content-disposition')).toContain('attachment')
  const range = await fetch(`${server.url}${path}`, { headers: { range: 'bytes=0-3' } })
  expect([range.status, await range.text()]).toEqual([206, 'what'])
  const other = path.replace(file.id, later.id)
  expect(await errorOf(await fetch(`${server.url}${other}`))).toEqual(noLink)
  // Nobody else's sign-in opens the file itself.
  expect((await fetch(`${server.url}${url}`)).status).toBe(401)
  const [, href = ''] = /"href":"([^"]+)"/.exec(page) ?? []
  expect(href).toMatch(/^\/chat\/api\/shares\//)
  const result: unknown = await (await fetch(`${server.url}${href}`)).json()
  expect(result).toMatchObject({ name: 'large', result: 'x'.repeat(20_000) })
  expect(Object.keys(result as object)).toEqual(['id', 'name', 'result'])
  for (const query of [
    '?limit=0',
    '?limit=201',
    '?cursor=zz',
    '?format=html',
    '?limit=1&limit=2',
  ]) {
    expect((await fetch(`${server.url}${made.url}${query}`)).status).toBe(400)
  }
  const post = await fetch(`${server.url}${made.url}`, { method: 'POST' })
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET'])
})
