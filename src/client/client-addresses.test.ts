import { expect, it } from 'vitest'
import { type ApiOptions, createApi } from './api.ts'
import { createChatTransport } from './chat-transport.ts'
import { createThreadClient } from './thread-client.ts'
import { createThreadListClient } from './thread-list-client.ts'
import { createToolCallsClient } from './tool-calls-client.ts'

type Asking = (options: ApiOptions) => unknown

const clients: Readonly<Record<string, Asking>> = {
  createApi: (options) => createApi(options).get('/api/health'),
  createThreadClient: (options) =>
    createThreadClient({ ...options, threadId: 't' }).subscribe(() => {}),
  createThreadListClient: (options) => createThreadListClient(options).subscribe(() => {}),
  createToolCallsClient: (options) =>
    createToolCallsClient({
      ...options,
      messageId: 'm',
      thread: (threadId) => createThreadClient({ ...options, threadId }),
    }).subscribe(() => {}),
  'createChatTransport, load': (options) => createChatTransport(options).load('t'),
  'createChatTransport, stop': (options) => createChatTransport(options).stop('t'),
  'createChatTransport, resume': (options) =>
    createChatTransport(options).reconnectToStream({ chatId: 't' }),
  'createChatTransport, send': (options) =>
    createChatTransport(options).sendMessages({
      chatId: 't',
      messages: [],
      trigger: 'submit-message',
    }),
}

it.each(Object.entries(clients))(
  '[OP5d] %s asks under the base path, however it and the address are written',
  async (_, load) => {
    for (const [baseUrl, basePath, root] of [
      [undefined, undefined, '/api/'],
      [undefined, '/', '/api/'],
      ['', '', '/api/'],
      [undefined, '/chat/v1', '/chat/v1/api/'],
      ['https://a.example', '/chat/v1/', 'https://a.example/chat/v1/api/'],
      ['https://a.example/', '/chat', 'https://a.example/chat/api/'],
      ['https://a.example/proxy', '/chat', 'https://a.example/proxy/chat/api/'],
    ] as const) {
      const { promise, resolve } = Promise.withResolvers<string>()
      const options: ApiOptions = {
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(basePath === undefined ? {} : { basePath }),
        // The first address is enough; the request is never answered.
        fetch: (address) => {
          resolve(address instanceof Request ? address.url : address.toString())
          return new Promise(() => {})
        },
      }
      void load(options)
      const requested = await promise
      expect(requested.slice(0, root.length)).toBe(root)
    }
  },
)
