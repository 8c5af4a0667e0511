import assert from 'node:assert/strict'
import { createHttpClient, newId } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

const routes = [
  ['GET', '/api/health'],
  ['GET', '/api/threads'],
  ['POST', '/api/threads'],
  ['GET', '/api/threads/x/messages'],
  ['GET', '/api/threads/x/events'],
  ['GET', '/api/tools'],
  ['POST', '/api/chat'],
  ['GET', '/api/chat/x/stream'],
  ['POST', '/api/chat/x/stop'],
  ['DELETE', '/api/threads/x'],
] as const

export const originRules: readonly HttpRule[] = [
  {
    id: 'HT4',
    claim: 'refuses pages of other sites on every route, reads too',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const id = newId('thread')
      const own = new URL(fixture.baseUrl)
      const foreign = [
        'http://evil.example',
        'null',
        `${own.protocol}//${own.hostname}:1`,
        `http://${own.host}.evil.example`,
      ]
      for (const [method, path] of routes) {
        for (const origin of foreign) {
          const response = await client.open(path, {
            method,
            headers: { origin, 'content-type': 'application/json' },
            ...(method === 'POST' ? { body: JSON.stringify({ id }) } : {}),
          })
          assert.equal(response.status, 403, `${method} ${path} from ${origin}`)
          const { error } = (await response.json()) as { error: { code: string } }
          assert.equal(error.code, 'foreign-origin')
        }
      }
      assert.equal((await client.get(`/api/threads/${id}`)).status, 404)
    },
  },
  {
    id: 'HT4',
    claim: 'accepts requests of its own pages',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { origin } = new URL(fixture.baseUrl)
      const response = await client.open('/api/threads', { headers: { origin } })
      assert.equal(response.status, 200)
      await response.text()
    },
  },
]
