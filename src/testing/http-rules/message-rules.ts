import assert from 'node:assert/strict'
import type { ChatMessage } from '../../views/chat-message.ts'
import type { EntityRow } from '../../views/entity-rows.ts'
import type { VercelMessage } from '../../views/vercel-message.ts'
import {
  converse,
  nameThread,
  openChat,
  readChunks,
  readMessages,
  userText,
} from './chat-requests.ts'
import { assertError, createHttpClient, newId } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

export const messageRules: readonly HttpRule[] = [
  {
    id: 'FD1',
    claim: 'returns AI SDK messages, newest first, with the seq they were read at',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'time in Oslo and weather there')
      await nameThread(client, threadId)
      const page = await readMessages(client, threadId)
      const explicit = await readMessages(client, threadId, '?format=ui')
      assert.deepEqual(page, explicit)
      assert.deepEqual([page.hasMore, page.nextCursor], [false, null])
      assert.ok(page.seq > 0)
      const [answer, question] = page.results
      assert.deepEqual([answer?.role, question?.role], ['assistant', 'user'])
      assert.equal(answer?.id, messageId)
      const kinds = answer?.parts.map(({ type }) => type)
      assert.deepEqual(kinds?.slice(0, 3), ['step-start', 'tool-get_time', 'tool-get_weather'])
      assert.deepEqual(kinds?.slice(3), ['step-start', 'text'])
    },
  },
  {
    id: 'FD1',
    claim: 'includes the tool’s name in each tool part on request',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'time in Oslo and weather there')
      await nameThread(client, threadId)
      const named = await readMessages(client, threadId, '?toolNames=include')
      const plain = await readMessages(client, threadId)
      const tools = named.results[0]?.parts.filter(({ type }) => type.startsWith('tool-')) ?? []
      const names = tools.map((part) => ('toolName' in part ? part.toolName : undefined))
      assert.deepEqual(names, ['get_time', 'get_weather'])
      const without = JSON.parse(
        JSON.stringify(named, (key, value: unknown) => (key === 'toolName' ? undefined : value)),
      ) as unknown
      assert.deepEqual(without, plain)
    },
  },
  {
    id: 'FD2',
    claim: 'returns AI SDK 4 messages with the final text as content',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'search my notes for milk')
      const page = await readMessages<VercelMessage>(client, threadId, '?format=vercel')
      const [answer, question] = page.results
      assert.equal(answer?.id, messageId)
      assert.equal(question?.content, 'search my notes for milk')
      assert.equal(answer?.parts?.at(-1)?.type, 'text')
      assert.ok(answer?.parts?.some(({ type }) => type === 'tool-invocation'))
      assert.deepEqual(answer?.annotations?.at(-1), { messageId, isComplete: true })
    },
  },
  {
    id: 'FD5',
    claim: 'returns the same thread as entity rows',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'weather in Rome')
      const page = await readMessages<EntityRow>(client, threadId, '?format=entities')
      const kinds = page.results.map(({ entity }) => entity)
      assert.deepEqual(kinds, ['AI_MESSAGE', 'TOOL', 'AI_TOOL', 'USER'])
      assert.ok(page.results.every(({ isComplete }) => isComplete))
    },
  },
  {
    id: 'FD6',
    claim: 'returns the chat view with commentary on each call',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'search my notes for milk')
      const page = await readMessages<ChatMessage>(client, threadId, '?format=chat')
      const [answer] = page.results
      assert.equal(answer?.id, messageId)
      assert.equal(answer?.toolCalls?.[0]?.name, 'search_notes')
      assert.match(String(answer?.toolCalls?.[0]?.commentary), /search/i)
      assert.doesNotMatch(answer?.content ?? '', /Let me search/)
    },
  },
  {
    id: 'FD6',
    claim: 'shows in the chat view whether a turn is active, and which tool runs',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const stream = await openChat(client, { threadId }, userText('slow tool 30'))
      const activity = async () => {
        const page = await readMessages<ChatMessage>(client, threadId, '?format=chat')
        assert.equal(page.results[0]?.role, 'assistant')
        return page.results[0].toolActivity
      }
      let seen = await activity()
      for (; seen?.currentStep === undefined; seen = await activity()) {
        assert.equal(seen?.isActive, true)
      }
      assert.deepEqual([seen.isActive, seen.currentStep], [true, 'slow_tool'])
      await client.post(`/api/chat/${threadId}/stop`)
      await readChunks(stream)
      const after = await activity()
      assert.deepEqual([after?.isActive, after?.currentStep, after?.failed], [false, undefined, 1])
      const waiting = await converse(client, 'delete note Ideas')
      const page = await readMessages<ChatMessage>(client, waiting.threadId, '?format=chat')
      const { isActive, waiting: open } = page.results[0]?.toolActivity ?? {}
      assert.deepEqual([isActive, open], [false, 1])
    },
  },
  {
    id: 'PG2',
    claim: 'returns the whole thread at every page size, in every format',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'call 30 tools', 'hello', 'weather in Paris')
      for (const format of ['ui', 'vercel', 'entities', 'chat']) {
        const whole = await readMessages(client, threadId, `?format=${format}&limit=200`)
        for (const limit of [1, 2, 5]) {
          const rows: unknown[] = []
          let query = `?format=${format}&limit=${limit}`
          for (let more = true; more;) {
            const page = await readMessages(client, threadId, query)
            rows.push(...page.results)
            more = page.hasMore
            query = `?format=${format}&limit=${limit}&cursor=${page.nextCursor}`
          }
          assert.deepEqual(rows, whole.results)
        }
      }
    },
  },
  {
    id: 'FD8',
    claim: 'responds to the older query in the older shape',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'weather in Rome', 'hello')
      const path = `/api/threads/${threadId}/messages`
      interface Older {
        readonly next_cursor: string | null
        readonly has_more: boolean
        readonly page_size: number
        readonly results: readonly { readonly entity?: string; readonly role?: string }[]
      }
      const first = await client.get<Older>(`${path}?vercel_format=true&page_size=1`)
      assert.deepEqual(Object.keys(first.body).toSorted(), [
        'has_more',
        'next_cursor',
        'page_size',
        'results',
      ])
      assert.deepEqual([first.body.page_size, first.body.has_more], [1, true])
      const cursor = encodeURIComponent(first.body.next_cursor ?? '')
      const next = await client.get<Older>(
        `${path}?vercel_format=true&page_size=1&cursor=${cursor}`,
      )
      assert.deepEqual(
        [first.body.results[0]?.role, next.body.results[0]?.role],
        ['assistant', 'user'],
      )
      for (const query of ['vercel_format=false&entity=USER,TOOL', 'entity=USER,TOOL']) {
        const rows = await client.get<Older>(`${path}?${query}`)
        const kinds = rows.body.results.map(({ entity }) => entity)
        assert.deepEqual(kinds, ['USER', 'TOOL', 'USER'])
      }
      const filtered = await client.get<Older>(`${path}?vercel_format=true&entity=USER&page_size=2`)
      const roles = filtered.body.results.map(({ role }) => role)
      assert.deepEqual([roles, filtered.body.has_more], [['user', 'user'], false])
      const called = await client.get<Older>(`${path}?vercel_format=true&entity=TOOL`)
      assert.equal(called.body.results.length, 1)
      const oldest = await client.get<Older>(`${path}?vercel_format=false&sort=creation_date`)
      const newest = await client.get<Older>(`${path}?vercel_format=false&sort=-creation_date`)
      assert.deepEqual(oldest.body.results, newest.body.results.toReversed())
      const bad = ['sort=name', 'entity=NOPE', 'entity=', 'page_size=0', 'vercel_format=maybe']
      for (const query of bad) {
        assertError(await client.get(`${path}?${query}`), 400)
      }
    },
  },
  {
    id: 'FD1',
    claim: 'leaves out the turn that is being produced, and returns its id',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const threadId = newId('thread')
      const stream = await openChat(client, { threadId }, userText('slow tool 30'))
      const page = await readMessages(client, threadId, '?live=exclude')
      assert.deepEqual(
        page.results.map(({ role }) => role),
        ['user'],
      )
      for (const format of ['vercel', 'entities', 'chat']) {
        const other = await readMessages(client, threadId, `?format=${format}&live=exclude`)
        assert.deepEqual([other.results.length, other.live], [1, page.live], format)
      }
      const older = await client.get<Pick<typeof page, 'results' | 'live'>>(
        `/api/threads/${threadId}/messages?vercel_format=true&live=exclude`,
      )
      assert.deepEqual([older.body.results.length, older.body.live], [1, page.live])
      const whole = await readMessages(client, threadId, '?live=include')
      const { messageId = '' } = page.live ?? {}
      if (whole.results[0]?.role === 'assistant') assert.equal(whole.results[0].id, messageId)
      await client.post(`/api/chat/${threadId}/stop`)
      const chunks = await readChunks(stream)
      assert.equal(chunks[0]?.['messageId'], messageId)
      const after = await readMessages(client, threadId, '?live=exclude')
      assert.equal(after.live, null)
      assert.equal(after.results[0]?.id, messageId)
    },
  },
  {
    id: 'HT3',
    claim: 'refuses unknown values in the query of a page',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, 'hello')
      const bad = [
        'format=xml',
        'live=maybe',
        'results=some',
        'sdk=4',
        'cursor=%00',
        'toolNames=maybe',
        'format=chat&toolNames=include',
        'format=ui&format=ui',
      ]
      for (const query of bad) {
        assertError(await client.get(`/api/threads/${threadId}/messages?${query}`), 400)
      }
    },
  },
]
