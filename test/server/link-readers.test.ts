import { createHoldfast, memory } from 'holdfast'
import { createHandler, type Handler, type Limits } from 'holdfast/server'
import { expect, it, onTestFinished } from 'vitest'

function start(limits: Partial<Limits>) {
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const handler = createHandler(holdfast, {
    authenticate: (request) => {
      const id = request.headers.get('x-owner')
      return id === null ? null : { id }
    },
    sharing: true,
    limits,
  })
  /** The id of a link to a thread with a text of 100,000 characters, and with a file if one is named. */
  const share = async (ownerId: string, threadId: string, url?: string) => {
    const text = { type: 'text', text: 'x'.repeat(100_000) } as const
    const file = url === undefined ? [] : [{ type: 'file', mediaType: 'text/plain', url } as const]
    await holdfast.post(threadId, { role: 'user', parts: [text, ...file] }, { create: { ownerId } })
    const result = await holdfast.shares.create(threadId)
    return result.kind === 'shared' ? result.share.id : ''
  }
  return { holdfast, handler, share }
}

const sendRequest = (handler: Handler, path: string, owner?: string) => {
  const headers: HeadersInit = owner === undefined ? {} : { 'x-owner': owner }
  return handler(new Request(`http://localhost${path}`, { headers }))
}

/** Takes the first of a response and no more: it counts until more is asked for. */
async function leaveUnread(response: Response) {
  expect(response.status).toBe(200)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  expect((await reader.read()).value?.length).toBeGreaterThan(65_536)
  return reader
}

it('[OP7a FK5] the readers of all links of one person have one limit, and nobody else is affected', async () => {
  const { handler, share } = start({ unreadBytesPerOwner: 80_000 })
  const [first, second] = [await share('eve', 'eve-1'), await share('eve', 'eve-2')]
  const other = await share('ana', 'ana-1')
  const reader = await leaveUnread(await sendRequest(handler, `/api/shares/${first}/messages`))
  for (const id of [first, second]) {
    for (const path of ['messages', 'tool-calls/none']) {
      const refused = await sendRequest(handler, `/api/shares/${id}/${path}`)
      expect([path, refused.status]).toEqual([path, 429])
    }
  }
  // What a link shows is not its owner's to read.
  expect((await sendRequest(handler, '/api/threads/eve-1/messages', 'eve')).status).toBe(200)
  expect((await sendRequest(handler, `/api/shares/${other}/messages`)).status).toBe(200)
  await reader.cancel()
  expect((await sendRequest(handler, `/api/shares/${second}/messages`)).status).toBe(200)
})

it('[OP7a FK5] so do those who fetch files', async () => {
  const { holdfast, handler, share } = start({ transfersPerOwner: 1 })
  const add = (ownerId: string) =>
    holdfast.files.add({ ownerId, mediaType: 'text/plain', content: Buffer.from('words') })
  const [own, others] = [await add('eve'), await add('ana')]
  const first = await share('eve', 'eve-1', `/api/files/${own.id}`)
  const second = await share('eve', 'eve-2', `/api/files/${own.id}`)
  const other = await share('ana', 'ana-1', `/api/files/${others.id}`)
  const open = await sendRequest(handler, `/api/shares/${first}/files/${own.id}`)
  expect(open.status).toBe(200)
  expect((await sendRequest(handler, `/api/shares/${second}/files/${own.id}`)).status).toBe(429)
  expect((await sendRequest(handler, `/api/shares/${other}/files/${others.id}`)).status).toBe(200)
  expect(await open.text()).toBe('words')
  expect((await sendRequest(handler, `/api/shares/${second}/files/${own.id}`)).status).toBe(200)
})

it('[OP7a] those who fill the process are refused, and whoever reads what they get is not', async () => {
  const { handler, share } = start({ unreadBytes: 80_000 })
  const [eves, bens] = [await share('eve', 'eve-1'), await share('ben', 'ben-1')]
  const filling = await leaveUnread(await sendRequest(handler, `/api/shares/${eves}/messages`))
  const refused = await sendRequest(handler, `/api/shares/${eves}/messages`)
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({
    error: { message: 'This server has too many unread response bytes.' },
  })
  for (let time = 0; time < 3; time++) {
    for (const [path, owner] of [
      [`/api/shares/${bens}/messages`, undefined],
      ['/api/threads/ben-1/messages', 'ben'],
      ['/api/chat/none/stream', 'ben'],
    ] as const) {
      const response = await sendRequest(handler, path, owner)
      expect([path, response.ok]).toEqual([path, true])
      await response.text()
    }
  }
  // One response, and no other before it is read.
  const reader = await leaveUnread(await sendRequest(handler, '/api/threads/ben-1/messages', 'ben'))
  expect((await sendRequest(handler, '/api/threads/ben-1/messages', 'ben')).status).toBe(429)
  await reader.cancel()
  expect((await sendRequest(handler, '/api/threads/ben-1/messages', 'ben')).status).toBe(200)
  await filling.cancel()
})
