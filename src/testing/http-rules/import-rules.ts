import assert from 'node:assert/strict'
import type { ToolCallRecord } from '../../views/tool-call-record.ts'
import { readMessages, userText } from './chat-requests.ts'
import { assertError, createHttpClient, newId } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

interface Report {
  readonly threads: number
  readonly messages: number
  readonly dryRun?: true
  readonly calls: number
  readonly callsByState: Readonly<Record<string, number>>
  readonly mended: readonly unknown[]
  readonly failed: readonly unknown[]
}

const largeText = 'x'.repeat(20_000)

const oldThread = (id: string, question: string) => ({
  id,
  messages: [
    userText('What is in it?', question),
    {
      id: newId('old'),
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        {
          type: 'tool-read_note',
          toolCallId: newId('call'),
          state: 'output-available',
          input: { title: 'Ideas' },
          output: { text: largeText },
        },
        { type: 'step-start' },
        { type: 'text', text: 'A lot.' },
      ],
    },
  ],
})

export const importRules: readonly HttpRule[] = [
  {
    id: 'LE5',
    claim: 'imports a thread, reports what it read, and changes nothing the second time',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const thread = oldThread(newId('thread'), newId('user'))
      const { status, body } = await client.post<Report>('/api/import?format=ui', thread)
      assert.equal(status, 200)
      assert.deepEqual([body.threads, body.messages, body.calls], [1, 2, 1])
      assert.deepEqual([body.mended, body.failed], [[], []])
      const before = await readMessages(client, thread.id)
      assert.deepEqual(
        before.results.map(({ role }) => role),
        ['assistant', 'user'],
      )
      assert.equal((await client.post('/api/import', thread)).status, 200)
      assert.deepEqual(await readMessages(client, thread.id), before)
    },
  },
  {
    id: 'LE5',
    claim: 'imports messages whose ids cannot be ids under others, and reports it',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const id = newId('thread')
      const messages = [
        { id: `\u0000${newId('old')}`, role: 'user', content: 'Hello?' },
        { id: `\u0000${newId('old')}`, role: 'assistant', content: 'Hello.' },
      ]
      const { status, body } = await client.post<Report>('/api/import', { id, messages })
      assert.equal(status, 200)
      assert.deepEqual([body.mended.length, body.failed], [2, []])
      const { results } = await readMessages(client, id)
      assert.deepEqual(
        results.map(({ role }) => role),
        ['assistant', 'user'],
      )
    },
  },
  {
    id: 'LE6',
    claim: 'shows a rejected call as rejected, in every format, and counts it so',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const id = newId('thread')
      const call = newId('call')
      const row = (entity: string, more: object) => ({
        ...{ id: newId('row'), entity, content: '', isComplete: true, ...more },
      })
      const called = { toolCallId: call, name: 'delete_note', arguments: '{}', validated: false }
      const messages = [
        row('USER', { content: 'Delete Ideas' }),
        row('AI_TOOL', { toolCalls: [called] }),
        row('TOOL', { content: JSON.stringify({ tool_call_id: call, content: 'No.' }) }),
        row('AI_MESSAGE', { content: 'I left it.' }),
      ]
      const { body } = await client.post<Report>('/api/import', { id, messages })
      assert.deepEqual(body.callsByState, { denied: 1 })
      const shown = async (format: string) => {
        const page = await readMessages(client, id, `?format=${format}`)
        return JSON.stringify(page.results)
      }
      assert.match(await shown('vercel'), /"validated":"rejected"/)
      assert.match(await shown('entities'), /"validated":"rejected"/)
      assert.match(await shown('chat'), /"state":"denied"/)
      assert.match(await shown('ui'), /"state":"output-(denied|error)"/)
    },
  },
  {
    id: 'LE8',
    claim: 'imports its own pages, newest first, one after the other, into the same thread',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const [from, time] = [newId('thread'), Date.parse('2024-01-01T00:00:00Z')]
      const message = (role: string, nth: number) => ({
        ...{ id: newId(role), role, content: `${role} ${nth}` },
        createdAt: new Date(time + nth * 1_000).toISOString(),
      })
      const messages = [0, 2, 4, 6].flatMap((nth) => [
        message('user', nth),
        message('assistant', nth + 1),
      ])
      await client.post('/api/import', { id: from, messages })
      for (const format of ['ui', 'vercel', 'entities', 'chat']) {
        const to = newId('thread')
        let cursor: string | null = null
        do {
          const next: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
          const page = await readMessages(client, from, `?format=${format}&limit=3${next}`)
          const query = `/api/import?thread=${to}`
          const { status, body } = await client.post<Report>(query, page)
          assert.deepEqual([status, body.failed], [200, []])
          cursor = page.nextCursor
        } while (cursor !== null)
        const [first, second] = [
          await readMessages(client, from, '?format=chat'),
          await readMessages(client, to, '?format=chat'),
        ].map(({ results }) => results.map((message) => (message as { content?: unknown }).content))
        assert.deepEqual(second, first, format)
      }
    },
  },
  {
    id: 'LE5',
    claim: 'reports with dryRun what an import would do, and writes nothing',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const thread = oldThread(newId('thread'), newId('user'))
      const dry = await client.post<Report>('/api/import?dryRun=1', thread)
      assert.deepEqual([dry.status, dry.body.dryRun], [200, true])
      assert.equal((await client.get(`/api/threads/${thread.id}`)).status, 404)
      const { body } = await client.post<Report>('/api/import', thread)
      assert.deepEqual({ ...body, dryRun: true }, dry.body)
      const again = await client.post<Report>('/api/import?dryRun=true', thread)
      assert.deepEqual(again.body.callsByState, { succeeded: 1 })
      assertError(await client.post('/api/import?dryRun=perhaps', thread), 400)
      assertError(await client.post('/api/import?thread=a%00b', thread), 400)
    },
  },
  {
    id: 'PG7',
    claim: 'leaves large results out of a page on request, and returns them one by one',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const thread = oldThread(newId('thread'), newId('user'))
      await client.post('/api/import', thread)
      for (const format of ['ui', 'vercel', 'entities', 'chat']) {
        const query = `?format=${format}&results=lazy`
        const lazy = JSON.stringify(await readMessages(client, thread.id, query))
        assert.ok(!lazy.includes(largeText), format)
        const found = /holdfast:lazy\W+bytes\W+(\d+)\W+href[\\":]+([^"\\]+)/.exec(lazy)
        assert.ok(Number(found?.[1]) > 16_000, `${format}: ${lazy.slice(0, 300)}`)
        const call = await client.get<ToolCallRecord>(found?.[2] ?? '')
        assert.deepEqual(call.body.result, { text: largeText })
        const full = await readMessages(client, thread.id, `?format=${format}`)
        assert.ok(JSON.stringify(full).includes(largeText), format)
      }
    },
  },
  {
    id: 'HT3',
    claim: 'refuses an import that cannot be read at all',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const post = async (body: string, type: string) => {
        const init = { method: 'POST', body, headers: { 'content-type': type } }
        const response = await client.open('/api/import', init)
        const answer: unknown = await response.json()
        return { status: response.status, contentType: '', body: answer }
      }
      assertError(await post('', 'application/json'), 400)
      assertError(await post('not json', 'application/json'), 400)
      assertError(await post('{}', 'text/csv'), 415)
      assertError(await client.post('/api/import?format=csv', {}), 400)
    },
  },
]
