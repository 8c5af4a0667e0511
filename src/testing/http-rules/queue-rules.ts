import assert from 'node:assert/strict'
import type { ThreadView } from '../../core/fold-thread.ts'
import { callsOf } from '../../core/message.ts'
import type { ShownInput } from '../../views/queue-view.ts'
import {
  openChat,
  postChat,
  readChunks,
  readMessages,
  type Chunk,
  typesOf,
  untilChunk,
  userText,
} from './chat-requests.ts'
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

/** Starts a turn that takes far longer than a rule, and returns its open stream. */
async function openSlow(client: HttpClient, threadId: string): Promise<Response> {
  const stream = await openChat(client, { threadId }, userText('slow tool 60'))
  assert.equal(stream.status, 200)
  return stream
}

/** The last turn does nothing but wait for a tool: its step has ended in the commit that started the call. */
const runsTool = ({ messages }: ThreadView): boolean => {
  const last = messages.at(-1)
  return last?.role === 'assistant' && [...callsOf(last)].some(({ state }) => state === 'running')
}

const rolesOf = async (client: HttpClient, threadId: string) =>
  (await readMessages(client, threadId)).results.map(({ role }) => role).toReversed()

export const queueRules: readonly HttpRule[] = [
  {
    id: 'IN1',
    claim: 'answers a queued message after the running turn, each in its own response',
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
      'shows queued inputs in the thread, in pages and in frames; they can be edited, moved and withdrawn',
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
    claim: 'lets a steering message join the turn at its next step, and shows it where it joined',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const first = await openChat(client, { threadId, query: '?sdk=7' }, userText('slow tool 5'))
      const start = await untilChunk(first, ({ type }) => type === 'tool-input-available')
      assert.ok(start)
      const message = userText('weather in Paris')
      const steered = await openChat(client, { threadId, query: '?sdk=7' }, message, {
        whenBusy: 'steer',
      })
      const chunks = await readChunks(steered)
      const types = typesOf(chunks)
      const at = types.indexOf('steering-message')
      assert.deepEqual(chunks[at], {
        type: 'steering-message',
        id: message.id,
        parts: message.parts,
      })
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
    claim: 'holds queued inputs when it is stopped, and releases them on request',
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
    claim: 'stores the same input once, refuses its id with other content, and a bad whenBusy',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const stream = await openSlow(client, threadId)
      const message = userText('hello')
      const twice = [
        await openChat(client, { threadId }, message),
        await openChat(client, { threadId }, message),
      ]
      assert.equal((await readQueue(client, threadId)).length, 1)
      const body = { id: threadId, messages: [userText('other', message.id)] }
      assertError(await client.post('/api/chat', body), 409, 'conflict')
      assertError(await client.post('/api/chat', { ...body, whenBusy: 'later' }), 400)
      await client.post(`/api/chat/${threadId}/stop`)
      await Promise.all([stream, ...twice].map(readChunks))
    },
  },
  {
    id: 'IN2',
    claim: 'hides the queue from other owners, for reading and for changes',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const other = createHttpClient(fixture, 'other')
      if (JSON.stringify(client.headers) === JSON.stringify(other.headers)) return
      const threadId = newId('thread')
      const stream = await openSlow(client, threadId)
      const message = userText('hello')
      const waiting = await openChat(client, { threadId }, message)
      const place = `/api/threads/${threadId}/queue`
      assertError(await other.get(place), 404)
      assertError(await other.send('PATCH', `${place}/${message.id}`, { text: 'mine' }), 404)
      assertError(await other.send('DELETE', `${place}/${message.id}`), 404)
      assertError(await other.post(`${place}/release`), 404)
      assert.equal((await readQueue(client, threadId)).length, 1)
      await client.post(`/api/chat/${threadId}/stop`)
      await Promise.all([stream, waiting].map(readChunks))
    },
  },
  {
    id: 'IN3',
    claim:
      'refuses every verb on the id of a message that joined a turn, waits, is hidden or is of another thread, and stores nothing',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const slow = await openChat(client, { threadId }, userText('slow tool 1'))
      await untilChunk(slow, ({ type }) => type === 'tool-input-available')
      const [steered, hidden, edited, queued] = ['a', 'b', 'c', 'd'].map((text) => userText(text))
      if (!steered || !hidden || !edited || !queued) throw new Error('four messages')
      const whenBusy = 'steer'
      await readChunks(await openChat(client, { threadId }, steered, { whenBusy }))
      await readChunks(await openChat(client, { threadId }, hidden))
      await readChunks(await openChat(client, { threadId }, edited, { messageId: hidden.id }))
      const other = userText('elsewhere')
      await readChunks(await openChat(client, { threadId: newId('thread') }, other))

      const thread = `/api/threads/${threadId}`
      /** What a verb could change. No turn writes any of it meanwhile: whatever differs is of a verb. */
      const read = async () => {
        const { results } = await readMessages(client, threadId)
        const shown = results.map(({ id, role, metadata }) => ({ id, role, metadata }))
        return { shown, queue: await readQueue(client, threadId) }
      }
      const refuseAll = async (id: string, ...except: readonly string[]) => {
        const before = await read()
        const edit = { messageId: id }
        const verbs: Readonly<Record<string, () => Promise<Response>>> = {
          edit: () => openChat(client, { threadId }, userText('other words'), edit),
          'edit under its id': () => openChat(client, { threadId }, userText('other', id), edit),
          regenerate: () =>
            postChat(client, {
              id: threadId,
              trigger: 'regenerate-message',
              ...edit,
              messages: [],
            }),
          show: () => postTo(client, `${thread}/messages/${id}/show`, {}),
          fork: () => postTo(client, `${thread}/fork`, { messageId: id }),
          feedback: () =>
            postTo(client, `/api/messages/${id}/feedback`, { rating: 'up', threadId }),
        }
        for (const [verb, call] of Object.entries(verbs)) {
          if (except.includes(verb)) continue
          const response = await call()
          assert.notEqual(response.status, 200, verb)
          const body = (await response.json()) as { readonly error?: { readonly code: string } }
          const isTaken = verb === 'edit under its id' && body.error?.code === 'conflict'
          assert.deepEqual(
            [verb, response.status, body.error?.code],
            [verb, ...(isTaken ? [409, 'conflict'] : [404, 'message-not-found'])],
          )
        }
        assert.deepEqual(await read(), before)
      }
      await refuseAll(steered.id)
      // A hidden message can be shown again, and is not an answer (FK4); one of another thread is new under its id here.
      await refuseAll(hidden.id, 'show', 'feedback')
      await refuseAll(other.id, 'edit under its id')
      const stream = await openSlow(client, threadId)
      // Until its tool runs, the turn may still write which models it has tried: metadata that no verb has changed.
      const feed = await openFeed(client, threadId)
      await feed.until(runsTool)
      await feed.close()
      const waiting = await openChat(client, { threadId }, queued)
      await refuseAll(queued.id)
      await Promise.all([stream.body?.cancel(), waiting.body?.cancel()])
      await client.post(`/api/chat/${threadId}/stop`, {})
    },
  },
]

const postTo = (client: HttpClient, path: string, body: object): Promise<Response> =>
  client.open(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
