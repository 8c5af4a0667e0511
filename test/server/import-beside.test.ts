import { planCommit } from 'holdfast/store'
import { expect, it } from 'vitest'
import { type ChatServer, startChatServer } from './chat-server.ts'

interface Report {
  readonly messages: number
  readonly failed: readonly { readonly where: string; readonly why: string }[]
  readonly mended: readonly { readonly where: string; readonly what: string }[]
}

async function postJson<Answer>(
  { url }: ChatServer,
  path: string,
  body: unknown = {},
): Promise<{ readonly status: number; readonly answer: Answer }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, answer: (isJson ? JSON.parse(text) : text) as Answer }
}

const userMessage = (id: string, text: string) => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
})
const importMessages = (server: ChatServer, messages: readonly object[], query = '') =>
  postJson<Report>(server, `/api/import${query}`, [{ id: 't', messages }])
const idsIn = async ({ holdfast }: ChatServer) =>
  (await holdfast.messages('t'))?.results.map(({ id }) => id).toReversed()

it('[AP8 OP5a] an import does not touch a thread whose turn waits for somebody', async () => {
  const server = await startChatServer((_, step) =>
    step === 0 ? [{ call: 'remove', input: { path: '/a' } }] : [{ text: 'Removed.' }],
  )
  await postJson(server, '/api/chat', { id: 't', messages: [userMessage('u', 'Remove it.')] })
  const before = await idsIn(server)
  expect(before).toHaveLength(2)
  const report = (await importMessages(server, [userMessage('x', 'From elsewhere')])).answer
  expect(report.failed).toEqual([
    {
      where: expect.any(String) as string,
      why: 'A turn of this thread is running or waiting. Import it when the turn has ended.',
    },
  ])
  expect(await idsIn(server)).toEqual(before)
  // The same is said of one that is tried.
  expect(
    (await importMessages(server, [userMessage('x', 'From elsewhere')], '?dryRun=1')).answer.failed,
  ).toEqual(report.failed)
  await postJson(server, '/api/chat', { id: 't', messages: [userMessage('v', 'Leave it.')] })
  expect(await idsIn(server)).toHaveLength(4)
})

it('[IN5 IN6] an import under the id of a message that waits gives way to it', async () => {
  const server = await startChatServer(() => [{ text: 'Yes.' }])
  const { store } = server.holdfast
  await postJson(server, '/api/chat', { id: 't', messages: [userMessage('u', 'Hello')] })
  const thread = await store.readThread('t')
  const input = { id: 'waits', mode: 'queue', parts: [{ type: 'text', text: 'Later' }] } as const
  const planned = planCommit({
    threadId: 't',
    events: [
      { type: 'input-queued', input, at: 1 },
      { type: 'queue-held', at: 1 },
    ],
    expectedSeq: thread?.seq ?? 0,
    queue: [],
  })
  if ('kind' in planned) throw new Error(planned.kind)
  await store.commit([planned])

  const report = (await importMessages(server, [userMessage('waits', 'Imported')])).answer
  expect(report).toMatchObject({ messages: 1, failed: [] })
  expect(report.mended.map(({ what }) => what)).toEqual([
    expect.stringMatching(/^The message id "waits" was not kept: it became msg_/),
  ])
  await expect(
    server.holdfast.post('t', { id: 'waits', role: 'user', parts: [{ type: 'text', text: 'x' }] }),
  ).rejects.toMatchObject({ code: 'conflict' })
  expect((await postJson(server, '/api/threads/t/queue/release')).status).toBe(200)
  await server.holdfast.settled()
  const ids = await idsIn(server)
  expect(ids?.[3]).toBe('waits')
  expect(ids).toHaveLength(5)
  expect(await server.holdfast.queues.list('t')).toEqual([])
})
