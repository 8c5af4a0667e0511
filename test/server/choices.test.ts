import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import {
  createHoldfast,
  exportThread,
  foldThread,
  type Holdfast,
  type HoldfastOptions,
  importThreads,
  type Json,
  memory,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  readImport,
  type ThreadView,
  type TurnScope,
} from 'holdfast'
import { createHandler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readChunks } from '../../src/testing/http-rules/chat-requests.ts'

const thread = '01927c36-6a29-7c5e-9c1e-2f4b8a3d5e6f'
const threadId = parseThreadId(thread)

const schema = z.object({
  model: z.enum(['fast', 'best']).default('fast'),
  web: z.boolean().optional(),
})

interface Chat {
  readonly holdfast: Holdfast
  readonly asked: TurnScope[]
  readonly post: (body: object) => Promise<Response>
  readonly last: () => Promise<UIMessage>
}

function openChat(options: Partial<HoldfastOptions> = { choices: schema }): Chat {
  const asked: TurnScope[] = []
  const holdfast = createHoldfast({
    store: memory(),
    recoverEveryMs: 0,
    agent(scope) {
      asked.push(scope)
      return { model: scriptedModel(() => [{ text: 'Hello.' }]) }
    },
    ...options,
  })
  const handler = createHandler(holdfast, { authenticate: () => ({ id: 'ann' }) })
  const at = (path: string) => `http://127.0.0.1/api/${path}`
  const get = async (path: string): Promise<unknown> =>
    (await handler(new Request(at(path)))).json()
  return {
    holdfast,
    asked,
    post: (body) =>
      handler(
        new Request(at('chat'), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ id: thread, ...body }),
        }),
      ),
    async last() {
      const page = (await get(`threads/${thread}/messages?format=ui`)) as { results: UIMessage[] }
      return page.results.find(({ role }) => role === 'assistant')!
    },
  }
}

const user = (id: string, text = 'hi') => ({
  messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
})
const chosen = (asked: readonly TurnScope[]) => asked.map(({ choices }) => choices as Json)

/** The message as a client of the SDK has it at the end of the stream. */
async function readStream(response: Response): Promise<UIMessage> {
  const chunks = await readChunks<UIMessageChunk>(response)
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream })) last = message
  return last!
}

describe('choices of a request', () => {
  it('[AG2] are stored as the schema makes them, given to the agent, and shown live as on the page', async () => {
    const { post, asked, last, holdfast } = openChat()
    const choices = { model: 'best', web: true, extra: 1 }
    const live = await readStream(await post({ ...user('u1'), choices }))
    const stored = { model: 'best', web: true }
    expect(chosen(asked)).toEqual([stored])
    expect([live.metadata, (await last()).metadata]).toEqual([
      { choices: stored },
      { choices: stored },
    ])
    let view: ThreadView = { seq: 0, messages: [] }
    for await (const { changes } of holdfast.subscribe(threadId, 0)) {
      view = foldThread(view, changes)
      if (view.messages.length === 2) break
    }
    expect(view.messages[1]).toMatchObject({ choices: stored })
  })

  it('[AG2] that are left out are the schema’s defaults', async () => {
    const { post, asked, last } = openChat()
    await (await post(user('u1'))).text()
    expect(chosen(asked)).toEqual([{ model: 'fast' }])
    expect((await last()).metadata).toEqual({ choices: { model: 'fast' } })
  })

  const bad: readonly (readonly [string, Partial<HoldfastOptions>, Json | undefined])[] = [
    ['of a wrong value', { choices: schema }, { model: 'huge' }],
    ['that are null', { choices: schema }, null],
    ['that are a list', { choices: schema }, [1]],
    ['that are a string', { choices: schema }, 'best'],
    ['that are missing and needed', { choices: z.object({ model: z.string() }) }, undefined],
    ['where there is nothing to choose', {}, { model: 'best' }],
    ['that are empty, where there is nothing to choose', {}, {}],
    ['whose schema throws', { choices: z.unknown().transform(() => oops()) }, {}],
    ['that become no JSON', { choices: z.unknown().transform(() => 1n) }, {}],
  ]
  it.each(bad)('[AG2] %s: 400, and nothing is stored', async (_, options, choices) => {
    const { post, asked, holdfast } = openChat(options)
    const refused = await post(
      choices === undefined ? user('u1') : { ...user('u1'), choices: choices as object },
    )
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { code: 'bad-choices' } })
    expect(await holdfast.store.readThread(threadId)).toBeNull()
    expect(asked).toEqual([])
  })

  it('[AG2] a refused regenerate leaves the answer where it is', async () => {
    const { post, last } = openChat()
    await (await post(user('u1'))).text()
    const { id } = await last()
    const again = { trigger: 'regenerate-message', choices: { model: 1 } }
    expect((await post(again)).status).toBe(400)
    expect((await last()).id).toBe(id)
  })

  it('[AG2] an answer made anew keeps them, unless it is asked for with others; an edit has its own', async () => {
    const { post, asked, holdfast } = openChat()
    await (await post({ ...user('u1'), choices: { model: 'best' } })).text()
    await (await post({ trigger: 'regenerate-message' })).text()
    await (await post({ trigger: 'regenerate-message', choices: { web: false } })).text()
    await (await post({ trigger: 'regenerate-message' })).text()
    await (await post({ ...user('u2', 'no'), messageId: 'u1', choices: { web: true } })).text()
    const best = { model: 'best' }
    const off = { model: 'fast', web: false }
    expect(chosen(asked)).toEqual([best, best, off, off, { model: 'fast', web: true }])
    await holdfast.close()
  })

  it('[AG2 RS5] the same message again is the same turn, whatever it chooses now', async () => {
    const { post, asked } = openChat()
    await (await post({ ...user('u1'), choices: { model: 'best' } })).text()
    const again = await post({ ...user('u1'), choices: { model: 'fast' } })
    expect((await readStream(again)).metadata).toEqual({ choices: { model: 'best' } })
    expect(asked).toHaveLength(1)
  })

  it('[AG2] a turn from before there were any has the defaults', async () => {
    const store = memory()
    const before = openChat({ store })
    await (await before.post(user('u1'))).text()
    const now = openChat({ store, choices: schema })
    await (await now.post({ trigger: 'regenerate-message' })).text()
    expect([chosen(before.asked), chosen(now.asked)]).toEqual([[undefined], [{ model: 'fast' }]])
  })

  it('[AG2 LE1] are in an export, and shown where it is imported, but not believed', async () => {
    const { post, holdfast, last } = openChat()
    await (await post({ ...user('u1'), choices: { model: 'best' } })).text()
    const messages: object[] = []
    for await (const message of exportThread(holdfast.store, threadId, 'ui')) messages.push(message)
    const there = openChat()
    const body = { threads: [{ id: thread, messages }] }
    const importInto = (to: Holdfast) =>
      importThreads(to.store, readImport(piecesOf(JSON.stringify(body))), {
        ownerId: parseOwnerId('ann'),
      })
    await importInto(there.holdfast)
    expect((await there.last()).metadata).toEqual({ choices: { model: 'best' } })
    // What a file says was chosen has been checked by nobody.
    await (await there.post({ trigger: 'regenerate-message' })).text()
    expect(chosen(there.asked)).toEqual([{ model: 'fast' }])
    // The same file again where it came from changes nothing.
    const { id } = await last()
    const stored = await holdfast.store.readMessage(threadId, parseMessageId(id))
    await importInto(holdfast)
    expect(await holdfast.store.readMessage(threadId, parseMessageId(id))).toEqual(stored)
  })
})

async function* piecesOf(text: string) {
  yield text
}

function oops(): never {
  throw new Error('oops')
}
