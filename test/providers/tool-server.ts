import type { LanguageModel, ToolSet } from 'ai'
import { createHoldfast, memory, type Turn } from 'holdfast'
import { createHandler, listen } from 'holdfast/server'
import { onTestFinished } from 'vitest'
import { openTab } from '../server/chat-tab.ts'
import { readPage } from '../server/thread-page.ts'
import { startModelServer, stream } from '../support/model-server.ts'
import { namedFrame } from './wire.ts'

export interface Setup {
  readonly model: (baseURL: string) => LanguageModel
  readonly tools: ToolSet
  /** What the API says to each call, in order. */
  readonly replies: readonly (readonly object[])[]
}

/** A server with a real provider behind it, which speaks to an API that says just this. */
export async function startToolServer({ model, tools, replies }: Setup) {
  const api = await startModelServer()
  api.reply(
    ...replies.map((events) => stream(...events.map((event) => namedFrame(event as never)))),
  )
  const store = memory()
  const holdfast = createHoldfast({
    store,
    tools,
    model: model(`${api.url}/v1`),
    recoverEveryMs: 0,
    textDelayMs: 0,
    modelRetries: 0,
  })
  const server = await listen(createHandler(holdfast), { port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    await server.close()
    await holdfast.close()
    await api.close()
  })
  const tab = openTab({ url: server.url, threadId: 't', client: 7, automatic: 'approvals' })
  const page = () => readPage({ url: server.url, threadId: 't', sdk: 7 })
  return {
    tab,
    page,
    holdfast,
    bodies: () => api.requests.map(({ body }) => body as { input?: unknown; messages?: unknown }),
    turn: async (): Promise<Turn> => {
      const id = (await page()).at(-1)?.id ?? ''
      const found = await store.readMessage('t', id)
      if (found?.role !== 'assistant') throw new Error('no turn')
      return found
    },
  }
}
