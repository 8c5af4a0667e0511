import { createHoldfast, type Message, memory, type Store } from 'holdfast'
import { createRecordingProxy } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFile } from '../sqlite/temporary-file.ts'

const stores: Readonly<Record<string, () => Store>> = {
  memory: () => memory(),
  sqlite: () => sqlite(temporaryFile()),
}
const threadId = 'thread-0123456789abcdef'

/** A backend whose next answer is a text, or a refusal. */
function start(store: Store) {
  let status = 200
  let count = 0
  const holdfast = createHoldfast({ store, recoverEveryMs: 0, textDelayMs: 0 })
  const proxy = createRecordingProxy(holdfast, {
    target: new URL('http://127.0.0.1:1/chat'),
    authenticate: () => ({ id: 'me' }),
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
  const say = (id: string, text: string) => post({ messages: [toUser(id, text)] })
  const shown = async (): Promise<readonly Message[]> => {
    const query = { threadId, limit: 20, before: null, live: 'include', results: 'full' } as const
    return (await store.readPage(query))?.messages.toReversed() ?? []
  }
  return {
    holdfast,
    post,
    say,
    shown,
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
    const { say, shown, answerWith } = start(open())
    await say('u1', 'first')
    answerWith(429)
    expect(await say('u2', 'second')).toBe(429)
    expect((await shown()).map(textOf)).toEqual(['first', 'answer 1'])
    answerWith(200)
    expect(await say('u2', 'second')).toBe(200)
    expect((await shown()).map(textOf)).toEqual(['first', 'answer 1', 'second', 'answer 2'])
  })

  it('[RS4 VR1] an answer that is made anew leaves the one before as it was', async () => {
    const { post, say, shown, answerWith } = start(open())
    await say('u1', 'first')
    await say('u2', 'second')
    const before = await shown()
    const again = { trigger: 'regenerate-message', messages: [toUser('u2', 'second')] }
    answerWith(429)
    expect(await post(again)).toBe(429)
    expect(await post(again)).toBe(429)
    const after = await shown()
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    answerWith(200)
    expect(await post(again)).toBe(200)
    expect((await shown()).map(textOf)).toEqual(['first', 'answer 1', 'second', 'answer 3'])
  })

  it.each(['u1', 'edited'])(
    '[RS4 VR1] an edit with the id %s leaves the message and all below it as it was',
    async (id) => {
      const { post, say, shown, answerWith } = start(open())
      await say('u1', 'first')
      await say('u2', 'second')
      const before = await shown()
      const edit = { messageId: 'u1', messages: [toUser(id, 'other words')] }
      answerWith(401)
      expect(await post({ trigger: 'submit-message', ...edit })).toBe(401)
      const after = await shown()
      expect(after.map(({ seq }) => seq)).toEqual(before.map(({ seq }) => seq))
      expect(after.map(textOf)).toEqual(['first', 'answer 1', 'second', 'answer 2'])
    },
  )
})
