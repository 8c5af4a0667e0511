import { expect, it } from 'vitest'
import { startChatServer } from './chat-server.ts'

/** The first turn goes on until the test is over. */
const open = () =>
  startChatServer((text) => (text === 'long' ? [{ waitMs: 600_000 }] : [{ text: 'Answer.' }]))

const message = (id: string, text: string) => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
})

type Server = Awaited<ReturnType<typeof open>>

const send = ({ url }: Server, threadId: string, id: string, text: string, more: object = {}) =>
  fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ id: threadId, trigger: 'submit-message', messages: [message(id, text)] },
      ...more,
    }),
  })

async function refusal(answer: Response) {
  const { error } = (await answer.json()) as { readonly error: { readonly code: string } }
  return [answer.status, error.code]
}

const queueOf = async ({ url }: Server, threadId: string) =>
  (await (await fetch(`${url}/api/threads/${threadId}/queue`)).json()) as {
    readonly results: readonly { readonly id: string }[]
  }

it('[IN6] a queue that is full, and ids that are others’, are refused over HTTP, and nothing of them is stored', async () => {
  const server = await open()
  await (await send(server, 't', 'early', 'quick')).text()
  const page = (await (await fetch(`${server.url}/api/threads/t/messages`)).json()) as {
    readonly results: readonly { readonly id: string }[]
  }
  const answerId = page.results[0]?.id ?? ''
  await send(server, 't', 'first', 'long')
  // One after the other: sent at once over connections of their own, they may arrive in any order.
  const waiting: Response[] = []
  for (let nth = 0; nth < 50; nth++) {
    waiting.push(await send(server, 't', `waits-${nth}`, 'again'))
  }
  expect(new Set(waiting.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await refusal(await send(server, 't', 'one-more', 'again'))).toEqual([429, 'queue-full'])
  const withdraw = (id: string) =>
    fetch(`${server.url}/api/threads/t/queue/${id}`, { method: 'DELETE' })
  expect((await withdraw('waits-0')).status).toBeLessThan(300)
  for (const whenBusy of ['queue', 'steer', 'interrupt']) {
    const reused = await send(server, 't', answerId, 'again', { whenBusy })
    expect(await refusal(reused)).toEqual([409, 'conflict'])
    const other = await send(server, 't', 'waits-1', 'other words', { whenBusy })
    expect(await refusal(other)).toEqual([409, 'conflict'])
  }
  expect(await refusal(await withdraw('first'))).toEqual([409, 'input-taken'])
  expect(await refusal(await withdraw('waits-0'))).toEqual([404, 'message-not-found'])
  const { results } = await queueOf(server, 't')
  expect(results.map(({ id }) => id)).toEqual(
    Array.from({ length: 49 }, (_, nth) => `waits-${nth + 1}`),
  )
  await fetch(`${server.url}/api/chat/t/stop`, { method: 'POST' })
})

it.each([
  ['../../etc/passwd', '___.._etc_passwd'],
  ['a\r\nSet-Cookie: x=1\u0000', 'aSet-Cookie_ x=1'],
  ['photo\u202Egnp.exe', 'photognp.exe'],
  ['..', undefined],
  [`${'x'.repeat(3_000)}.txt`, `${'x'.repeat(196)}.txt`],
])(
  '[FL1] a file that is named %j is kept under its id, and is called what a person can read',
  async (name, expected) => {
    const { url } = await open()
    const answer = await fetch(`${url}/api/files`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'x-filename': encodeURIComponent(name) },
      body: 'content',
    })
    const file = (await answer.json()) as { readonly filename?: string; readonly url: string }
    expect([answer.status, file.filename]).toEqual([201, expected])
    const served = await fetch(url + file.url)
    expect(served.headers.get('set-cookie')).toBeNull()
    expect(served.headers.get('content-disposition')).toMatch(/^attachment; filename="[^"/\\]*"/)
    expect(await served.text()).toBe('content')
  },
)
