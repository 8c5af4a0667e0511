import { tool } from 'ai'
import { z } from 'zod'
import { createHandler } from '../../../src/server/index.ts'
import { createHoldfast } from '../../../src/index.ts'
import { postgres } from '../../../src/store/postgres/index.ts'
import { sqlite } from '../../../src/store/sqlite/index.ts'
import {
  model,
  question,
  showChunk,
  takeNote,
  toolDescription,
  toolName,
  toReloaded,
} from '../script.mjs'

/** The tool is not `repeatable`: the cautious default. */
export async function open(address) {
  const store = address.startsWith('postgres:') ? postgres(address) : sqlite(`${address}.db`)
  const holdfast = createHoldfast({
    store,
    model,
    tools: {
      [toolName]: tool({
        description: toolDescription,
        inputSchema: z.object({ text: z.string() }),
        execute: takeNote,
      }),
    },
  })
  const handler = createHandler(holdfast, { authenticate: () => ({ id: 'peers' }) })
  return {
    async ask(threadId) {
      const message = {
        id: `${threadId}-q`,
        role: 'user',
        parts: [{ type: 'text', text: question }],
      }
      const response = await handler(
        new Request('http://localhost/api/chat?sdk=7', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ id: threadId, messages: [message] }),
        }),
      )
      for await (const chunk of readChunks(response)) showChunk(chunk)
      await holdfast.settled()
    },
    /** A server that starts looks by itself; here it is waited for, so that the table says how it ends. */
    async recover(threadId) {
      for (let tries = 0; tries < 80; tries++) {
        await holdfast.recover()
        await holdfast.settled()
        const page = await holdfast.messages(threadId, { format: 'ledger' })
        const turn = page?.results.find((message) => message.role === 'assistant')
        if (turn === undefined || turn.progress.status !== 'running') return
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    },
    async read(threadId) {
      const page = await holdfast.messages(threadId, { sdk: 7 })
      const reloaded = toReloaded(page?.results.toReversed() ?? [])
      const calls = await holdfast.messages(threadId, { format: 'chat' })
      const states = new Map(
        calls?.results.flatMap(({ toolCalls = [] }) => toolCalls).map((call) => [call.id, call]),
      )
      return {
        ...reloaded,
        // A call whose outcome nobody knows is shown as a question to a person, not as running.
        calls: reloaded.calls.map((call) =>
          states.get(call.id)?.state === 'unknown' ? { ...call, state: 'asks' } : call,
        ),
      }
    },
    async close() {
      await holdfast.close()
      await store.close()
    },
  }
}

async function* readChunks(response) {
  let text = ''
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece
    const events = text.split('\n\n')
    text = events.pop()
    for (const event of events) {
      if (event.startsWith('data: {')) yield JSON.parse(event.slice(6))
    }
  }
}
