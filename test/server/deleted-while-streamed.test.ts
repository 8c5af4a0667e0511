import { createHoldfast, memory, parseThreadId, type Store } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

const thread = 'a-thread-that-is-made-anew'

/** A server whose answers begin and never end. */
function openServer(wrap: (store: Store) => Store = (store) => store) {
  const store = wrap(memory())
  const model = scriptedModel(() => [{ text: 'I hear ' }, { waitMs: 3_600_000 }])
  const holdfast = createHoldfast({ store, model, recoverEveryMs: 0, textDelayMs: 0 })
  const handle = createHandler(holdfast, { localOnly: true })
  onTestFinished(() => holdfast.close({ graceMs: 0 }))
  const request = (path: string, init?: RequestInit) =>
    handle(new Request(`http://127.0.0.1${path}`, init))
  const sendMessage = (text: string) =>
    request('/api/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        id: thread,
        messages: [{ id: `m-${text}`, role: 'user', parts: [{ type: 'text', text }] }],
        trigger: 'submit-message',
      }),
    })
  return {
    request,
    sendMessage,
    /** Deleted, and created again with more in it than before. */
    async makeAnew() {
      await request(`/api/threads/${thread}`, { method: 'DELETE' })
      for (const text of ['anew', 'two', 'three', 'four'])
        await (await sendMessage(text)).body?.cancel()
    },
    /** The id of the turn that runs. */
    async turn(): Promise<string> {
      const query = { threadId: parseThreadId(thread), limit: 1, before: null } as const
      const page = await store.readPage({ ...query, live: 'include', results: 'none' })
      return page?.messages[0]?.id as string
    },
  }
}

type Server = ReturnType<typeof openServer>

const streams: Readonly<Record<string, (server: Server) => Promise<Response>>> = {
  'of a message that was sent': (server) => server.sendMessage('one'),
  async 'of a message that was sent twice'(server) {
    await (await server.sendMessage('one')).body?.cancel()
    return server.sendMessage('one')
  },
  async 'of the answer that runs'(server) {
    await (await server.sendMessage('one')).body?.cancel()
    return server.request(`/api/chat/${thread}/stream`)
  },
  async 'of an answer by its id'(server) {
    await (await server.sendMessage('one')).body?.cancel()
    return server.request(`/api/chat/${thread}/stream?message=${await server.turn()}`)
  },
  async 'of a queued message'(server) {
    await (await server.sendMessage('one')).body?.cancel()
    return server.sendMessage('later')
  },
  async 'of a queued message that was sent twice'(server) {
    await (await server.sendMessage('one')).body?.cancel()
    await (await server.sendMessage('later')).body?.cancel()
    return server.sendMessage('later')
  },
  async 'of events'(server) {
    await (await server.sendMessage('one')).body?.cancel()
    return server.request(`/api/threads/${thread}/events?after=1`)
  },
}

describe('[OP6 RS7] a stream that is read first when another thread has its id ends, and shows nothing of it', () => {
  it.each(Object.entries(streams))('%s', async (name, open) => {
    const server = openServer()
    const response = await open(server)
    expect(response.status).toBe(200)
    await server.makeAnew()
    const ending = response.text().then(
      (text) => text,
      () => 'broken',
    )
    // A stream of a turn breaks: a client would take one that ends for a complete one.
    expect(await ending).toBe(name === 'of events' ? ': open\n\n' : 'broken')
  })
})

it('[OP6] a place of a deleted thread is not followed in one that is created while it is looked up', async () => {
  let onMissing = async () => {}
  const server = openServer((store) => ({
    ...store,
    async readPlace(id, seq) {
      const found = (await store.readPlace?.(id, seq)) ?? null
      if (found === null) await onMissing()
      return found
    },
  }))
  await (await server.sendMessage('one')).body?.cancel()
  const page = await server.request(`/api/threads/${thread}/messages`)
  const { place } = (await page.json()) as { place: string }
  await server.request(`/api/threads/${thread}`, { method: 'DELETE' })
  onMissing = async () => {
    onMissing = async () => {}
    await server.makeAnew()
  }
  const follow = () => server.request(`/api/threads/${thread}/events?after=${place}`)
  expect([(await follow()).status, (await follow()).status]).toEqual([404, 409])
})
