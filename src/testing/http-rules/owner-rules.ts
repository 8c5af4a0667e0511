import assert from 'node:assert/strict'
import { converse, openChat, readCalls, readMessages, userText } from './chat-requests.ts'
import {
  assertError,
  createHttpClient,
  newId,
  type PageBody,
  type ThreadBody,
} from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

export const ownerRules: readonly HttpRule[] = [
  {
    id: 'HT2',
    claim: 'shows nothing of another owner, in any route',
    needs: 'two-owners',
    async check(fixture) {
      const one = createHttpClient(fixture, 'one')
      const other = createHttpClient(fixture, 'other')
      const { threadId, messageId } = await converse(one, `delete note ${newId('Nothing')}`)
      const [call] = await readCalls(one, messageId)
      const before = await readMessages(one, threadId)
      const thread = `/api/threads/${threadId}`
      const callPath = `${thread}/tool-calls/${call?.id}`
      for (const path of [
        thread,
        `${thread}/messages`,
        `${thread}/messages?format=entities`,
        `${thread}/events`,
        callPath,
        `/api/messages/${messageId}/tool-calls`,
        `/api/chat/${threadId}/stream?message=${messageId}`,
      ]) {
        assertError(await other.get(path), 404)
      }
      // The same response as for a thread that never existed: another owner must not learn whether it exists.
      assert.equal((await other.open(`/api/chat/${threadId}/stream`)).status, 204)
      const [answer] = before.results
      for (const [method, path, body] of [
        ['PATCH', thread, { title: 'mine' }],
        ['DELETE', thread, undefined],
        ['POST', '/api/threads', { id: threadId }],
        ['POST', `${callPath}/decision`, { decision: 'accept' }],
        ['POST', `${callPath}/resolve`, { resolution: 'skip' }],
        ['POST', `${thread}/decisions`, { decisions: [{ callId: call?.id, decision: 'accept' }] }],
        ['POST', '/api/chat', { id: threadId, messages: [userText('hello')] }],
        ['POST', '/api/chat', { id: threadId, trigger: 'regenerate-message', messages: [] }],
        ['POST', '/api/chat', { id: threadId, messages: [answered(answer)] }],
        ['POST', `/api/chat/${threadId}/stop`, undefined],
        ['POST', `/api/chat/${threadId}/continue`, undefined],
      ] as const) {
        assertError(await other.send(method, path, body), 404)
      }
      assert.deepEqual(await readMessages(one, threadId), before)
      const list = await other.get<PageBody<ThreadBody>>('/api/threads?limit=200')
      assert.ok(!list.body.results.some(({ id }) => id === threadId))
    },
  },
  {
    id: 'HT2',
    claim: 'does not decide a call of one’s own through a thread of another’s, or the reverse',
    needs: 'two-owners',
    async check(fixture) {
      const one = createHttpClient(fixture, 'one')
      const other = createHttpClient(fixture, 'other')
      const { messageId } = await converse(one, `delete note ${newId('Nothing')}`)
      const [call] = await readCalls(one, messageId)
      const threadId = newId('thread')
      await (await openChat(other, { threadId }, userText('hello'))).text()
      const path = `/api/threads/${threadId}/tool-calls/${call?.id}`
      assertError(await other.get(path), 404, 'call-not-found')
      assertError(await other.post(`${path}/decision`, { decision: 'accept' }), 404)
      const [still] = await readCalls(one, messageId)
      assert.equal(still?.state, 'awaiting-approval')
    },
  },
  {
    id: 'HT2',
    claim: 'requires authentication for everything but its health',
    needs: 'two-owners',
    async check({ baseUrl }) {
      const nobody = createHttpClient({ baseUrl })
      assert.equal((await nobody.get('/api/health')).status, 200)
      assert.deepEqual((await nobody.get('/api/ready')).body, { status: 'ready' })
      for (const path of ['/api/threads', '/api/tools', '/metrics']) {
        assertError(await nobody.get(path), 401, 'not-authenticated')
      }
    },
  },
]

interface Answered {
  readonly parts: readonly object[]
}
const answered = (message: Answered | undefined): object => ({
  ...message,
  parts: message?.parts.map((part) =>
    'approval' in part
      ? { ...part, state: 'approval-responded', approval: { approved: true } }
      : part,
  ),
})
