import { memory } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openTestDatabase } from '../postgres/test-database.ts'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { type ChatServer, startChatServer } from './chat-server.ts'

const stores = {
  memory: async () => Promise.resolve(memory()),
  sqlite: async () => Promise.resolve(sqlite(temporaryFile())),
  postgres: async () => (await openTestDatabase()).open(),
}

async function sendMessage(
  { url }: ChatServer,
  thread: string,
  id: string,
  text = 'Hi',
  edit: { readonly messageId?: string } = {},
) {
  const response = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...edit,
      id: thread,
      messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
    }),
  })
  return { status: response.status, body: await response.text() }
}

interface Page {
  readonly results: readonly { readonly id: string; readonly role: string }[]
}
const pageOf = async ({ url }: ChatServer, thread: string) =>
  (await (await fetch(`${url}/api/threads/${thread}/messages`)).json()) as Page

describe.each(Object.entries(stores))('on %s', (_, open) => {
  it('[HT3] a message with the id of a turn of its thread is a conflict, and changes nothing', async () => {
    const store = await open()
    onTestFinished(() => store.close())
    const server = await startChatServer(() => [{ text: 'Hello.' }], { store })
    await sendMessage(server, 'one', 'u1')
    const before = await pageOf(server, 'one')
    const turnId = before.results.find(({ role }) => role === 'assistant')?.id ?? ''
    const refused = await sendMessage(server, 'one', turnId)
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([
      409,
      { error: { code: 'conflict' } },
    ])
    expect(await pageOf(server, 'one')).toEqual(before)
    // The same id is another's in another thread, and the thread goes on.
    expect((await sendMessage(server, 'two', turnId)).status).toBe(200)
    expect((await sendMessage(server, 'one', 'u2')).status).toBe(200)
  })

  it('[HT3 VR1] an edit under the id of an answer, shown or hidden, is a conflict, and changes nothing', async () => {
    const store = await open()
    onTestFinished(() => store.close())
    const server = await startChatServer(() => [{ text: 'Hello.' }], { store })
    await sendMessage(server, 'one', 'u1')
    const answerId = async () =>
      (await pageOf(server, 'one')).results.find(({ role }) => role === 'assistant')?.id ?? ''
    const first = await answerId()
    const edit = { messageId: 'u1' }
    expect((await sendMessage(server, 'one', first, 'Edited', edit)).status).toBe(409)
    expect((await sendMessage(server, 'one', 'u1b', 'Edited', edit)).status).toBe(200)
    const before = await pageOf(server, 'one')
    expect((await sendMessage(server, 'one', first, 'Again', { messageId: 'u1b' })).status).toBe(
      409,
    )
    expect(await pageOf(server, 'one')).toEqual(before)
  })
})
