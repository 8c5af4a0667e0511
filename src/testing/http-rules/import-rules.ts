import assert from 'node:assert/strict'
import type { ToolCallRecord } from '../../views/tool-call-record.ts'
import { readMessages, userText } from './chat-talk.ts'
import { assertError, createHttpClient, newId } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

interface Report {
  readonly threads: number
  readonly messages: number
  readonly calls: number
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
    claim: 'imports a thread, says what it read, and changes nothing the second time',
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
    id: 'PG7',
    claim: 'leaves large results out of a page that asks for it, and gives them one by one',
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
