import assert from 'node:assert/strict'
import { isJsonObject, type Json } from '../../core/json.ts'
import type { ShownVersions } from '../../core/versions.ts'
import type { ChatMessage } from '../../views/chat-message.ts'
import type { UiMessage } from '../../views/ui-message.ts'
import {
  converse,
  openChat,
  postChat,
  readChunks,
  readMessages,
  userText,
} from './chat-requests.ts'
import {
  assertError,
  createHttpClient,
  type HttpClient,
  newId,
  type PageBody,
  type ThreadBody,
} from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

function versionsIn(message: UiMessage | undefined): ShownVersions | undefined {
  const metadata: Json | undefined = message?.metadata
  const versions = isJsonObject(metadata) ? metadata.versions : undefined
  if (!isJsonObject(versions) || !Array.isArray(versions.ids)) return undefined
  const { ids, shown } = versions
  return typeof shown === 'string' ? { ids: ids.map(String), shown } : undefined
}

const regenerate = async (client: HttpClient, threadId: string) =>
  readChunks(await postChat(client, { id: threadId, trigger: 'regenerate-message' }))

const show = (client: HttpClient, threadId: string, id: string) =>
  client.post<ShownBody>(`/api/threads/${threadId}/messages/${encodeURIComponent(id)}/show`)

interface ImportBody {
  readonly messages: number
  readonly skipped: number
  readonly failed: readonly unknown[]
}

interface ShownBody {
  readonly messageId: string
  readonly version: string
  readonly effects: readonly {
    readonly messageId: string
    readonly toolCallId: string
    readonly name: string
    readonly state: string
  }[]
}

export const versionRules: readonly HttpRule[] = [
  {
    id: 'VR1',
    claim:
      'takes an exported thread with its versions, which are shown again as before, and changes nothing twice',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const [id, question] = [newId('thread'), newId('user')]
      const [first, second] = [newId('answer'), newId('answer')]
      const answer = (message: string, text: string) => ({
        ...{ id: message, role: 'assistant', parts: [{ type: 'text', text }] },
      })
      const place = { version: first, follows: `${question}@1`, nth: 0, hiddenSeq: 9 }
      const exported = {
        ...{ id, order: 'oldest-first' },
        messages: [userText('Hello', question), answer(second, 'Two')],
        hiddenMessages: [{ ...answer(first, 'One'), ...place }],
      }
      const imported = await client.post<ImportBody>('/api/import', exported)
      const { messages, skipped, failed } = imported.body
      assert.deepEqual([imported.status, messages, skipped, failed], [200, 3, 0, []])
      const before = await readMessages(client, id)
      const versions = { ids: [first, second], shown: second }
      assert.deepEqual(versionsIn(before.results[0]), versions)
      const again = await client.post<ImportBody>('/api/import', exported)
      assert.deepEqual([again.body.messages, again.body.skipped], [3, 3])
      assert.deepEqual(await readMessages(client, id), before)
      assert.equal((await show(client, id, first)).status, 200)
      const after = await readMessages(client, id)
      assert.deepEqual(versionsIn(after.results[0]), { ...versions, shown: first })
      assert.equal(after.results.length, 2)
    },
  },
  {
    id: 'VR1',
    claim: 'keeps a regenerated answer as a version, live and in pages, and shows it again',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'hello')
      const [start] = await regenerate(client, threadId)
      const page = await readMessages(client, threadId)
      const [second] = page.results
      const versions = { ids: [messageId, second?.id ?? ''], shown: second?.id }
      assert.deepEqual(versionsIn(second), versions)
      assert.deepEqual(start?.['messageMetadata'], second?.metadata)
      const chat = await client.get<PageBody<ChatMessage>>(
        `/api/threads/${threadId}/messages?format=chat`,
      )
      assert.deepEqual(chat.body.results[0]?.versions, versions)
      const shown = await show(client, threadId, messageId)
      assert.equal(shown.status, 200)
      assert.deepEqual(
        [shown.body.messageId, shown.body.version, shown.body.effects],
        [messageId, messageId, []],
      )
      const after = await readMessages(client, threadId)
      assert.deepEqual(versionsIn(after.results[0]), { ...versions, shown: messageId })
      assert.equal(after.results.length, 2)
    },
  },
  {
    id: 'VR1',
    claim: 'keeps an edited message with all below it, and gives each version an id of its own',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'hello')
      const [, first] = (await readMessages(client, threadId)).results
      assert.ok(first !== undefined)
      const edited = { ...userText('hello again', first.id), metadata: { mine: 1 } }
      await readChunks(await openChat(client, { threadId }, edited, { messageId: first.id }))
      const [, second] = (await readMessages(client, threadId)).results
      const versions = versionsIn(second)
      assert.equal(new Set(versions?.ids).size, 2)
      assert.equal(versions?.ids[1], versions?.shown)
      assert.equal(isJsonObject(second?.metadata) && second.metadata['mine'], 1)
      const shown = await show(client, threadId, versions?.ids[0] ?? '')
      assert.deepEqual([shown.body.messageId, shown.body.version], [first.id, versions?.ids[0]])
      const [, third] = (await readMessages(client, threadId)).results
      assert.deepEqual(third?.parts, [{ type: 'text', text: 'hello' }])
      // A client that sends back the server's metadata must not overwrite it.
      const back = { ...userText('and again', first.id), metadata: third?.metadata }
      await readChunks(await openChat(client, { threadId }, back, { messageId: first.id }))
      const [, fourth] = (await readMessages(client, threadId)).results
      assert.equal(versionsIn(fourth)?.ids.length, 3)
    },
  },
  {
    id: 'VR2',
    claim: 'refuses to show another version while a turn runs, and changes nothing',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'hello')
      await regenerate(client, threadId)
      const stream = await openChat(client, { threadId }, userText('slow tool 30'))
      assertError(await show(client, threadId, messageId), 409, 'run-active')
      await client.post(`/api/chat/${threadId}/stop`)
      await readChunks(stream)
      assert.equal((await readMessages(client, threadId)).results.length, 4)
    },
  },
  {
    id: 'VR1',
    claim: 'refuses a version that does not exist, or of another thread',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'hello')
      const other = await converse(client, 'hello')
      assertError(await show(client, threadId, 'nobody'), 404, 'message-not-found')
      assertError(await show(client, threadId, other.messageId), 404, 'message-not-found')
      assertError(await show(client, threadId, `${messageId}@999`), 404, 'message-not-found')
      assertError(await show(client, newId('thread'), messageId), 404, 'thread-not-found')
      assertError(await show(client, threadId, 'a\u0000b'), 400, 'bad-id')
      assertError(await show(client, threadId, 'x'.repeat(300)), 400, 'bad-id')
    },
  },
  {
    id: 'VR3',
    claim: 'returns the calls of the path that is left which took effect and are not undone',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'hello')
      await regenerate(client, threadId)
      const charge = userText('charge card')
      await readChunks(await openChat(client, { threadId }, charge))
      await readChunks(await openChat(client, { threadId }, userText('weather in Paris')))
      const shown = await show(client, threadId, messageId)
      assert.deepEqual(
        shown.body.effects.map(({ name, state }) => [name, state]),
        [['charge_card', 'succeeded']],
      )
    },
  },
  {
    id: 'VR4',
    claim: 'forks a thread at a message into an independent one that records its origin',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'weather in Paris')
      await readChunks(await openChat(client, { threadId }, userText('hello')))
      const id = newId('thread')
      const path = `/api/threads/${threadId}/fork`
      const forked = await client.post<ForkBody>(path, { messageId, id, title: 'Mine' })
      assert.equal(forked.status, 201)
      assert.deepEqual(
        [forked.body.id, forked.body.title, forked.body.forkedFrom],
        [id, 'Mine', { threadId, messageId }],
      )
      const again = await client.post<ForkBody>(path, { messageId, id })
      assert.deepEqual([again.status, again.body.title], [200, 'Mine'])
      const own = (await readMessages(client, id)).results
      const source = (await readMessages(client, threadId)).results.slice(2)
      const shape = (messages: readonly UiMessage[]) =>
        JSON.stringify(messages.map(({ role, parts }) => [role, parts])).replaceAll(
          /"toolCallId":"[^"]+"/g,
          '',
        )
      assert.equal(shape(own), shape(source))
      assert.notEqual(own[0]?.id, source[0]?.id)
      await readChunks(await openChat(client, { threadId: id }, userText('hello')))
      assert.equal((await readMessages(client, threadId)).results.length, 4)
      const listed = await client.get<ForkBody>(`/api/threads/${id}`)
      assert.deepEqual(listed.body.forkedFrom, { threadId, messageId })
      assertError(await client.post(path, { messageId: 'nobody' }), 404, 'message-not-found')
      assertError(await client.post(path, { messageId: 7 }), 400, 'bad-id')
      assertError(await client.post(path, { title: 7 }), 400, 'bad-request')
      assertError(await client.post(path, []), 400, 'bad-request')
      assertError(await client.post(`/api/threads/${newId('t')}/fork`), 404, 'thread-not-found')
    },
  },
  {
    id: 'VR4',
    claim: 'forks and shows nothing of another owner’s thread',
    needs: 'two-owners',
    async check(fixture) {
      const one = createHttpClient(fixture, 'one')
      const other = createHttpClient(fixture, 'other')
      const { threadId, messageId } = await converse(one, 'hello')
      assertError(await other.post(`/api/threads/${threadId}/fork`), 404, 'thread-not-found')
      assertError(await show(other, threadId, messageId), 404, 'thread-not-found')
      const mine = await converse(other, 'hello')
      const taken = { id: threadId }
      const refused = await other.post(`/api/threads/${mine.threadId}/fork`, taken)
      assertError(refused, 404, 'thread-not-found')
    },
  },
]

interface ForkBody extends ThreadBody {
  readonly forkedFrom?: { readonly threadId: string; readonly messageId: string }
}
