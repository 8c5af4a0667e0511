import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  DefaultChatTransport,
  isStepCount,
  streamText,
  toUIMessageStream,
  type UIMessage,
} from 'ai'
import { createHoldfast, type Hooks, type Store } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { calls, createModel, steps, tools } from './turn-script.ts'

/** Each systemUnderTest is one: the same request comes in, and the same stream goes out. */
export type Handler = (request: Request) => Promise<Response>

/** A route as people write it with the SDK alone. */
export function bareHandler(
  paceMs: number,
  onEnd?: (messages: readonly UIMessage[]) => Promise<void>,
): Handler {
  const model = createModel(paceMs)
  return async (request) => {
    const { messages } = (await request.json()) as { readonly messages: UIMessage[] }
    const { stream } = streamText({
      model,
      tools,
      stopWhen: isStepCount(steps + 1),
      messages: await convertToModelMessages(messages),
    })
    return createUIMessageStreamResponse({
      stream: toUIMessageStream({
        stream,
        ...(onEnd === undefined ? {} : { onEnd: (end) => onEnd(end.messages) }),
      }),
    })
  }
}

export function holdfastHandler(
  store: Store,
  paceMs: number,
  hooks: Hooks = () => {},
): {
  readonly handler: Handler
  readonly commits: () => number
  readonly close: () => Promise<void>
} {
  const model = createModel(paceMs)
  const holdfast = createHoldfast({ store, model, tools, hooks, recoverEveryMs: 0 })
  return {
    handler: createHandler(holdfast, { localOnly: true }),
    commits: () => holdfast.metrics().commits,
    close: () => holdfast.close(),
  }
}

/** Who reads the turn: the client that is in `useChat`, or somebody who looks at no chunk. */
export type Client = 'client' | 'bytes'

/** Each turn has a thread of its own, until there are `mostThreads`: then they come to the same threads again. */
export function createTurns(
  handler: Handler,
  mostThreads = Number.POSITIVE_INFINITY,
): (client: Client) => Promise<void> {
  let sent = 0
  return async (client) => {
    const count = ++sent
    const message: UIMessage = {
      id: `u-${count}`,
      role: 'user',
      parts: [{ type: 'text', text: 'go' }],
    }
    const thread = `bench-${process.pid}-${count % mostThreads}`
    const results = await clients[client](handler, thread, message)
    if (results !== calls) throw new Error(`not the whole turn: ${results} results`)
  }
}

const api = 'http://localhost/api/chat'

const clients = {
  async client(handler: Handler, chatId: string, message: UIMessage): Promise<number> {
    const transport = new DefaultChatTransport({
      api,
      fetch: (url, init) => handler(new Request(url, init)),
    })
    const chunks = await transport.sendMessages({
      chatId,
      messages: [message],
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    })
    let results = 0
    let last = ''
    for await (const chunk of chunks) {
      last = chunk.type
      if (last === 'tool-output-available') results++
    }
    if (last !== 'finish') throw new Error(`the turn ended with ${last}`)
    return results
  },

  async bytes(handler: Handler, id: string, message: UIMessage): Promise<number> {
    const response = await handler(
      new Request(api, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id, messages: [message], trigger: 'submit-message' }),
      }),
    )
    const text = await response.text()
    if (!text.endsWith('data: [DONE]\n\n')) throw new Error('the turn was cut off')
    return text.split('"tool-output-available"').length - 1
  },
}
