import assert from 'node:assert/strict'
import {
  converse,
  openChat,
  postChat,
  readCalls,
  readChunks,
  readMessages,
  typesOf,
  untilChunk,
  userText,
} from './chat-requests.ts'
import {
  assertError,
  createHttpClient,
  type ErrorBody,
  newId,
  type ThreadBody,
} from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

export const chatRules: readonly HttpRule[] = [
  {
    id: 'RS3',
    claim: 'creates the thread, stores the message and streams the answer to it',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, chunks, messageId } = await converse(client, 'weather in Paris')
      const types = typesOf(chunks)
      assert.deepEqual(types.slice(0, 2), ['start', 'start-step'])
      assert.deepEqual(types.slice(-2), ['finish-step', 'finish'])
      const call = types.indexOf('tool-input-available')
      assert.ok(call > 0 && types.indexOf('tool-output-available') > call)
      const thread = await client.get<ThreadBody>(`/api/threads/${threadId}`)
      // Its first words, until a model has named it (FK3).
      const { title, titledBy } = thread.body
      assert.ok(titledBy === 'model' || title === 'weather in Paris', `the title is ${title}`)
      const page = await readMessages(client, threadId)
      assert.equal(page.results[0]?.id, messageId)
    },
  },
  {
    id: 'RS5',
    claim: 'with reject refuses a second message while a run is active, and does not store it',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const stream = await openChat(client, { threadId }, userText('slow tool 30'))
      const hello = userText('hello')
      const refused = await openChat(client, { threadId }, hello, { whenBusy: 'reject' })
      const body = (await refused.json()) as ErrorBody
      assert.deepEqual([refused.status, body.error.code], [409, 'run-active'])
      const regenerated = await postChat(client, { id: threadId, trigger: 'regenerate-message' })
      assert.equal(regenerated.status, 409)
      await regenerated.body?.cancel()
      await client.post(`/api/chat/${threadId}/stop`)
      await readChunks(stream)
      const page = await readMessages(client, threadId)
      assert.deepEqual(
        page.results.map(({ role }) => role),
        ['assistant', 'user'],
      )
    },
  },
  {
    id: 'RS5',
    claim: 'joins the run of the same message, and replays it when it is over',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const message = userText('slow tool 30')
      const first = await openChat(client, { threadId }, message)
      const second = await openChat(client, { threadId }, message)
      const start = await untilChunk(second, ({ type }) => type === 'start')
      await client.post(`/api/chat/${threadId}/stop`)
      const chunks = await readChunks(first)
      assert.deepEqual(chunks[0], start)
      const third = await readChunks(await openChat(client, { threadId }, message))
      assert.deepEqual(third[0], start)
      assert.equal(third.at(-1)?.type, 'finish')
      assert.equal((await readMessages(client, threadId)).results.length, 2)
    },
  },
  {
    id: 'RS6',
    claim: 'uses its ledger, not a shorter history that a stale tab sends',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'hello', 'weather in Paris')
      await readChunks(await openChat(client, { threadId }, userText('hello again')))
      assert.equal((await readMessages(client, threadId)).results.length, 6)
    },
  },
  {
    id: 'RS3',
    claim: 'regenerates an answer, and removes the old one from every page',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'weather in Paris')
      const body = { id: threadId, trigger: 'regenerate-message', messageId, messages: [] }
      const [start] = await readChunks(await postChat(client, body))
      assert.notEqual(start?.['messageId'], messageId)
      for (const format of ['ui', 'vercel', 'entities', 'chat']) {
        const page = await readMessages(client, threadId, `?format=${format}`)
        const withoutVersions = (key: string, value: unknown) =>
          key === 'versions' ? undefined : value
        assert.ok(!JSON.stringify(page.results, withoutVersions).includes(messageId), format)
      }
      const missing = await postChat(client, { ...body, messageId: newId('msg') })
      assert.equal(missing.status, 404)
      await missing.body?.cancel()
    },
  },
  {
    id: 'RS3',
    claim: 'edits a message: it and what followed are replaced',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const question = userText('weather in Paris')
      for (const message of [question, userText('hello')]) {
        await readChunks(await openChat(client, { threadId }, message))
      }
      const edited = userText('weather in Rome', question.id)
      const response = await openChat(client, { threadId }, edited, { messageId: question.id })
      await readChunks(response)
      const page = await readMessages(client, threadId)
      assert.deepEqual(
        page.results.map(({ role }) => role),
        ['assistant', 'user'],
      )
      assert.deepEqual(page.results[1]?.parts, edited.parts)
      assert.equal(page.results[1]?.id, question.id)
    },
  },
  {
    id: 'RS3',
    claim: 'accepts a retried message as new if the first request never arrived',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const message = userText('hello')
      const response = await openChat(client, { threadId }, message, { messageId: message.id })
      await readChunks(response)
      assert.equal((await readMessages(client, threadId)).results.length, 2)
    },
  },
  {
    id: 'AP8',
    claim: 'closes waiting approvals as superseded when a new message comes, and answers it',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, `delete note ${newId('Nothing')}`)
      await readChunks(await openChat(client, { threadId }, userText('hello')))
      const [call] = await readCalls(client, messageId)
      assert.deepEqual([call?.state, call?.cause, call?.isPartial], ['denied', 'superseded', false])
      assert.equal((await readMessages(client, threadId)).results.length, 4)
      const path = `/api/threads/${threadId}/tool-calls/${call?.id}/decision`
      assertError(await client.post(path, { decision: 'accept' }), 409)
    },
  },
  {
    id: 'ST2',
    claim: 'keeps what came before a provider’s error, reports the error, and goes on',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, chunks, messageId } = await converse(client, 'provider error')
      assert.equal(chunks.at(-1)?.type, 'error')
      const calls = await readCalls(client, messageId)
      assert.ok(calls.every(({ isPartial }) => !isPartial))
      assert.ok(JSON.stringify(await readMessages(client, threadId)).includes('Let me look'))
      await readChunks(await openChat(client, { threadId }, userText('hello')))
    },
  },
]
