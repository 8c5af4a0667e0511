import assert from 'node:assert/strict'
import type { ToolCallList, ToolCallRecord } from '../../views/tool-call-record.ts'
import { converse, readCalls } from './chat-requests.ts'
import { assertError, createHttpClient, newId } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

export const toolCallRules: readonly HttpRule[] = [
  {
    id: 'CL9',
    claim: 'lists what succeeded, and with include=all every call, in call order',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { messageId } = await converse(client, 'fail tool')
      const path = `/api/messages/${messageId}/tool-calls`
      const some = await client.get<ToolCallList>(path)
      const all = await client.get<ToolCallList>(`${path}?include=all`)
      assert.deepEqual([some.body.isComplete, all.body.isComplete], [true, true])
      assert.deepEqual(
        all.body.toolCalls.map(({ state }) => state),
        ['succeeded', 'failed', 'succeeded'],
      )
      assert.deepEqual(
        some.body.toolCalls,
        all.body.toolCalls.filter(({ state }) => state === 'succeeded'),
      )
      assert.ok(all.body.toolCalls.every(({ isPartial }) => !isPartial))
      assertError(await client.get(`${path}?include=some`), 400, 'bad-request')
      assertError(await client.get(`/api/messages/${newId('msg')}/tool-calls`), 404)
    },
  },
  {
    id: 'CL8',
    claim: 'returns one call with its whole result',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'weather in Paris')
      const [listed] = await readCalls(client, messageId)
      const path = `/api/threads/${threadId}/tool-calls`
      const { status, body } = await client.get<ToolCallRecord>(`${path}/${listed?.id}`)
      assert.equal(status, 200)
      assert.deepEqual(body, listed)
      const { id, providerCallId, createdAt, startedAt, completedAt, result, ...rest } = body
      assert.deepEqual(rest, {
        messageId,
        threadId,
        name: 'get_weather',
        arguments: { city: 'Paris' },
        state: 'succeeded',
        isPartial: false,
        status: 'completed',
        validated: 'not_required',
        step: 0,
      })
      assert.notEqual(id, providerCallId)
      assert.notEqual(result, undefined)
      for (const date of [createdAt, startedAt, completedAt]) assert.match(String(date), /Z$/)
      assertError(await client.get(`${path}/${newId('call')}`), 404, 'call-not-found')
    },
  },
  {
    id: 'CL5',
    claim: 'returns the error of a failed call, and the results of the others',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { messageId } = await converse(client, 'fail tool')
      const [first, second, third] = await readCalls(client, messageId)
      assert.deepEqual([second?.cause, second?.status], ['tool-error', 'error'])
      assert.equal(typeof second?.error, 'string')
      for (const call of [first, third]) assert.notEqual(call?.result, undefined)
    },
  },
  {
    id: 'CR3',
    claim: 'resolves only a call whose outcome is unknown',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'weather in Paris')
      const [call] = await readCalls(client, messageId)
      const path = `/api/threads/${threadId}/tool-calls`
      const known = await client.post(`${path}/${call?.id}/resolve`, { resolution: 'skip' })
      assertError(known, 409)
      const missing = await client.post(`${path}/${newId('call')}/resolve`, { resolution: 'skip' })
      assertError(missing, 404, 'call-not-found')
      const odd = await client.post(`${path}/${call?.id}/resolve`, { resolution: 'maybe' })
      assertError(odd, 400, 'bad-request')
    },
  },
]
