import assert from 'node:assert/strict'
import { foldThread } from '../../core/fold-thread.ts'
import { toChanges } from '../../protocol/event-frame.ts'
import { projectUiMessage } from '../../views/ui-message.ts'
import { converse, openChat, readChunks, readMessages, userText } from './chat-requests.ts'
import { isEnded, openFeed } from './event-feed.ts'
import { assertError, createHttpClient, newId } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

export const eventRules: readonly HttpRule[] = [
  {
    id: 'RS2',
    claim: 'delivers every change once, in order, live, and the fold of it is the page',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      await client.post('/api/threads', { id: threadId })
      const feed = await openFeed(client, threadId)
      const stream = await openChat(client, { threadId }, userText('search my notes for milk'))
      await Promise.all([feed.until(isEnded), readChunks(stream)])
      const page = await readMessages(client, threadId)
      // A title may follow the answer (FK3): the feed must contain all that the page contains.
      const view = await feed.until(({ seq }) => seq >= page.seq)
      const folded = view.messages.map((message) => projectUiMessage(message))
      assert.deepEqual(JSON.parse(JSON.stringify(folded.toReversed())), page.results)
      await feed.close()
    },
  },
  {
    id: 'RS2',
    claim: 'sends a snapshotted turn as its whole state, and the fold of it is the page',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'weather in Paris')
      const feed = await openFeed(client, threadId, { after: 0 })
      const view = await feed.until(isEnded)
      const turns = feed.frames.flatMap((frame) => ('turn' in frame ? [frame.turn] : []))
      assert.deepEqual(
        turns.map(({ id }) => id),
        [messageId],
      )
      const page = await readMessages(client, threadId)
      const folded = view.messages.map((message) => projectUiMessage(message))
      assert.deepEqual(JSON.parse(JSON.stringify(folded.toReversed())), page.results)
      await feed.close()
    },
  },
  {
    id: 'RS2',
    claim: 'continues from any place that a client has reached',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      await client.post('/api/threads', { id: threadId })
      const feed = await openFeed(client, threadId)
      await readChunks(await openChat(client, { threadId }, userText('weather in Paris')))
      const whole = await feed.until(isEnded)
      await feed.close()
      const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
      for (const { seq } of feed.frames.slice(0, -1)) {
        const upTo = feed.frames.filter((frame) => frame.seq <= seq)
        const from = foldThread({ seq: 0, messages: [] }, upTo.flatMap(toChanges))
        const again = await openFeed(client, threadId, { after: seq, from })
        const view = await again.until(({ seq: reached }) => reached >= whole.seq)
        assert.deepEqual(json(view.messages), json(whole.messages))
        await again.close()
      }
    },
  },
  {
    id: 'RS2',
    claim: 'prefers Last-Event-ID to the address',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'hello')
      const { seq } = await readMessages(client, threadId)
      const feed = await openFeed(client, threadId, { after: 0, lastEventId: seq })
      await readChunks(await openChat(client, { threadId }, userText('hello again')))
      await feed.until(isEnded)
      assert.equal(feed.frames[0]?.after, seq)
      await feed.close()
    },
  },
  {
    id: 'RS2',
    claim: 'refuses a place that is malformed or that the thread has not reached',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'hello')
      const { seq } = await readMessages(client, threadId)
      const path = `/api/threads/${threadId}/events`
      // A title may follow the answer (FK3): the thread may grow by a few seqs, but not by a thousand.
      const ahead = String(seq + 1000)
      for (const after of ['-1', '1.5', 'x', '', '1e3', ahead, '99999999999999999999']) {
        assertError(await client.get(`${path}?after=${after}`), 400, 'bad-request')
        const response = await client.open(path, { headers: { 'last-event-id': after || 'x' } })
        assert.equal(response.status, 400)
        await response.body?.cancel()
      }
    },
  },
  {
    id: 'RS2',
    claim: 'sends a comment as soon as it is connected',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      await client.post('/api/threads', { id: threadId })
      const feed = await openFeed(client, threadId)
      await feed.comment()
      assert.deepEqual(feed.frames, [])
      await feed.close()
    },
  },
  {
    id: 'RS2',
    claim: 'delivers a new title to every follower',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      await client.post('/api/threads', { id: threadId })
      const feeds = await Promise.all([openFeed(client, threadId), openFeed(client, threadId)])
      await client.send('PATCH', `/api/threads/${threadId}`, { title: 'New' })
      for (const feed of feeds) {
        await feed.until(({ title }) => title === 'New')
        await feed.close()
      }
    },
  },
  {
    id: 'OP6',
    claim:
      'continues from the id of a frame or the place of a page, and refuses those of another history',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'hello')
      const { seq, place } = await readMessages(client, threadId)
      const feed = await openFeed(client, threadId, { after: 0 })
      await feed.until(({ seq: reached }) => reached >= seq)
      await feed.close()
      for (const known of [feed.place, place]) {
        const again = await openFeed(client, threadId, { lastEventId: known })
        await again.comment()
        await again.close()
      }
      await client.send('DELETE', `/api/threads/${threadId}`)
      for (const text of ['hello', 'hello again']) {
        await readChunks(await openChat(client, { threadId }, userText(text)))
      }
      for (const known of [feed.place, place]) {
        const path = `/api/threads/${threadId}/events?after=${encodeURIComponent(known)}`
        assertError(await client.get(path), 409, 'other-history')
      }
    },
  },
]
