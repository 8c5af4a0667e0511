import assert from 'node:assert/strict'
import type { JsonObject } from '../../core/json.ts'
import { assertError, createHttpClient, newId } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

interface ToolBody {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly approval: string
  readonly repeatable: boolean
  readonly version: string
}

export const aboutRules: readonly HttpRule[] = [
  {
    id: 'HT1',
    claim: 'reports its health, its store and its version',
    async check(fixture) {
      const { status, body } = await createHttpClient(fixture).get<JsonObject>('/api/health')
      assert.equal(status, 200)
      assert.deepEqual(Object.keys(body).toSorted(), ['status', 'store', 'version'])
      assert.equal(body['status'], 'ok')
      assert.match(JSON.stringify(body['version']), /^"\d+\.\d+\.\d+/)
    },
  },
  {
    id: 'HT1',
    claim: 'lists its tools with their schemas and policies',
    async check(fixture) {
      const { body } = await createHttpClient(fixture).get<{ readonly results: ToolBody[] }>(
        '/api/tools',
      )
      const byName = new Map(body.results.map((tool) => [tool.name, tool]))
      for (const tool of body.results) {
        assert.deepEqual(Object.keys(tool).toSorted(), [
          'approval',
          'description',
          'inputSchema',
          'name',
          'repeatable',
          'version',
        ])
        assert.equal(tool.inputSchema['type'], 'object')
        const isCareful = tool.name === 'delete_note' || tool.name === 'charge_card'
        assert.equal(tool.repeatable, !isCareful, tool.name)
      }
      assert.equal(byName.get('delete_note')?.approval, 'always')
      assert.equal(byName.get('get_weather')?.approval, 'never')
    },
  },
  {
    id: 'HT1',
    claim: 'responds in JSON to unknown paths and unsupported methods',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const thread = newId('thread')
      assertError(await client.get('/api/nothing'), 404, 'not-found')
      assertError(await client.send('DELETE', '/api/health'), 405, 'method-not-allowed')
      assertError(await client.get(`/api/threads/${thread}`), 404, 'thread-not-found')
      assertError(await client.get('/api/threads/%E0%A4%A'), 400, 'bad-request')
    },
  },
  {
    id: 'HT1',
    claim: 'lists the allowed methods with 405, and responds to HEAD like GET without the body',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const refused = await client.open('/api/threads', { method: 'PUT' })
      await refused.text()
      assert.equal(refused.status, 405)
      assert.equal(refused.headers.get('allow'), 'POST, GET')
      for (const [path, status] of [
        ['/api/health', 200],
        ['/api/threads', 200],
        [`/api/threads/${newId('thread')}`, 404],
      ] as const) {
        const head = await client.open(path, { method: 'HEAD' })
        assert.equal(head.status, status, path)
        // Some runtimes add the character set.
        assert.match(head.headers.get('content-type') ?? '', /^application\/json\b/)
        assert.equal(await head.text(), '')
      }
    },
  },
]
