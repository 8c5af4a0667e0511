import assert from 'node:assert/strict'
import { converse, readMessages, userText } from './chat-requests.ts'
import {
  assertError,
  createHttpClient,
  type HttpClient,
  newId,
  type ThreadBody,
} from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

const json = { 'content-type': 'application/json' }

async function refuse(
  client: HttpClient,
  path: string,
  init: RequestInit,
  status: number,
): Promise<void> {
  const response = await client.open(path, { method: 'POST', ...init })
  const body: unknown = await response.json()
  assertError({ status: response.status, contentType: '', body }, status)
}

export const badInputRules: readonly HttpRule[] = [
  {
    id: 'HT3',
    claim:
      'refuses a body that is not JSON, too large, too deep, of too many keys or of another type',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const id = newId('thread')
      const deep = `${'['.repeat(65)}${']'.repeat(65)}`
      const wide = `{${Array.from({ length: 25_001 }, (_, nth) => `"k${nth}":1`).join(',')}}`
      for (const path of ['/api/threads', '/api/chat']) {
        await refuse(client, path, { headers: json, body: '{' }, 400)
        await refuse(client, path, { headers: json, body: '' }, 400)
        await refuse(client, path, { headers: json, body: '[]' }, 400)
        await refuse(client, path, { headers: json, body: 'null' }, 400)
        await refuse(client, path, { headers: json, body: `{"id":"${id}","x":${deep}}` }, 400)
        await refuse(client, path, { headers: json, body: `{"id":"${id}","x":${wide}}` }, 400)
        await refuse(client, path, { headers: json, body: new Uint8Array([0x22, 0xff, 0x22]) }, 400)
        const text = JSON.stringify({ id, title: 'x' })
        await refuse(client, path, { headers: { 'content-type': 'text/plain' }, body: text }, 415)
        await refuse(client, path, { body: new TextEncoder().encode(text) }, 415)
        const large = JSON.stringify({ id, title: 'x'.repeat(1_100_000) })
        await refuse(client, path, { headers: json, body: large }, 413)
      }
      // An import may be larger, not deeper.
      const old = `{"id":"${id}","messages":[{"role":"user","content":${deep}}]}`
      await refuse(client, '/api/import', { headers: json, body: old }, 400)
      assertError(await client.get(`/api/threads/${id}`), 404)
    },
  },
  {
    id: 'HT3',
    claim: 'accepts a nesting of 64 levels, and keys like __proto__ as data',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const deep = `${'['.repeat(63)}${']'.repeat(63)}`
      const body = `{"title":"ok","__proto__":{"id":"stolen"},"constructor":1,"x":${deep}}`
      const response = await client.open('/api/threads', { method: 'POST', headers: json, body })
      const thread = (await response.json()) as ThreadBody
      assert.equal(response.status, 201)
      assert.notEqual(thread.id, 'stolen')
      const id = newId('thread')
      const message = userText('hello')
      const chat = `{"id":"${id}","messages":[${JSON.stringify(message).slice(0, -1)},"metadata":{"__proto__":{"a":1},"constructor":{"prototype":2}}}]}`
      const sent = await client.open('/api/chat', { method: 'POST', headers: json, body: chat })
      assert.equal(sent.status, 200)
      await sent.text()
      assert.equal((await readMessages(client, id)).results.length, 2)
    },
  },
  {
    id: 'CL6b',
    claim:
      'refuses a body of more values or keys than can be handled without a pause, and accepts a large one',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const send = (count: number, item: (nth: number) => string) => {
        const items = Array.from({ length: count }, (_, nth) => item(nth))
        const body = `{"title":"many","x":[${items.join(',')}]}`
        return client.open('/api/threads', { method: 'POST', headers: json, body })
      }
      assert.equal((await send(90_000, () => '0')).status, 201)
      assert.equal((await send(24_000, (nth) => `{"k${nth}":0}`)).status, 201)
      for (const refused of [
        await send(110_000, () => '0'),
        await send(26_000, (nth) => `{"k${nth}":0}`),
      ]) {
        assert.equal(refused.status, 400)
        assert.match(await refused.text(), /more than 100,000 values .* 25,000 different keys/)
      }
    },
  },
  {
    id: 'HT3',
    claim: 'refuses a chat without a message, and with one it cannot read, and stores nothing',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const id = newId('thread')
      const message = userText('hello')
      for (const body of [
        {},
        { id },
        { id, messages: [] },
        { id, messages: 'hello' },
        { id, messages: [null] },
        { id, messages: [{ ...message, id: undefined }] },
        { id, messages: [{ ...message, id: 7 }] },
        { id, messages: [{ ...message, id: 'x'.repeat(201) }] },
        { id, messages: [{ ...message, id: '\u0000' }] },
        { id, messages: [{ ...message, role: 'system' }] },
        { id, messages: [{ ...message, role: 'tool' }] },
        { id, messages: [{ ...message, parts: [] }] },
        { id, messages: [{ ...message, parts: [{ type: 'text', text: '  ' }] }] },
        { id, messages: [{ ...message, parts: [{ type: 'file', url: 1 }] }] },
        { id, messages: [{ ...message, parts: 'hello' }] },
        { id: '', messages: [message] },
        { id: { a: 1 }, messages: [message] },
        { id, messages: [message], trigger: 'explode' },
        { id, messages: [message], messageId: 5 },
      ]) {
        assertError(await client.post('/api/chat', body), 400)
      }
      assertError(await client.post('/api/chat?sdk=9', { id, messages: [message] }), 400)
      assertError(await client.post('/api/chat?protocol=x', { id, messages: [message] }), 400)
      const edit = { id, messages: [message], messageId: newId('user') }
      assertError(await client.post('/api/chat', edit), 404)
      assertError(await client.get(`/api/threads/${id}`), 404, 'thread-not-found')
    },
  },
  {
    id: 'HT3',
    claim: 'refuses titles, decisions and ids of the wrong kind, and changes nothing',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId } = await converse(client, `delete note ${newId('Nothing')}`)
      const before = await readMessages(client, threadId)
      const path = `/api/threads/${threadId}`
      for (const title of [1, null, {}, 'x'.repeat(501)]) {
        assertError(await client.send('PATCH', path, { title }), 400)
      }
      assertError(await client.send('PATCH', path, {}), 400)
      for (const id of [7, null, '', {}]) {
        assertError(await client.post('/api/threads', { id }), 400, 'bad-id')
      }
      assertError(await client.get(`/api/threads/${'x'.repeat(201)}`), 400, 'bad-id')
      for (const body of [{}, { decisions: {} }, { decisions: [1] }, { decisions: [{}] }]) {
        assertError(await client.post(`${path}/decisions`, body), 400)
      }
      assert.deepEqual(await readMessages(client, threadId), before)
    },
  },
]
