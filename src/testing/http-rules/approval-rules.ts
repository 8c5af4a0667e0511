import assert from 'node:assert/strict'
import type { ToolCallRecord } from '../../views/tool-call-record.ts'
import {
  type Conversation,
  converse,
  readCalls,
  readChunks,
  readMessages,
  typesOf,
} from './chat-talk.ts'
import { isEnded, openFeed } from './event-feed.ts'
import { assertError, createHttpClient, type HttpClient, newId } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

interface Waiting extends Conversation {
  readonly calls: readonly ToolCallRecord[]
}

async function waitFor(client: HttpClient, text: string): Promise<Waiting> {
  const talk = await converse(client, text)
  const calls = await readCalls(client, talk.messageId)
  assert.ok(calls.every(({ state }) => state === 'awaiting-approval'))
  return { ...talk, calls }
}

const decisionOf = ({ threadId }: Conversation, call: ToolCallRecord | undefined) =>
  `/api/threads/${threadId}/tool-calls/${call?.id}/decision`

async function untilEnded(client: HttpClient, { threadId }: Conversation): Promise<void> {
  const feed = await openFeed(client, threadId, { after: 0 })
  await feed.until(isEnded)
  await feed.close()
}

/** Of a note that does not exist, so that whoever runs this keeps their notes. */
const note = () => newId('Nothing')

export const approvalRules: readonly HttpRule[] = [
  {
    id: 'AP1',
    claim: 'ends the stream properly while a call waits, and is not live',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, chunks, messageId } = await waitFor(client, `delete note ${note()}`)
      assert.ok(typesOf(chunks).includes('tool-approval-request'))
      assert.deepEqual(typesOf(chunks).slice(-2), ['finish-step', 'finish'])
      assert.equal((await client.open(`/api/chat/${threadId}/stream`)).status, 204)
      const page = await readMessages(client, threadId, '?live=exclude')
      assert.deepEqual([page.live, page.results[0]?.id], [null, messageId])
      const list = await client.get<{ readonly isComplete: boolean }>(
        `/api/messages/${messageId}/tool-calls`,
      )
      assert.equal(list.body.isComplete, false)
    },
  },
  {
    id: 'AP5',
    claim: 'goes on by itself in the same message when the call is decided',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const waiting = await waitFor(client, `delete note ${note()}`)
      const accepted = await client.post(decisionOf(waiting, waiting.calls[0]), {
        decision: 'accept',
      })
      assert.deepEqual([accepted.status, accepted.body], [200, { status: 'accepted' }])
      await untilEnded(client, waiting)
      const page = await readMessages(client, waiting.threadId)
      assert.deepEqual(
        page.results.map(({ role }) => role),
        ['assistant', 'user'],
      )
      assert.equal(page.results[0]?.id, waiting.messageId)
      assert.equal(page.results[0]?.parts.at(-1)?.type, 'text')
      const [call] = await readCalls(client, waiting.messageId)
      const { kind, by } = call?.decision ?? {}
      assert.equal(kind, 'accepted')
      assert.equal(typeof by, 'string')
      assert.equal(call?.validated, 'accepted')
    },
  },
  {
    id: 'AP4',
    claim: 'keeps a rejection and its reason',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const waiting = await waitFor(client, `delete note ${note()}`)
      const feedback = 'keep it'
      const answer = await client.post(decisionOf(waiting, waiting.calls[0]), {
        decision: 'reject',
        feedback,
      })
      assert.deepEqual(answer.body, { status: 'rejected' })
      await untilEnded(client, waiting)
      const [call] = await readCalls(client, waiting.messageId)
      assert.deepEqual(
        [call?.state, call?.cause, call?.validated],
        ['denied', 'denied', 'rejected'],
      )
      assert.equal(call?.decision?.feedback, feedback)
    },
  },
  {
    id: 'AP2',
    claim: 'answers the same decision again the same way, and another with who decided what',
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
    claim: 'takes edited arguments that fit, and refuses those that do not',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const waiting = await waitFor(client, `delete note ${note()}`)
      const path = decisionOf(waiting, waiting.calls[0])
      for (const args of [{ title: 7 }, {}, null, 'Ideas', []]) {
        assertError(await client.post(path, { decision: 'accept', args }), 422, 'invalid-args')
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
    claim: 'refuses a decision on a call that does not wait or is not there',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const talk = await converse(client, 'weather in Paris')
      const [call] = await readCalls(client, talk.messageId)
      const decided = await client.post(decisionOf(talk, call), { decision: 'accept' })
      assertError(decided, 409, 'not-waiting')
      const other = await converse(client, 'hello')
      assertError(await client.post(decisionOf(other, call), { decision: 'accept' }), 404)
      assertError(await client.post(decisionOf(talk, call), { decision: 'perhaps' }), 400)
    },
  },
  {
    id: 'AP5',
    claim: 'answers approvals that are posted to the chat with what follows them only',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const waiting = await waitFor(client, `delete note ${note()}`)
      const page = await readMessages(client, waiting.threadId, '?sdk=7')
      const [message] = page.results
      const parts = message?.parts.map((part) =>
        'approval' in part && part.approval !== undefined
          ? {
              ...part,
              state: 'approval-responded',
              approval: { ...part.approval, approved: false },
            }
          : part,
      )
      const body = { id: waiting.threadId, messages: [{ ...message, parts }] }
      const response = await client.open('/api/chat?sdk=7', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const types = typesOf(await readChunks(response))
      assert.equal(types[0], 'start')
      assert.ok(types.includes('tool-output-denied'))
      assert.ok(!types.includes('tool-input-start') && types.includes('text-delta'))
      const whole = await client.open(
        `/api/chat/${waiting.threadId}/stream?sdk=7&message=${waiting.messageId}`,
      )
      assert.ok(typesOf(await readChunks(whole)).includes('tool-input-available'))
    },
  },
]
