import assert from 'node:assert/strict'
import { converse, openChat, readChunks, userText } from './chat-requests.ts'
import {
  assertError,
  createHttpClient,
  newId,
  type PageBody,
  type ThreadBody,
} from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

type ThreadList = Omit<PageBody<ThreadBody>, 'seq' | 'live'>

export const threadRules: readonly HttpRule[] = [
  {
    id: 'HT1',
    claim: 'creates a thread, with or without an id, and returns an existing one',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const id = newId('thread')
      const created = await client.post<ThreadBody>('/api/threads', { id, title: 'Tea' })
      assert.equal(created.status, 201)
      assert.deepEqual([created.body.id, created.body.title], [id, 'Tea'])
      const again = await client.post<ThreadBody>('/api/threads', { id, title: 'Coffee' })
      assert.equal(again.status, 200)
      assert.deepEqual(again.body, created.body)
      const other = await client.post<ThreadBody>('/api/threads', {})
      assert.equal(other.status, 201)
      assert.notEqual(other.body.id, id)
      assert.match(other.body.createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    },
  },
  {
    id: 'HT1',
    claim: 'reads, renames and deletes a thread, and what is in it with it',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'weather in Paris')
      const path = `/api/threads/${threadId}`
      const renamed = await client.send<ThreadBody>('PATCH', path, { title: 'Paris' })
      assert.deepEqual([renamed.status, renamed.body.title], [200, 'Paris'])
      assert.equal((await client.get<ThreadBody>(path)).body.title, 'Paris')
      assert.equal((await client.send('DELETE', path)).status, 204)
      for (const gone of [path, `${path}/messages`, `${path}/events`]) {
        assertError(await client.get(gone), 404, 'thread-not-found')
      }
      assertError(await client.get(`/api/messages/${messageId}/tool-calls`), 404)
      assertError(await client.send('DELETE', path), 404, 'thread-not-found')
    },
  },
  {
    id: 'HT1',
    claim: 'lists threads with the newest activity first, page by page, none lost and none twice',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const ids = [newId('thread'), newId('thread'), newId('thread')]
      for (const id of ids) await client.post('/api/threads', { id })
      const [first = ''] = ids
      await readChunks(await openChat(client, { threadId: first }, userText('hello')))
      const wanted = [first, ...ids.slice(1).toReversed()]
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
        const { body } = await client.get<ThreadList>(`/api/threads?limit=2${more}`)
        assert.ok(body.results.length <= 2)
        assert.equal(body.nextCursor === null, !body.hasMore)
        seen.push(...body.results.map(({ id }) => id))
        cursor = body.nextCursor
      } while (cursor !== null && !wanted.every((id) => seen.includes(id)))
      assert.equal(new Set(seen).size, seen.length)
      assert.deepEqual(
        seen.filter((id) => wanted.includes(id)),
        wanted,
      )
    },
  },
  {
    id: 'PG4',
    claim: 'refuses a cursor of another list, and limits outside 1 to 200',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'hello', 'hello again')
      const page = await client.get<PageBody>(`/api/threads/${threadId}/messages?limit=1`)
      const cursor = encodeURIComponent(page.body.nextCursor ?? '')
      assertError(await client.get(`/api/threads?cursor=${cursor}`), 400, 'bad-cursor')
      assertError(await client.get('/api/threads?cursor=zzz'), 400, 'bad-cursor')
      for (const limit of ['0', '201', '-1', '1.5', 'ten', '']) {
        assertError(await client.get(`/api/threads?limit=${limit}`), 400, 'bad-limit')
        const messages = `/api/threads/${threadId}/messages?limit=${limit}`
        assertError(await client.get(messages), 400, 'bad-limit')
      }
    },
  },
]
