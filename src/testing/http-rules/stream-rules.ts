import assert from 'node:assert/strict'
import {
  converse,
  messageIdOf,
  openChat,
  readCalls,
  readChunks,
  readMessages,
  typesOf,
  untilChunk,
  userText,
} from './chat-requests.ts'
import { assertError, createHttpClient, newId } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

const isProgress = ({ type }: { readonly type: string }) => type === 'tool-output-available'

export const streamRules: readonly HttpRule[] = [
  {
    id: 'RS3',
    claim: 'resumes with the whole live turn replayed, then live',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const stream = await openChat(client, { threadId }, userText('slow tool 2'))
      await untilChunk(stream, isProgress)
      const resumed = await client.open(`/api/chat/${threadId}/stream`)
      const chunks = await readChunks(resumed)
      assert.deepEqual(typesOf(chunks).slice(0, 3), ['start', 'start-step', 'tool-input-available'])
      assert.equal(chunks.at(-1)?.type, 'finish')
      const page = await readMessages(client, threadId)
      assert.equal(page.results[0]?.id, chunks[0]?.['messageId'])
    },
  },
  {
    id: 'RS3',
    claim: 'has nothing to resume when nothing runs, and replays a named turn all the same',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, chunks, messageId } = await converse(client, 'weather in Paris')
      const path = `/api/chat/${threadId}/stream`
      const idle = await client.open(path)
      assert.equal(idle.status, 204)
      assert.equal(await idle.text(), '')
      const replayed = await readChunks(await client.open(`${path}?message=${messageId}`))
      assert.deepEqual(replayed[0], chunks[0])
      const textOf = (all: typeof chunks) =>
        all
          .map(({ type, delta }) =>
            type === 'text-delta' && typeof delta === 'string' ? delta : '',
          )
          .join('')
      assert.equal(textOf(replayed), textOf(chunks))
      assertError(await client.get(`${path}?message=${newId('msg')}`), 404, 'message-not-found')
      // Resuming a chat without messages must not be an error.
      const unwritten = `/api/chat/${newId('thread')}/stream`
      assert.equal((await client.open(unwritten)).status, 204)
      assertError(await client.get(`${unwritten}?message=${messageId}`), 404, 'thread-not-found')
      assertError(await client.get(`${path}?sdk=8`), 400)
    },
  },
  {
    id: 'RS1',
    claim: 'keeps running without a reader',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const stream = await openChat(client, { threadId }, userText('slow tool 1'))
      await untilChunk(stream, isProgress)
      // A second stream is used to wait for the end; the first reader is gone.
      const chunks = await readChunks(await client.open(`/api/chat/${threadId}/stream`))
      assert.ok(typesOf(chunks).includes('text-delta'))
    },
  },
  {
    id: 'ST1',
    claim: 'stops, streams the end of what it closes, and answers the next message',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const stream = await openChat(client, { threadId }, userText('slow tool 60'))
      const other = await client.open(`/api/chat/${threadId}/stream`)
      const messageId = messageIdOf(await untilChunk(other, ({ type }) => type === 'start'))
      const second = await client.open(`/api/chat/${threadId}/stream`)
      await untilChunk(second, isProgress)
      const stopped = await client.post(`/api/chat/${threadId}/stop`)
      assert.deepEqual([stopped.status, stopped.body], [200, { status: 'stopped' }])
      const types = typesOf(await readChunks(stream))
      assert.ok(types.includes('tool-output-error'))
      assert.deepEqual(types.slice(-2), ['finish-step', 'finish'])
      const [call] = await readCalls(client, messageId)
      assert.deepEqual([call?.state, call?.cause], ['stopped', 'stopped'])
      const again = await client.post(`/api/chat/${threadId}/stop`)
      assert.deepEqual(again.body, { status: 'idle' })
      assertError(await client.post(`/api/chat/${newId('thread')}/stop`), 404, 'thread-not-found')
      await readChunks(await openChat(client, { threadId }, userText('hello')))
    },
  },
  {
    id: 'ST6',
    claim: 'continues a turn without an answer in the same message, and no other',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'no final text')
      const page = await readMessages(client, threadId)
      const note = page.results[0]?.parts.at(-1)
      assert.equal(note?.type, 'data-holdfast')
      const path = `/api/chat/${threadId}/continue`
      const chunks = await readChunks(await client.open(path, { method: 'POST' }))
      assert.equal(chunks[0]?.['messageId'], messageId)
      assert.ok(!typesOf(chunks).includes('tool-input-available'))
      assert.equal((await readMessages(client, threadId)).results.length, 2)
      const whole = await converse(client, 'hello')
      const nothing = await client.post(`/api/chat/${whole.threadId}/continue`)
      assertError(nothing, 409, 'nothing-to-continue')
      assertError(await client.post(`/api/chat/${newId('thread')}/continue`), 404)
    },
  },
  {
    id: 'ST4',
    claim: 'closes a call that the token limit cut off',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { messageId, chunks } = await converse(client, 'cut off')
      assert.equal(chunks.at(-1)?.['finishReason'], 'length')
      const [call] = await readCalls(client, messageId)
      assert.deepEqual([call?.state, call?.cause], ['interrupted', 'over-limit'])
    },
  },
]
