import assert from 'node:assert/strict'
import type { ShownInput } from '../../views/queue-view.ts'
import {
  openChat,
  readChunks,
  readMessages,
  type Chunk,
  typesOf,
  untilChunk,
  userText,
} from './chat-talk.ts'
import { isEnded, openFeed } from './event-feed.ts'
import {
  assertError,
  createHttpClient,
  type HttpClient,
  newId,
  type ThreadBody,
} from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

const textOf = (chunks: readonly Chunk[]): string =>
  chunks
    .flatMap(({ type, delta }) =>
      type === 'text-delta' && typeof delta === 'string' ? [delta] : [],
    )
    .join('')

const readQueue = async (client: HttpClient, threadId: string) => {
  const { body } = await client.get<{ readonly results: readonly ShownInput[] }>(
    `/api/threads/${threadId}/queue`,
  )
  return body.results
}

/** A turn that takes far longer than a rule; its stream, begun. */
async function openSlow(client: HttpClient, threadId: string): Promise<Response> {
  const stream = await openChat(client, { threadId }, userText('slow tool 60'))
  assert.equal(stream.status, 200)
  return stream
}

const rolesOf = async (client: HttpClient, threadId: string) =>
  (await readMessages(client, threadId)).results.map(({ role }) => role).toReversed()

export const queueRules: readonly HttpRule[] = [
  {
    id: 'IN1',
    claim: 'answers a second message in its turn, each in its own response',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const first = await openChat(client, { threadId }, userText('slow tool 1'))
      const second = await openChat(client, { threadId }, userText('weather in Paris'))
      assert.equal(second.status, 200)
      const [one, two] = await Promise.all([readChunks(first), readChunks(second)])
      assert.deepEqual(typesOf(one).slice(0, 1), ['start'])
      assert.deepEqual(typesOf(two).slice(0, 1), ['start'])
      assert.notEqual(one[0]?.['messageId'], two[0]?.['messageId'])
      assert.match(JSON.stringify(two), /Paris/)
      assert.doesNotMatch(JSON.stringify(one), /Paris/)
      assert.deepEqual(await rolesOf(client, threadId), ['user', 'assistant', 'user', 'assistant'])
    },
  },
  {
    id: 'IN2',
    claim:
      'shows what waits in the thread, in pages and in frames; it can be edited, moved and withdrawn',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const stream = await openSlow(client, threadId)
      const feed = await openFeed(client, threadId)
      const [one, two] = [userText('hello one'), userText('hello two')]
      const waiting = [
        await openChat(client, { threadId }, one),
        await openChat(client, { threadId }, two),
      ]
      const shown = await readQueue(client, threadId)
      assert.deepEqual(
        shown.map(({ id, text, mode, held }) => ({ id, text, mode, held })),
        [one, two].map(({ id, parts }) => ({
          ...{ id, text: parts[0].text, mode: 'queue', held: false },
        })),
      )
      assert.deepEqual(shown[0]?.parts, one.parts)
      assert.equal(new Date(shown[0]?.at ?? '').toISOString(), shown[0]?.at)
      const thread = await client.get<ThreadBody>(`/api/threads/${threadId}`)
      assert.deepEqual(thread.body.queue, shown)
      for (const format of ['ui', 'vercel', 'entities', 'chat']) {
        const page = await readMessages(client, threadId, `?format=${format}`)
        assert.deepEqual(page.queue, shown)
      }
      await feed.until(({ queue }) => queue?.length === 2)
      assert.deepEqual(feed.frames.at(-1)?.queue, shown)

      const place = `/api/threads/${threadId}/queue`
      const edited = await client.send<ShownInput>('PATCH', `${place}/${two.id}`, {
        ...{ text: 'edited', before: one.id },
      })
      assert.deepEqual([edited.status, edited.body.text], [200, 'edited'])
      assert.deepEqual(
        (await readQueue(client, threadId)).map(({ id }) => id),
        [two.id, one.id],
      )
      assert.equal((await client.send('DELETE', `${place}/${two.id}`)).status, 204)
      assert.deepEqual(typesOf(await readChunks(waiting[1] as Response)), ['abort'])
      assertError(await client.send('DELETE', `${place}/${two.id}`), 404)
      assertError(await client.send('PATCH', `${place}/${one.id}`, {}), 400)
      assertError(await client.send('PATCH', `${place}/${one.id}`, { text: ' ' }), 400)
      const [first] = (await readMessages(client, threadId)).results.toReversed()
      const taken = await client.send('PATCH', `${place}/${first?.id}`, { text: 'late' })
      assertError(taken, 409, 'input-taken')
      await client.post(`/api/chat/${threadId}/stop`)
      await Promise.all([readChunks(stream), readChunks(waiting[0] as Response)])
      await feed.close()
    },
  },
  {
    id: 'IN3',
    claim: 'lets what is said join the turn at its next step, and shows it where it joined',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const first = await openChat(client, { threadId, query: '?sdk=7' }, userText('slow tool 5'))
      const start = await untilChunk(first, ({ type }) => type === 'tool-input-available')
      assert.ok(start)
      const said = userText('weather in Paris')
      const steered = await openChat(client, { threadId, query: '?sdk=7' }, said, {
        whenBusy: 'steer',
      })
      const chunks = await readChunks(steered)
      const types = typesOf(chunks)
      const at = types.indexOf('steering-message')
      assert.deepEqual(chunks[at], { type: 'steering-message', id: said.id, parts: said.parts })
      assert.ok(types.indexOf('tool-output-available') < at)
      assert.ok(types.indexOf('start-step', at) > at)
      assert.match(JSON.stringify(chunks.slice(at + 1)), /Paris/)
      assert.deepEqual(await rolesOf(client, threadId), ['user', 'assistant'])
      const old = JSON.stringify((await readMessages(client, threadId)).results)
      assert.match(old, /"data-steering"/)
      for (const format of ['vercel', 'entities', 'chat']) {
        const page = await readMessages(client, threadId, `?format=${format}`)
        assert.match(JSON.stringify(page.results), /weather in Paris/)
      }
    },
  },
  {
    id: 'IN4',
    claim: 'stops the turn for a message that interrupts, and answers that',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const stream = await openSlow(client, threadId)
      const now = userText('weather in Paris')
      const answer = await openChat(client, { threadId }, now, { whenBusy: 'interrupt' })
      assert.match(textOf(await readChunks(answer)), /Paris/)
      assert.deepEqual(typesOf(await readChunks(stream)).slice(-1), ['finish'])
      assert.deepEqual(await rolesOf(client, threadId), ['user', 'assistant', 'user', 'assistant'])
    },
  },
  {
    id: 'IN5',
    claim: 'holds what waits when it is stopped, and sends it on when a person says so',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const stream = await openSlow(client, threadId)
      const waiting = await openChat(client, { threadId }, userText('weather in Paris'))
      const stopped = await client.post(`/api/chat/${threadId}/stop`)
      assert.deepEqual(stopped.body, { status: 'stopped', held: 1 })
      assert.deepEqual(typesOf(await readChunks(waiting)), ['abort'])
      await readChunks(stream)
      assert.deepEqual(
        (await readQueue(client, threadId)).map(({ held }) => held),
        [true],
      )
      const feed = await openFeed(client, threadId)
      const released = await client.post(`/api/threads/${threadId}/queue/release`)
      assert.equal(released.status, 200)
      await feed.until((view) => view.messages.length === 4 && isEnded(view))
      assert.deepEqual(feed.view.queue ?? [], [])
      await feed.close()
    },
  },
  {
    id: 'IN6',
    claim: 'takes the same input once, refuses its id with other content, and a bad whenBusy',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const stream = await openSlow(client, threadId)
      const said = userText('hello')
      const twice = [
        await openChat(client, { threadId }, said),
        await openChat(client, { threadId }, said),
      ]
      assert.equal((await readQueue(client, threadId)).length, 1)
      const body = { id: threadId, messages: [userText('other', said.id)] }
      assertError(await client.post('/api/chat', body), 409, 'conflict')
      assertError(await client.post('/api/chat', { ...body, whenBusy: 'later' }), 400)
      await client.post(`/api/chat/${threadId}/stop`)
      await Promise.all([stream, ...twice].map(readChunks))
    },
  },
  {
    id: 'IN2',
    claim: 'is nobody else’s to see or to change',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const other = createHttpClient(fixture, 'other')
      if (JSON.stringify(client.headers) === JSON.stringify(other.headers)) return
      const threadId = newId('thread')
      const stream = await openSlow(client, threadId)
      const said = userText('hello')
      const waiting = await openChat(client, { threadId }, said)
      const place = `/api/threads/${threadId}/queue`
      assertError(await other.get(place), 404)
      assertError(await other.send('PATCH', `${place}/${said.id}`, { text: 'mine' }), 404)
      assertError(await other.send('DELETE', `${place}/${said.id}`), 404)
      assertError(await other.post(`${place}/release`), 404)
      assert.equal((await readQueue(client, threadId)).length, 1)
      await client.post(`/api/chat/${threadId}/stop`)
      await Promise.all([stream, waiting].map(readChunks))
    },
  },
]
