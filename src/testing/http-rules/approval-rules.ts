import assert from 'node:assert/strict'
import { decisionOf, note, untilEnded, waitFor } from './approval-talk.ts'
import { readCalls, readChunks, readMessages, typesOf } from './chat-talk.ts'
import { createHttpClient } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

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
    id: 'ST1a',
    claim: 'ends the waiting of every call when it is stopped, and refuses a decision after that',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const waiting = await waitFor(client, `delete notes ${note()}, ${note()} and ${note()}`)
      const stop = () => client.post(`/api/chat/${waiting.threadId}/stop`, {})
      assert.deepEqual((await stop()).body, { status: 'stopped' })
      assert.deepEqual((await stop()).body, { status: 'idle' })
      const calls = await readCalls(client, waiting.messageId)
      assert.deepEqual(
        calls.map(({ state, cause, isPartial }) => [state, cause, isPartial]),
        waiting.calls.map(() => ['stopped', 'stopped', false]),
      )
      const late = await client.post<{ readonly error: { readonly code: string } }>(
        decisionOf(waiting, waiting.calls[0]),
        { decision: 'accept' },
      )
      assert.deepEqual([late.status, late.body.error.code], [409, 'not-waiting'])
      const page = await readMessages(client, waiting.threadId)
      assert.equal(JSON.stringify(page.results).includes('approval-requested'), false)
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
