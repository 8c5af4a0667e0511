import { memory, parseThreadId } from 'holdfast'
import { describe, expect, it } from 'vitest'
import type { PlannedCommit } from '../../src/store/plan-commit.ts'
import { startChatServer } from './chat-server.ts'
import { beforeCommit, countVerbs } from './count-verbs.ts'

/** Ana has a thread with two answers; requests are hers unless they say otherwise. */
const ana = 'ana'
const thread = 'a-thread-that-nobody-guesses'
const nowhere = 'a-thread-that-was-never-there'

async function start(
  handler: { readonly sharing?: boolean } = { sharing: true },
  inner = memory(),
) {
  const { store, drain } = countVerbs(inner)
  const server = await startChatServer(
    (text) => (text === 'wait' ? [{ call: 'remove', input: { path: '/' } }] : [{ text: 'Hello.' }]),
    {
      store,
      handler: {
        ...handler,
        authenticate: (request) => ({ id: request.headers.get('x-owner') ?? ana }),
      },
    },
  )
  /** The status of the response, its error, and the verbs until it was read and nothing ran any more. */
  const sendRequest = async (method: string, path: string, body?: unknown, owner = ana) => {
    drain()
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-owner': owner },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    await server.holdfast.settled()
    const code = /"code":"([^"]+)"/.exec(text)?.[1]
    return { status: response.status, code, verbs: drain() }
  }
  await sendRequest('POST', '/api/chat', message('u1', 'Hi'))
  await sendRequest('POST', '/api/chat', message('u2', 'Hi again'))
  return { ...server, sendRequest, drain }
}

const message = (id: string, text: string, threadId = thread) => ({
  id: threadId,
  messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
})
const regenerate = (id: string) => ({ id, trigger: 'regenerate-message', messages: [] })

describe('the owner of a thread', () => {
  it.each([
    [
      'a message',
      ['POST', '/api/chat', message('u3', 'More')],
      200,
      ['readPage', 'readMessage', 'findInput'],
    ],
    ['a first message', ['POST', '/api/chat', message('u1', 'Hi', nowhere)], 200, ['readPage']],
    [
      'an edit',
      ['POST', '/api/chat', { ...message('u2', 'Other'), messageId: 'u2' }],
      200,
      ['readPage'],
    ],
    // Whether the new id is that of a turn, which may be hidden.
    [
      'an edit under another id',
      ['POST', '/api/chat', { ...message('u3', 'Other'), messageId: 'u2' }],
      200,
      ['readPage', 'readMessage'],
    ],
    ['a regenerate', ['POST', '/api/chat', regenerate(thread)], 200, ['readPage']],
    ['a stop', ['POST', `/api/chat/${thread}/stop`], 200, ['readPage', 'requestStop']],
    ['a new title', ['PATCH', `/api/threads/${thread}`, { title: 'Plans' }], 200, ['readThread']],
    ['a fork', ['POST', `/api/threads/${thread}/fork`, {}], 201, ['readThread', 'readPage']],
    ['a link', ['POST', `/api/threads/${thread}/shares`], 201, ['readThread', 'readPage']],
    ['a new thread', ['POST', '/api/threads', { id: nowhere }], 201, ['createThread']],
  ] as const)(
    '[HT2] is compared in a read that is needed anyway: %s',
    async (_, [method, path, body], status, reads) => {
      const { sendRequest } = await start()
      const asked = await sendRequest(method, path, body)
      expect([asked.status, beforeCommit(asked.verbs)]).toEqual([status, reads])
    },
  )

  it('[HT2 ST5] is compared in the read of the answer that is continued', async () => {
    const { sendRequest } = await start()
    await sendRequest('POST', '/api/chat', message('u3', 'wait'))
    await sendRequest('POST', `/api/chat/${thread}/stop`)
    const asked = await sendRequest('POST', `/api/chat/${thread}/continue`)
    expect([asked.status, beforeCommit(asked.verbs)]).toEqual([200, ['readPage']])
  })

  it('[HT2 OP6] is compared in the read of the place that is followed', async () => {
    const { sendRequest, url, drain } = await start()
    const page = await fetch(`${url}/api/threads/${thread}/messages`)
    const { place } = (await page.json()) as { readonly place: string }
    const path = `/api/threads/${thread}/events?after=${place}`
    expect(await sendRequest('GET', path, undefined, 'bob')).toEqual({
      status: 404,
      code: 'thread-not-found',
      verbs: ['readPlace'],
    })
    const leave = new AbortController()
    const followed = await fetch(`${url}${path}`, { signal: leave.signal })
    expect([followed.status, drain()]).toEqual([200, expect.not.arrayContaining(['readThread'])])
    leave.abort()
  })

  it('[HT2 OP6] is that of the thread that is changed, and not of one that has its id by then', async () => {
    const inner = memory()
    let isAnew = false
    const isRename = ({ numbered }: PlannedCommit) => numbered[0]?.type === 'thread-renamed'
    const { sendRequest, holdfast } = await start(undefined, {
      ...inner,
      async commit(commits) {
        if (!isAnew && commits.some(isRename)) {
          isAnew = true
          await inner.deleteThread(parseThreadId(thread))
          await holdfast.threads.create({ id: thread, ownerId: 'bob', title: 'His' })
        }
        return inner.commit(commits)
      },
    })
    const asked = await sendRequest('PATCH', `/api/threads/${thread}`, { title: 'Hers' })
    expect([asked.status, asked.code]).toEqual([404, 'thread-not-found'])
    expect(await holdfast.threads.get(thread)).toMatchObject({ ownerId: 'bob', title: 'His' })
  })

  const refused: readonly (readonly [
    method: string,
    path: (id: string) => string,
    body?: (id: string) => unknown,
  ])[] = [
    ['PATCH', (id) => `/api/threads/${id}`, () => ({ title: 7 })],
    ['PATCH', (id) => `/api/threads/${id}`, () => ({})],
    ['PATCH', (id) => `/api/threads/${id}`, () => ({ metadata: {} })],
    ['POST', (id) => `/api/threads/${id}/fork`, () => ({ title: 7 })],
    ['POST', (id) => `/api/threads/${id}/fork`, () => ({ id: 'short' })],
    ['POST', (id) => `/api/threads/${id}/shares`],
    ['POST', () => '/api/chat', (id) => ({ ...regenerate(id), choices: 7 })],
    [
      'POST',
      () => '/api/chat',
      (id) => ({ ...message('u3', 'Other', id), messageId: 'u2', choices: 7 }),
    ],
  ]
  it('[HT2] is the first refusal, whatever else is wrong with a request', async () => {
    const { sendRequest } = await start({ sharing: false })
    for (const [method, path, body] of refused) {
      const codeOf = async (id: string, owner: string) =>
        (await sendRequest(method, path(id), body?.(id), owner)).code
      const codes = [await codeOf(nowhere, ana), await codeOf(thread, 'bob')]
      expect([method, path(''), codes]).toEqual([
        method,
        path(''),
        ['thread-not-found', 'thread-not-found'],
      ])
      expect(await codeOf(thread, ana)).not.toBe('thread-not-found')
    }
  })

  it('[HT2] of a long thread is compared before the rest of it is read', async () => {
    const { sendRequest, holdfast } = await start()
    const parts = [{ type: 'text', text: 'x' }] as const
    for (let nth = 0; nth < 20; nth++) await holdfast.post(thread, { role: 'user', parts })
    const asked = { ...regenerate(thread), messageId: 'u1' }
    const another = await sendRequest('POST', '/api/chat', asked, 'bob')
    expect(another).toEqual({
      status: 404,
      code: 'thread-not-found',
      verbs: ['readPage'],
    })
    expect((await sendRequest('POST', '/api/chat', asked)).status).toBe(200)
  })
})
