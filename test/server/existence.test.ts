import { describe, expect, it } from 'vitest'
import { startChatServer } from './chat-server.ts'

/** Ana has a thread with a turn that waits; Bob asks about it, and about one that was never there. */
const authenticate = (request: Request) => ({ id: request.headers.get('x-owner') ?? 'bob' })

async function startWithThread(threadId: string) {
  const server = await startChatServer(
    (text) => (text === 'wait' ? [{ call: 'remove', input: { path: '/' } }] : [{ text: 'Hello.' }]),
    { handler: { authenticate } },
  )
  const sendRequest = async (owner: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { 'x-owner': owner, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const headers = Object.fromEntries(response.headers)
    delete headers['date']
    return { status: response.status, headers, text: await response.text() }
  }
  await server.holdfast.store.createThread({
    id: threadId,
    ownerId: 'ana',
    title: 'Secret plans',
    at: 1,
  })
  const sent = await sendRequest('ana', 'POST', '/api/chat', chat(threadId, 'wait'))
  expect(sent.status).toBe(200)
  const page = JSON.parse(
    (await sendRequest('ana', 'GET', `/api/threads/${threadId}/messages`)).text,
  ) as Page
  const messageId = page.results[0]?.id ?? ''
  const callId = page.results[0]?.parts.find(({ toolCallId }) => toolCallId)?.toolCallId ?? ''
  return { ...server, sendRequest, messageId, callId }
}
interface Page {
  readonly results: readonly {
    readonly id: string
    readonly parts: readonly { readonly toolCallId?: string }[]
  }[]
}
const chat = (id: string, text: string) => ({
  id,
  messages: [{ id: `question ${text}`, role: 'user', parts: [{ type: 'text', text }] }],
})
const answers = (id: string, messageId: string, toolCallId: string) => ({
  id,
  messages: [
    {
      id: messageId,
      role: 'assistant',
      parts: [
        {
          type: 'tool-remove',
          toolCallId,
          state: 'approval-responded',
          approval: { id: toolCallId, approved: true },
        },
      ],
    },
  ],
})

type Ask = readonly [method: string, path: string, body?: unknown]

/** Everything that can be asked about a thread, a turn and a call, well and badly. */
const questions = (thread: string, message: string, call: string): readonly Ask[] => [
  ['GET', `/api/threads/${thread}`],
  ['HEAD', `/api/threads/${thread}`],
  ['PATCH', `/api/threads/${thread}`, { title: 'mine' }],
  ['PATCH', `/api/threads/${thread}`, { title: 7 }],
  ['PATCH', `/api/threads/${thread}`, 'nonsense'],
  ['DELETE', `/api/threads/${thread}`],
  ['GET', `/api/threads/${thread}/messages`],
  ['GET', `/api/threads/${thread}/messages?format=entities&live=exclude`],
  ['GET', `/api/threads/${thread}/messages?vercel_format=true`],
  ['GET', `/api/threads/${thread}/messages?cursor=1-abc`],
  ['GET', `/api/threads/${thread}/messages?limit=0`],
  ['GET', `/api/threads/${thread}/events`],
  ['GET', `/api/threads/${thread}/events?after=1`],
  ['GET', `/api/threads/${thread}/events?after=99999`],
  ['GET', `/api/threads/${thread}/events?after=x`],
  ['GET', `/api/threads/${thread}/tool-calls/${call}`],
  ['POST', `/api/threads/${thread}/tool-calls/${call}/decision`, { decision: 'accept' }],
  ['POST', `/api/threads/${thread}/tool-calls/${call}/decision`, { decision: 'perhaps' }],
  ['POST', `/api/threads/${thread}/tool-calls/${call}/resolve`, { resolution: 'skip' }],
  ['POST', `/api/threads/${thread}/decisions`, { decisions: [] }],
  [
    'POST',
    `/api/threads/${thread}/decisions`,
    { decisions: [{ callId: call, decision: 'accept' }] },
  ],
  ['GET', `/api/messages/${message}/tool-calls`],
  ['GET', `/api/messages/${message}/tool-calls?include=all`],
  ['GET', `/api/chat/${thread}/stream`],
  ['HEAD', `/api/chat/${thread}/stream`],
  ['GET', `/api/chat/${thread}/stream?message=${message}`],
  ['GET', `/api/chat/${thread}/stream?protocol=data-stream`],
  ['POST', `/api/chat/${thread}/stop`],
  ['POST', `/api/chat/${thread}/continue`],
  ['POST', '/api/chat', { id: thread, trigger: 'regenerate-message', messages: [] }],
  ['POST', '/api/chat', { id: thread, trigger: 'regenerate-message', messageId: message }],
  ['POST', '/api/chat', answers(thread, message, call)],
  ['POST', '/api/chat', { ...chat(thread, 'edited'), messageId: 'another' }],
  ['GET', `/api/threads/${thread}/queue`],
  ['PATCH', `/api/threads/${thread}/queue/question`, { text: 'mine', before: null }],
  ['DELETE', `/api/threads/${thread}/queue/question`],
  ['POST', `/api/threads/${thread}/queue/release`],
  ['POST', `/api/threads/${thread}/fork`, {}],
  ['POST', `/api/threads/${thread}/fork`, { messageId: message }],
  ['POST', `/api/threads/${thread}/fork`, { messageId: 7 }],
  ['GET', `/api/threads/${thread}/shares`],
  ['POST', `/api/threads/${thread}/shares`, {}],
  ['DELETE', `/api/threads/${thread}/shares/shr_none`],
  ['POST', `/api/threads/${thread}/messages/${message}/show`],
  ['POST', `/api/messages/${message}/feedback`, { rating: 'up' }],
  ['POST', `/api/messages/${message}/feedback`, { rating: 'up', threadId: thread }],
  ['POST', `/api/messages/${message}/feedback`, { rating: 'perhaps' }],
]

describe('what another owner has', () => {
  it.each([
    ['of a long id', 'a-thread-that-nobody-guesses', 'a-thread-that-was-never-there'],
    ['of a short id', 'main', 'none'],
  ])('[HT2] is answered as what was never there: a thread %s', async (_, theirs, nobodys) => {
    const { sendRequest, messageId, callId } = await startWithThread(theirs)
    const there = questions(theirs, messageId, callId)
    const nowhere = questions(nobodys, 'msg_none', 'call_none')
    const answersOf = async (list: readonly Ask[]) => {
      const responses = []
      for (const [index, question] of list.entries()) {
        const [method, path] = there[index] ?? []
        responses.push({ method, path, ...(await sendRequest('bob', ...question)) })
      }
      return responses
    }
    expect(await answersOf(there)).toEqual(await answersOf(nowhere))
  })

  it('[HT2] a stream to resume is 204 for no thread and for another’s', async () => {
    const { sendRequest, messageId } = await startWithThread('a-thread-that-nobody-guesses')
    for (const id of ['a-thread-that-nobody-guesses', 'nowhere']) {
      const path = `/api/chat/${id}/stream`
      expect(await sendRequest('bob', 'GET', path)).toMatchObject({ status: 204, text: '' })
      // A message that is named is not there, in neither.
      const named = await sendRequest('bob', 'GET', `${path}?message=${messageId}`)
      expect(named).toMatchObject({ status: 404 })
      expect(named.text).toContain('thread-not-found')
    }
  })

  it('[HT2 LE5] an import into an id that is taken does not say that somebody has it', async () => {
    const { sendRequest, messageId } = await startWithThread('main')
    const thread = (id: string) => ({
      id,
      messages: [
        { id: 'u', role: 'user', content: 'Hello?' },
        { id: messageId, role: 'assistant', content: 'Hello.' },
      ],
    })
    const imported = await sendRequest('bob', 'POST', '/api/import', thread('main'))
    expect(imported.status).toBe(200)
    expect(imported.text).not.toMatch(/in use|taken|exists|owner|already|Secret|ana/i)
    const { mended } = JSON.parse(imported.text) as { mended: readonly { what: string }[] }
    expect(mended.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^The thread id "main" was not kept: it became thr_[0-9a-f]{16}\.$/),
      expect.stringMatching(
        /^The message id "msg_\w+" was not kept: it became msg_[0-9a-f]{16}\.$/,
      ),
    ])
    expect((await sendRequest('ana', 'GET', '/api/threads/main')).text).toContain('Secret plans')
  })
})

describe('an id that a client makes up', () => {
  const badId = expect.objectContaining({ status: 400 }) as unknown
  const create = (id: string): Ask => ['POST', '/api/threads', { id }]
  const begin = (id: string): Ask => ['POST', '/api/chat', chat(id, 'hello')]

  it.each(['main', 'a', '123456789012345', 'ÄÖÜäöüß', '👍'.repeat(8)])(
    '[HT2] has at least 16 characters where people are told apart: %s is refused',
    async (id) => {
      const { sendRequest } = await startWithThread('main')
      for (const [method, path, body] of [create(id), begin(id)]) {
        const refused = await sendRequest('bob', method, path, body)
        expect(refused).toEqual(badId)
        expect(JSON.parse(refused.text)).toEqual({
          error: {
            code: 'bad-id',
            message:
              'An id that you make up for a thread has at least 16 characters, so that nobody can take a name that another would use. Use `crypto.randomUUID()`, or call `POST /api/threads` without an id, which makes one.',
          },
        })
      }
      expect((await sendRequest('bob', 'GET', '/api/threads')).text).not.toContain(`"${id}"`)
    },
  )

  it('[HT2 HT3] can be left out of a new thread, and not of a message: the error names the field', async () => {
    const { sendRequest } = await startWithThread('main')
    expect(await sendRequest('bob', 'POST', '/api/threads', {})).toMatchObject({ status: 201 })
    const refused = await sendRequest('bob', 'POST', '/api/chat', {
      messages: [{ id: 'm', role: 'user', content: 'hello' }],
    })
    expect(refused).toEqual(badId)
    expect(JSON.parse(refused.text)).toEqual({
      error: {
        code: 'bad-id',
        message:
          'The body needs "id", the thread’s id. Use `crypto.randomUUID()` for a new thread.',
      },
    })
  })

  it('[HT2] is free from 16 characters on, and so is a short one that exists and is one’s own', async () => {
    const { sendRequest } = await startWithThread('main')
    const long = '1234567890123456'
    expect(await sendRequest('bob', ...create(long))).toMatchObject({ status: 201 })
    expect(await sendRequest('bob', ...create(long))).toMatchObject({ status: 200 })
    expect(await sendRequest('bob', ...begin(`${long}7`))).toMatchObject({ status: 200 })
    expect(await sendRequest('ana', ...create('main'))).toMatchObject({ status: 200 })
    expect(await sendRequest('ana', ...begin('main'))).toMatchObject({ status: 200 })
    expect(await sendRequest('bob', 'POST', '/api/threads', {})).toMatchObject({ status: 201 })
    const body = { id: 'old', messages: [{ id: 'u', role: 'user', content: 'Hello?' }] }
    expect(await sendRequest('bob', 'POST', '/api/import', body)).toMatchObject({ status: 200 })
    expect(await sendRequest('bob', ...begin('old'))).toMatchObject({ status: 200 })
  })

  it('[HT2] may be short where there is one owner', async () => {
    const { url } = await startChatServer(() => [{ text: 'Hello.' }])
    const response = await fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(chat('main', 'hello')),
    })
    expect(response.status).toBe(200)
    await response.text()
  })
})
