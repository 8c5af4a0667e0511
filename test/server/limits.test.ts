import { once } from 'node:events'
import { connect } from 'node:net'
import { createHoldfast, type Holdfast, memory, type Store } from 'holdfast'
import { createHandler, listen } from 'holdfast/server'
import { planCommit } from 'holdfast/store'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Script, startChatServer } from './chat-server.ts'

const script: Script = (text) =>
  text === 'hang'
    ? [{ call: 'hang', input: {} }]
    : text === 'large'
      ? [{ text: 'x'.repeat(8_000_000) }]
      : [{ text: 'Hello.', pieces: 3 }]

const messageOf = (id: string, text: string, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({
    id,
    messages: [{ id: `${id}-u`, role: 'user', parts: [{ type: 'text', text }] }],
  }),
})

const send = (url: string, id: string, text: string, headers?: Record<string, string>) =>
  fetch(`${url}/api/chat`, messageOf(id, text, headers))

const codeOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string } }
  return [response.status, error.code]
}

describe('limits', () => {
  it('[RS2] lets a server without accounts, where everybody is one owner, be busy', async () => {
    const { url, holdfast } = await startChatServer(script)
    const handler = createHandler(holdfast, { localOnly: true })
    const answers: Response[] = []
    for (let index = 0; index < 200; index++) {
      answers.push(await handler(new Request(`${url}/api/chat`, messageOf(`t${index}`, 'hang'))))
    }
    for (let index = 0; index < 1_000; index++) {
      answers.push(await handler(new Request(`${url}/api/threads/t${index % 200}/events`)))
    }
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(holdfast.running()).toHaveLength(200)
    for (const answer of answers) await answer.body?.cancel()
  })

  it('[OP7 LE5] reports a message of an import that is longer than is taken as failed, and imports the rest', async () => {
    const { url } = await startChatServer(script, {
      handler: { limits: { importMessageChars: 1_000 } },
    })
    const messages = ['x'.repeat(2_000), 'Hello.'].map((content, nth) => ({
      id: `m${nth}`,
      role: 'user',
      content,
    }))
    const response = await fetch(`${url}/api/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'imported', messages }),
    })
    expect(await response.json()).toMatchObject({
      messages: 1,
      failed: [
        {
          where: 'messages[0]',
          why: expect.stringContaining('longer than 1000 characters') as string,
        },
      ],
    })
  })

  it('[HT3] refuses more runs than an owner may have, and stores nothing of what it refuses', async () => {
    const idOf = (name: string) => name.repeat(16)
    const { url, holdfast } = await startChatServer(script, {
      handler: {
        limits: { runsPerOwner: 2 },
        authenticate: (request) => ({ id: request.headers.get('x-owner') ?? 'one' }),
      },
    })
    const open = [await send(url, idOf('a'), 'hang'), await send(url, idOf('b'), 'hang')]
    expect(await codeOf(await send(url, idOf('c'), 'hello'))).toEqual([429, 'too-many'])
    expect((await fetch(`${url}/api/threads/${idOf('c')}`)).status).toBe(404)
    const other = await send(url, idOf('d'), 'hello', { 'x-owner': 'two' })
    expect(other.status).toBe(200)
    await other.text()
    // Who reads does not matter: the place is free when the run is over.
    await fetch(`${url}/api/chat/${idOf('a')}/stop`, { method: 'POST' })
    await open[0]?.text()
    await holdfast.settled(idOf('a'))
    expect((await send(url, idOf('c'), 'hello')).status).toBe(200)
    await fetch(`${url}/api/chat/${idOf('b')}/stop`, { method: 'POST' })
  })

  it('[HT3] refuses more streams than an owner may have, and counts one that was left', async () => {
    const { url, followers } = await startChatServer(script, {
      handler: { limits: { followersPerOwner: 2 } },
    })
    await fetch(`${url}/api/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"id":"t"}',
    })
    const events = (signal?: AbortSignal) =>
      fetch(`${url}/api/threads/t/events`, signal === undefined ? {} : { signal })
    const leave = new AbortController()
    // Both are kept: the stream of a response that nobody can reach any more is cancelled when it is collected.
    const left = await events(leave.signal)
    const held = await events()
    expect(await codeOf(await events())).toEqual([429, 'too-many'])
    expect(await codeOf(await send(url, 'new', 'hello'))).toEqual([429, 'too-many'])
    expect((await fetch(`${url}/api/threads/new`)).status).toBe(404)
    leave.abort()
    await expect(left.text()).rejects.toThrow(/abort/i)
    // The server hears of it when the connection is closed, which is soon and not at once.
    await followers.until((count) => count.left === 1)
    const freed = await send(url, 'new', 'hello')
    expect(freed.status).toBe(200)
    await freed.text()
    await held.body?.cancel()
  })

  it('[HT3] refuses a message that is too long', async () => {
    const { url } = await startChatServer(script, { handler: { limits: { textChars: 10 } } })
    expect(await codeOf(await send(url, 'a', 'x'.repeat(11)))).toEqual([413, 'too-large'])
    expect((await fetch(`${url}/api/threads/a`)).status).toBe(404)
  })

  it('[HT3] refuses a text that is too long at every other route that takes one', async () => {
    const { url, holdfast } = await startChatServer(script, {
      handler: { limits: { textChars: 10 } },
    })
    await (await send(url, 'a', 'Hello')).text()
    const { seq = 0 } = (await holdfast.store.readThread('a')) ?? {}
    const input = { id: 'waits', mode: 'queue', parts: [{ type: 'text', text: 'Hi' }] } as const
    const planned = planCommit({
      threadId: 'a',
      events: [
        { type: 'input-queued', input, at: 1 },
        { type: 'queue-held', at: 1 },
      ],
      expectedSeq: seq,
      queue: [],
    })
    if ('kind' in planned) throw new Error(planned.kind)
    await holdfast.store.commit([planned])
    const sendRequest = (method: string, path: string, body: object) =>
      fetch(url + path, {
        method,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const long = 'x'.repeat(11)
    const decision = { decision: 'reject', feedback: long }
    const answer = { id: 'm', role: 'assistant', parts: [] as object[] }
    const responded = { type: 'tool-remove', toolCallId: 'c', state: 'approval-responded' }
    answer.parts.push({ ...responded, approval: { id: 'c', approved: false, reason: long } })
    for (const [method, path, body] of [
      ['PATCH', '/api/threads/a/queue/waits', { text: long }],
      ['POST', '/api/threads/a/tool-calls/c/decision', decision],
      ['POST', '/api/threads/a/decisions', { decisions: [{ callId: 'c', ...decision }] }],
      ['POST', '/api/chat', { id: 'a', messages: [answer] }],
    ] as const) {
      expect([path, ...(await codeOf(await sendRequest(method, path, body)))]).toEqual([
        ...[path, 413, 'too-large'],
      ])
    }
    expect((await holdfast.queues.list('a'))?.[0]?.parts).toEqual(input.parts)
  })

  it('[RS2] cuts a reader off that does not read, and gives its place back', async () => {
    const { url, holdfast, followers } = await startChatServer(script, {
      stallMs: 50,
      maxTextChars: 100_000_000,
    })
    // Left at once: a busy test would read it too slowly for this server.
    await (await send(url, 'a', 'large')).body?.cancel()
    await holdfast.settled('a')
    await followers.until(({ present }) => present === 0)
    const leftBefore = followers.followers.left
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    const closed = once(socket, 'close')
    socket.on('error', () => undefined)
    socket.write('GET /api/threads/a/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
    // Not read at all until the server has given up on it.
    await followers.until(({ left }) => left > leftBefore)
    expect(holdfast.metrics().followers).toBe(0)
    socket.resume()
    await closed
  })
})

it('[RS2] serves 500 followers of one thread with one read per commit', async () => {
  const store = memory()
  let reads = 0
  const counting: Store = {
    ...store,
    readChanges(query) {
      reads++
      return store.readChanges(query)
    },
  }
  const model = scriptedModel(() => [{ text: 'x'.repeat(200), pieces: 40 }])
  const options = { model, recoverEveryMs: 0, textDelayMs: 1 }
  const writer = createHoldfast({ ...options, store, holder: 'writer' })
  const reader = createHoldfast({ ...options, store: counting, holder: 'reader' })
  const [write, read] = await Promise.all([serve(writer), serve(reader)])
  await (await send(write, 'a', 'first')).text()
  const { seq } = (await store.readThread('a')) ?? { seq: 0 }
  const followers = await Promise.all(
    Array.from({ length: 500 }, async () => {
      const response = await fetch(`${read}/api/threads/a/events?after=${seq - 1}`)
      return readFrames(response)
    }),
  )
  // Each stands where the thread does: nobody has a read left that belongs to what was before.
  await Promise.all(followers.map((follower) => follower.until(`"seq":${seq}`)))
  const before = reads
  const commits = writer.metrics().commits
  const body = { id: 'a', messages: [{ id: 'second', role: 'user', parts: text('second') }] }
  const sent = await fetch(`${write}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await sent.text()
  await Promise.all(followers.map((follower) => follower.until('"turn-ended"', '"turn":')))
  expect(reads - before).toBeLessThanOrEqual(writer.metrics().commits - commits)
  expect(reads - before).toBeGreaterThan(0)
})

const text = (said: string) => [{ type: 'text', text: said }]

async function serve(holdfast: Holdfast): Promise<string> {
  const server = await listen(createHandler(holdfast), { port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    await server.close()
    await holdfast.close()
  })
  return server.url
}

/** A stream of events that is read on until a whole one has one of some words. */
function readFrames(response: Response) {
  const bytes = response.body?.values()
  const decoder = new TextDecoder()
  let seen = ''
  return {
    async until(...words: readonly string[]): Promise<void> {
      for (;;) {
        const whole = seen.slice(0, seen.lastIndexOf('\n\n') + 1)
        seen = seen.slice(whole.length)
        if (words.some((word) => whole.includes(word))) return
        const piece = await bytes?.next()
        if (piece?.value === undefined) throw new Error('The stream has ended.')
        seen += decoder.decode(piece.value, { stream: true })
      }
    },
  }
}
