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

type KeptThread = ThreadBody & {
  readonly pinned: boolean
  readonly archived: boolean
  readonly seq: number
}
type KeptList = Omit<PageBody<KeptThread>, 'seq' | 'live'>

export const keepRules: readonly HttpRule[] = [
  {
    id: 'FK2',
    claim: 'pins and archives a thread: the list leaves the archive out, and each list has its own',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const ids = [newId('thread'), newId('thread'), newId('thread')] as const
      for (const id of ids) await client.post('/api/threads', { id, title: id })
      const list = async (query: string) => {
        const seen: string[] = []
        for (let cursor: string | null = ''; cursor !== null;) {
          const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
          const page: { readonly body: KeptList } = await client.get<KeptList>(
            `/api/threads?limit=1${query}${more}`,
          )
          seen.push(...page.body.results.map(({ id }) => id))
          cursor = page.body.nextCursor
        }
        return seen.filter((id) => ids.some((own) => own === id))
      }
      const change = (id: string, body: object) =>
        client.send<KeptThread>('PATCH', `/api/threads/${id}`, body)
      const [first, second, third] = ids
      const archived = await change(second, { archived: true })
      assert.deepEqual([archived.body.pinned, archived.body.archived], [false, true])
      const both = await change(first, { title: 'Kept', pinned: true })
      assert.deepEqual([both.body.title, both.body.pinned], ['Kept', true])
      assert.deepEqual(await list(''), [third, first])
      assert.deepEqual(await list('&archived=1'), [second])
      assert.deepEqual(await list('&pinned=1'), [first])
      assert.deepEqual(await list('&pinned=1&archived=1'), [])
      // Setting a flag to its current value stores nothing.
      assert.equal((await change(first, { pinned: true })).body.seq, both.body.seq)
      const back = await change(second, { archived: false, pinned: true })
      assert.deepEqual([back.body.pinned, back.body.archived], [true, false])
      assert.deepEqual(await list('&pinned=1'), [second, first])
    },
  },
  {
    id: 'FK2',
    claim: 'removes a thread from the archive when a message arrives, and notifies its followers',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'hello')
      const path = `/api/threads/${threadId}`
      await client.send('PATCH', path, { archived: true, pinned: true })
      assert.equal((await client.get<KeptThread>(path)).body.archived, true)
      await readChunks(await openChat(client, { threadId }, userText('hello again')))
      const { body } = await client.get<KeptThread>(path)
      assert.deepEqual([body.archived, body.pinned], [false, true])
    },
  },
  {
    id: 'FK2',
    claim: 'refuses flags that are not booleans, and changes nothing',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const id = newId('thread')
      await client.post('/api/threads', { id, title: 'Tea' })
      const path = `/api/threads/${id}`
      const before = (await client.get<KeptThread>(path)).body
      for (const wrong of [1, 'true', null, {}, []]) {
        for (const name of ['pinned', 'archived']) {
          const body = { title: 'Coffee', [name]: wrong }
          assertError(await client.send('PATCH', path, body), 400, 'bad-request')
        }
      }
      assertError(await client.send('PATCH', path, {}), 400, 'bad-request')
      assertError(await client.send('PATCH', path, { pinned: true, title: 7 }), 400, 'bad-request')
      assert.deepEqual((await client.get<KeptThread>(path)).body, before)
      for (const query of ['archived=true', 'archived=', 'pinned=0', 'pinned=1&pinned=1']) {
        assertError(await client.get(`/api/threads?${query}`), 400, 'bad-request')
      }
      const page = await client.get<KeptList>('/api/threads?limit=1')
      if (page.body.nextCursor !== null) {
        const cursor = encodeURIComponent(page.body.nextCursor)
        assertError(await client.get(`/api/threads?archived=1&cursor=${cursor}`), 400, 'bad-cursor')
      }
    },
  },
]
