import assert from 'node:assert/strict'
import { readSse } from '../../client/read-sse.ts'
import type { Json } from '../../core/json.ts'
import type { ToolCallRecord } from '../../views/tool-call-record.ts'
import type { UiMessage } from '../../views/ui-message.ts'
import { type HttpClient, newId, type PageBody } from './http-client.ts'

export interface Chunk {
  readonly type: string
  readonly [field: string]: Json | undefined
}

export interface UserText {
  readonly id: string
  readonly role: 'user'
  readonly parts: readonly [{ readonly type: 'text'; readonly text: string }]
}

export const userText = (text: string, id = newId('user')): UserText => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
})

export interface ChatOptions {
  readonly threadId: string
  readonly query?: string
}

/** Opens the stream of a message and returns it unread. */
export function openChat(
  client: HttpClient,
  { threadId, query = '' }: ChatOptions,
  message: UserText,
  more: object = {},
): Promise<Response> {
  return postChat(client, { id: threadId, messages: [message], ...more }, query)
}

export const postChat = (client: HttpClient, body: unknown, query = ''): Promise<Response> =>
  client.open(`/api/chat${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/**
 * All chunks of a UI message stream that belong to its message, from its head to `[DONE]`. A transient chunk does not:
 * a note about a slow database may occur anywhere in a stream (LG3a).
 */
export async function readChunks<Item extends Pick<Chunk, 'type'> = Chunk>(
  response: Response,
): Promise<readonly Item[]> {
  assertUiStream(response)
  const chunks: Item[] = []
  let isDone = false
  for await (const { data } of readSse(response.body as ReadableStream<Uint8Array>)) {
    assert.equal(isDone, false, 'something follows [DONE]')
    if (data === '[DONE]') isDone = true
    else chunks.push(JSON.parse(data) as Item)
  }
  assert.equal(isDone, true, 'the stream does not end with [DONE]')
  return chunks.filter((chunk) => !('transient' in chunk) || chunk.transient !== true)
}

function assertUiStream(response: Response): void {
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1')
}

/** Reads until a chunk fits, and closes the stream. */
export async function untilChunk(
  response: Response,
  fits: (chunk: Chunk) => boolean,
): Promise<Chunk> {
  assertUiStream(response)
  for await (const { data } of readSse(response.body as ReadableStream<Uint8Array>)) {
    if (data === '[DONE]') continue
    const chunk = JSON.parse(data) as Chunk
    if (fits(chunk)) return chunk
  }
  throw new assert.AssertionError({ message: 'the stream ended before it came' })
}

export interface Conversation {
  readonly threadId: string
  readonly chunks: readonly Chunk[]
  /** The assistant's message of the last answer. */
  readonly messageId: string
}

/** Sends one text after the other in a thread of its own. */
export async function converse(
  client: HttpClient,
  ...texts: readonly string[]
): Promise<Conversation> {
  const threadId = newId('thread')
  let chunks: readonly Chunk[] = []
  for (const text of texts) {
    chunks = await readChunks(await openChat(client, { threadId }, userText(text)))
  }
  const start = chunks.find(({ type }) => type === 'start')
  return { threadId, chunks, messageId: messageIdOf(start) }
}

/**
 * Gives a thread a title, so that no model gives it one (FK3): behind an answer, that would move its seq at a time that
 * nobody knows. From here on the seq of an idle thread stays as it is.
 */
export async function nameThread(client: HttpClient, threadId: string): Promise<void> {
  const named = await client.send('PATCH', `/api/threads/${threadId}`, { title: 'Named' })
  assert.equal(named.status, 200, JSON.stringify(named.body))
}

export async function readMessages<Item = UiMessage>(
  client: HttpClient,
  threadId: string,
  query = '',
): Promise<PageBody<Item>> {
  const page = await client.get<PageBody<Item>>(`/api/threads/${threadId}/messages${query}`)
  assert.equal(page.status, 200, JSON.stringify(page.body))
  return page.body
}

export async function readCalls(
  client: HttpClient,
  messageId: string,
): Promise<readonly ToolCallRecord[]> {
  const { body } = await client.get<{ readonly toolCalls: readonly ToolCallRecord[] }>(
    `/api/messages/${messageId}/tool-calls?include=all`,
  )
  return body.toolCalls
}

/** The message id of a `start` chunk. */
export function messageIdOf(start: Chunk | undefined): string {
  const id = start?.['messageId']
  assert.ok(typeof id === 'string', 'a stream starts with the id of its message')
  return id
}

export const typesOf = (chunks: readonly Chunk[]): readonly string[] =>
  chunks.map(({ type }) => type)
