import {
  createHoldfast,
  memory,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
} from 'holdfast'
import { createHandler, createRecordingProxy } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { commitAppend } from '../../src/store/commit-group.ts'
import { expect, it, onTestFinished } from 'vitest'

const threadId = parseThreadId('a-thread-of-ana-and-then-of-ben')

/** The read by which the owner is checked. */
type Check = 'its record' | 'its record, before its messages' | 'its messages'

/** Ana's thread; as soon as her right to it was checked, it is deleted, and Ben creates his own under the same id. */
async function openServer(checkedBy: Check) {
  const inner = memory()
  const create = async (name: string) => {
    await inner.createThread({ id: threadId, ownerId: parseOwnerId(name), title: '', at: 1 })
    const messageId = parseMessageId(`said-by-${name}`)
    const parts = [{ type: 'text', text: `A secret of ${name}` }] as const
    await commitAppend(inner, {
      threadId,
      expectedSeq: 0,
      events: [{ type: 'message-added', messageId, role: 'user', parts, at: 1 }],
    })
  }
  await create('ana')
  let hasChanged = false
  const change = async () => {
    if (hasChanged) return
    hasChanged = true
    await inner.deleteThread(threadId)
    await create('ben')
  }
  const store: Store =
    checkedBy === 'its record'
      ? {
          ...inner,
          async readThread(id) {
            const found = await inner.readThread(id)
            await change()
            return found
          },
        }
      : {
          ...inner,
          async readPage(query) {
            if (checkedBy !== 'its messages') await change()
            const page = await inner.readPage(query)
            await change()
            return page
          },
        }
  const model = scriptedModel(() => [{ text: 'Yes.' }])
  const holdfast = createHoldfast({ store, model, recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const authenticate = () => ({ id: 'ana' })
  const handle = createHandler(holdfast, { authenticate })
  const proxy = createRecordingProxy(holdfast, {
    target: new URL('http://127.0.0.1/backend'),
    authenticate,
    fetch: () => Promise.reject(new Error('The backend is not asked.')),
  })
  return {
    inner,
    post: (path: string, body: object) =>
      (path === '/proxy' ? proxy : handle)(
        new Request(`http://127.0.0.1${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      ),
  }
}

const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }

it.each([
  ['sends', 'its messages', '/api/chat', { id: threadId, messages: [message] }],
  [
    'regenerates',
    'its messages',
    '/api/chat',
    { id: threadId, messages: [], trigger: 'regenerate-message' },
  ],
  ['sends through a proxy', 'its record', '/proxy', { id: threadId, messages: [message] }],
  ['forks', 'its record, before its messages', `/api/threads/${threadId}/fork`, {}],
] as const)(
  '[HT2 OP6] who %s reaches nothing of a thread that another owner creates under the id meanwhile',
  async (_, checkedBy, path, body) => {
    const { inner, post } = await openServer(checkedBy)
    const response = await post(path, body)
    const text = await response.text()
    expect([response.status, text]).toEqual([404, expect.stringContaining('thread-not-found')])
    const query = { threadId, limit: 9, before: null, live: 'include', results: 'full' } as const
    const page = await inner.readPage(query)
    expect(page?.messages.map(({ id }) => id)).toEqual(['said-by-ben'])
    const { threads } = await inner.listThreads({
      ownerId: parseOwnerId('ana'),
      limit: 9,
      before: null,
    })
    expect(threads).toEqual([])
  },
)
