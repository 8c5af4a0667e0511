import { setImmediate } from 'node:timers/promises'
import { createHoldfast, memory } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished } from 'vitest'
import { createSignal } from '../support/signal.ts'

const thread = 'a-thread-with-a-long-queue'

/** Ana has a thread with a turn that waits for a person, and a queue of 400,000 characters behind it. */
async function start() {
  const model = scriptedModel(() => [{ call: 'remove', input: {} }])
  const holdfast = createHoldfast({ store: memory(), model, recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const handler = createHandler(holdfast, {
    authenticate: (request) => ({ id: request.headers.get('x-owner') ?? '' }),
    limits: { unreadBytesPerOwner: 65_536 },
  })
  const send = (id: string, text: string) => {
    const message = { id, parts: [{ type: 'text', text }] as const }
    return holdfast.send({ threadId: thread, message, create: { ownerId: 'ana' } })
  }
  expect((await send('first', 'Remove it.')).kind).toBe('started')
  for (const id of ['second', 'third']) {
    expect((await send(id, 'x'.repeat(200_000))).kind).toBe('queued')
  }
  const sendRequest = (method: string, path: string, body?: object, owner = 'ana') =>
    handler(
      new Request(`http://localhost${path}`, {
        method,
        headers: { 'content-type': 'application/json', 'x-owner': owner },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  return { holdfast, sendRequest }
}

const titled = (nth: number) => `needle ${nth} ${'x'.repeat(480)}`

const requests: readonly (readonly [method: string, path: string, body: object | undefined])[] = [
  ['GET', `/api/threads/${thread}`, undefined],
  ['PATCH', `/api/threads/${thread}`, { pinned: true }],
  ['POST', '/api/threads', { id: thread }],
  ['GET', `/api/threads/${thread}/queue`, undefined],
  ['PATCH', `/api/threads/${thread}/queue/third`, { before: 'second' }],
  ['POST', `/api/threads/${thread}/queue/release`, {}],
  [
    'POST',
    `/api/threads/${thread}/decisions`,
    {
      decisions: Array.from({ length: 1_000 }, (_, nth) => ({
        callId: `call-that-is-not-there-${nth}`,
        decision: 'accept',
      })),
    },
  ],
  ['GET', '/api/search?q=needle&limit=200', undefined],
  [
    'POST',
    '/api/import?thread=imported-by-ana-herself',
    { messages: Array.from({ length: 1_000 }, () => ({ role: 'nobody', content: 1 })) },
  ],
]

it.each(requests)(
  '[OP7a] a large response counts for its owner until it is read, and over the limit there is none: %s %s',
  async (method, path, body) => {
    const { holdfast, sendRequest } = await start()
    for (let nth = 0; nth < 200; nth++) {
      await holdfast.threads.create({ ownerId: 'ana', title: titled(nth) })
    }
    const response = await sendRequest(method, path, body)
    expect(response.status).toBe(200)
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(65_536)
    // It counts until more is asked for, as a socket does when it has taken what it was given.
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    for (const [otherMethod, otherPath, otherBody] of requests) {
      const refused = await sendRequest(otherMethod, otherPath, otherBody)
      expect([otherPath, refused.status]).toEqual([otherPath, 429])
    }
    expect((await sendRequest('GET', '/api/threads', undefined, 'ben')).status).toBe(200)
    await reader.cancel()
    const again = await sendRequest(method, path, body)
    expect(again.status).toBe(200)
    await again.body?.cancel()
  },
)

it.each([`/api/threads/${thread}/queue`, `/api/threads/${thread}`])(
  '[OP7a] of many reads at once an owner gets as many as fit, and the next when one is read: %s',
  async (path) => {
    const { sendRequest } = await start()
    const counted = createSignal()
    const unread: ReadableStreamDefaultReader<Uint8Array>[] = []
    const asked = Array.from({ length: 5 }, async () => {
      const reader = (await sendRequest('GET', path)).body?.getReader()
      await reader?.read()
      if (reader !== undefined) unread.push(reader)
      counted.notify()
    })
    // All were admitted before the first was counted.
    for (let nth = 1; nth <= asked.length; nth++) {
      await counted.until(() => unread.length >= nth)
      await setImmediate()
      expect(unread).toHaveLength(nth)
      await unread[nth - 1]?.cancel()
    }
  },
)
