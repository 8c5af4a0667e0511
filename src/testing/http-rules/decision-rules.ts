import assert from 'node:assert/strict'
import { decisionOf, note, untilEnded, waitFor } from './approval-requests.ts'
import { converse, readCalls } from './chat-requests.ts'
import { assertError, createHttpClient, newId } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

export const decisionRules: readonly HttpRule[] = [
  {
    id: 'AP2',
    claim:
      'responds to a repeated decision the same way, and to another one with the decision that was made',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const waiting = await waitFor(client, `delete note ${note()}`)
      const path = decisionOf(waiting, waiting.calls[0])
      const answers = await Promise.all(
        [0, 1, 2].map(() => client.post(path, { decision: 'reject' })),
      )
      for (const answer of [...answers, await client.post(path, { decision: 'reject' })]) {
        assert.deepEqual([answer.status, answer.body], [200, { status: 'rejected' }])
      }
      const error = assertError(await client.post(path, { decision: 'accept' }), 409)
      assert.equal(error.code, 'already-decided')
      assert.equal(error['decision'], 'rejected')
      assert.equal(typeof error['decidedBy'], 'string')
    },
  },
  {
    id: 'AP3',
    claim: 'accepts edited arguments that fit, and refuses those that do not',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const waiting = await waitFor(client, `delete note ${note()}`)
      const path = decisionOf(waiting, waiting.calls[0])
      for (const args of [{ title: 7 }, {}, null, 'Ideas', []]) {
        const refused = await client.post(path, { decision: 'accept', args })
        const { message } = assertError(refused, 422, 'invalid-args')
        // The message is for a person who edits the arguments: one sentence, without JSON.
        assert.doesNotMatch(message, /[\n{}]/)
      }
      const [still] = await readCalls(client, waiting.messageId)
      assert.equal(still?.state, 'awaiting-approval')
      const title = note()
      const accepted = await client.post(path, { decision: 'accept', args: { title } })
      assert.deepEqual(accepted.body, { status: 'accepted' })
      await untilEnded(client, waiting)
      const [call] = await readCalls(client, waiting.messageId)
      assert.deepEqual(call?.arguments, { title })
      const again = await client.post(path, { decision: 'accept', args: { title } })
      assert.equal(again.status, 200)
      const other = await client.post(path, { decision: 'accept', args: { title: 'x' } })
      assertError(other, 409, 'already-decided')
    },
  },
  {
    id: 'AP6',
    claim: 'decides several calls in one request, with one result each, in order',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const [a, b, c] = [note(), note(), note()]
      const waiting = await waitFor(client, `delete notes ${a}, ${b} and ${c}`)
      const [first, second, third] = waiting.calls
      const missing = newId('call')
      const { status, body } = await client.post<{
        readonly results: readonly { readonly error?: { readonly code: string } }[]
      }>(`/api/threads/${waiting.threadId}/decisions`, {
        decisions: [
          { callId: first?.id, decision: 'reject' },
          { callId: missing, decision: 'reject' },
          { callId: second?.id, decision: 'accept', args: { title: 1 } },
          { callId: third?.id, decision: 'reject', feedback: 'no' },
        ],
      })
      assert.equal(status, 200)
      assert.deepEqual(body.results[0], { callId: first?.id, status: 'rejected' })
      assert.deepEqual(body.results[1]?.error?.code, 'call-not-found')
      assert.deepEqual(body.results[2]?.error?.code, 'invalid-args')
      assert.deepEqual(body.results[3], { callId: third?.id, status: 'rejected' })
      const [, open] = await readCalls(client, waiting.messageId)
      assert.equal(open?.state, 'awaiting-approval')
    },
  },
  {
    id: 'AP9',
    claim: 'refuses a decision on a call that does not wait or does not exist',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const conversation = await converse(client, 'weather in Paris')
      const [call] = await readCalls(client, conversation.messageId)
      const decided = await client.post(decisionOf(conversation, call), { decision: 'accept' })
      assertError(decided, 409, 'not-waiting')
      const other = await converse(client, 'hello')
      assertError(await client.post(decisionOf(other, call), { decision: 'accept' }), 404)
      assertError(await client.post(decisionOf(conversation, call), { decision: 'perhaps' }), 400)
    },
  },
]
