import {
  checkStore,
  createHoldfast,
  exportThread,
  type Message,
  memory,
  parseThreadId,
  type Store,
  versionsOf,
} from 'holdfast'
import { createThreadClient } from 'holdfast/client'
import { createHandler, createRecordingProxy } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openTestDatabase } from '../postgres/test-database.ts'
import { temporaryFile } from '../sqlite/temporary-file.ts'

const stores: Readonly<Record<string, () => Promise<Store>>> = {
  memory: async () => memory(),
  sqlite: async () => sqlite(temporaryFile()),
  postgres: async () => (await openTestDatabase()).open(),
}
const threadId = 'thread-0123456789abcdef'

/** A backend whose next answer is a text, or a refusal. */
function start(store: Store) {
  let status = 200
  let count = 0
  const holdfast = createHoldfast({ store, recoverEveryMs: 0, textDelayMs: 0 })
  const authenticate = () => ({ id: 'me' })
  const proxy = createRecordingProxy(holdfast, {
    target: new URL('http://127.0.0.1:1/chat'),
    authenticate,
    fetch: async () =>
      status === 200
        ? new Response(`0:"answer ${++count}"\nd:{"finishReason":"stop"}\n`)
        : Response.json({ message: 'no' }, { status }),
  })
  onTestFinished(() => holdfast.close())
  const post = async (body: object): Promise<number> => {
    const response = await proxy(
      new Request('http://127.0.0.1/api/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: threadId, ...body }),
      }),
    )
    await response.text()
    await holdfast.settled()
    return response.status
  }
  const postMessage = (id: string, text: string) => post({ messages: [toUser(id, text)] })
  const shown = async (): Promise<readonly Message[]> => {
    const query = { threadId, limit: 20, before: null, live: 'include', results: 'full' } as const
    return (await store.readPage(query))?.messages.toReversed() ?? []
  }
  /** What a tab shows that folds the events as they come. */
  const openTab = (): (() => readonly Message[]) => {
    const handle = createHandler(holdfast, { authenticate })
    const fetch = async (path: unknown, init?: RequestInit) =>
      handle(new Request(new URL(String(path), 'http://127.0.0.1'), init))
    const client = createThreadClient({ threadId, fetch })
    onTestFinished(client.subscribe(() => {}))
    return () => client.getSnapshot().messages
  }
  return {
    holdfast,
    post,
    postMessage,
    shown,
    openTab,
    answerWith: (next: number) => {
      status = next
    },
  }
}

const toUser = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })

const textOf = (message: Message): string =>
  (message.role === 'assistant' ? message.steps.flatMap(({ parts }) => parts) : message.parts)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')

describe.each(Object.entries(stores))('a request that the backend refuses, on %s', (_, open) => {
  it('[RS4] a message can be sent again under its id, in a thread that was there before', async () => {
    const { postMessage, shown, answerWith } = start(await open())
    await postMessage('u1', 'first')
    answerWith(429)
    expect(await postMessage('u2', 'second')).toBe(429)
    expect((await shown()).map(textOf)).toEqual(['first', 'answer 1'])
    answerWith(200)
    expect(await postMessage('u2', 'second')).toBe(200)
    expect((await shown()).map(textOf)).toEqual(['first', 'answer 1', 'second', 'answer 2'])
  })

  const again = { trigger: 'regenerate-message', messages: [toUser('u1', 'first')] }
  const editTo = (id: string, text = 'other words') => ({
    trigger: 'submit-message',
    messageId: 'u1',
    messages: [toUser(id, text)],
  })
  const requests = { again, edit: editTo('u1'), 'edit with a new id': editTo('edited') }

  it.each(Object.entries(requests))(
    '[RS4 VR1] %s leaves the thread as it was in every view, also in a tab that folds it, and is no version',
    async (_, request) => {
      const { post, postMessage, shown, answerWith, openTab } = start(await open())
      await postMessage('u1', 'first')
      await postMessage('u2', 'second')
      const before = await shown()
      const tab = openTab()
      await expect.poll(tab).toEqual(before)
      answerWith(401)
      expect(await post(request)).toBe(401)
      expect(await shown()).toEqual(before)
      await expect.poll(tab).toEqual(before)
      answerWith(200)
      expect(await post(request)).toBe(200)
      const after = await shown()
      expect(after.map((message) => versionsOf(message)?.ids.length)).toContain(2)
      await expect.poll(tab).toEqual(after)
    },
  )

  it.each(Object.entries(requests))(
    '[RS4 VR1] %s leaves the versions that there are, and each of them can be shown',
    async (_, request) => {
      const store = await open()
      const { holdfast, post, postMessage, shown, answerWith } = start(store)
      const exported = () => Array.fromAsync(exportThread(store, parseThreadId(threadId), 'ui'))
      await postMessage('u1', 'first')
      await post(again)
      await post(editTo('u1', 'second words'))
      await post({ ...again, messages: [toUser('u1', 'second words')] })
      const before = await shown()
      const tree = await exported()
      const listed = before.map((message) => versionsOf(message)?.ids ?? [])
      expect(listed.map((ids) => ids.length)).toEqual([2, 2])
      const current = {
        ...request,
        ...(request === again ? { messages: [toUser('u1', 'second words')] } : {}),
      }
      answerWith(401)
      expect(await post(current)).toBe(401)
      expect(await post(current)).toBe(401)
      expect(await shown()).toEqual(before)
      expect(await exported()).toEqual(tree)
      if (store.audit !== undefined) expect(await checkStore(store)).toMatchObject({ found: 0 })
      for (const id of listed.flat()) {
        expect(await holdfast.show(threadId, id)).toMatchObject({ kind: 'shown', version: id })
        const all = await shown()
        expect(all.map((message) => versionsOf(message)?.ids.length)).toEqual([2, 2])
      }
    },
  )

  it('[RS4 VR1] any number of them uses up none of the versions that a message may have', async () => {
    const { post, postMessage, shown, answerWith } = start(await open())
    await postMessage('u1', 'first')
    const before = await shown()
    answerWith(429)
    for (let count = 0; count < 55; count++) {
      expect([await post(again), await post(editTo('u1'))]).toEqual([429, 429])
    }
    expect(await shown()).toEqual(before)
    answerWith(200)
    expect([await post(again), await post(editTo('u1'))]).toEqual([200, 200])
  })
})
