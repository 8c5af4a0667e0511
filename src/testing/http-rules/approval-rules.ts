import assert from 'node:assert/strict'
import { decisionOf, note, untilEnded, waitFor } from './approval-requests.ts'
import {
  postChat,
  readCalls,
  readChunks,
  readMessages,
  typesOf,
  userText,
} from './chat-requests.ts'
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
    claim: 'continues in the same message when the call is decided',
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
    claim: 'ends every waiting call when it is stopped, and refuses a decision after that',
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
    claim: 'responds to approvals posted to the chat with only what follows them',
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
  {
    id: 'AP2',
    claim:
      'refuses an answer posted to the chat that is contrary to the decision, and repeats one that agrees with it',
    async check(fixture) {
      const client = createHttpClient(fixture)
      for (const sdk of ['6', '7']) {
        const waiting = await waitFor(client, `delete notes ${note()} and ${note()}`)
        const [message] = (await readMessages(client, waiting.threadId, `?sdk=${sdk}`)).results
        /** What each call is answered with; an absent one is left as it is. */
        const answered = (...approved: readonly (boolean | undefined)[]) => {
          let place = 0
          const parts = message?.parts.map((part) => {
            if (!('approval' in part) || part.approval === undefined) return part
            const answer = approved[place++]
            const approval = { ...part.approval, approved: answer }
            return answer === undefined ? part : { ...part, state: 'approval-responded', approval }
          })
          return { ...message, parts }
        }
        const postMessages = (...messages: readonly object[]) =>
          postChat(client, { id: waiting.threadId, messages }, `?sdk=${sdk}`)
        const post = (...approved: readonly (boolean | undefined)[]) =>
          postMessages(answered(...approved))
        const refused = async (response: Response, decision: string) => {
          const body = (await response.json()) as {
            readonly error?: Readonly<Record<string, string>>
          }
          const { code, decision: made, decidedBy } = body.error ?? {}
          assert.deepEqual(
            [response.status, code, made, typeof decidedBy],
            [409, 'already-decided', decision, 'string'],
          )
        }
        const taken = async (response: Response) => {
          assert.equal(response.status, 200)
          assert.equal(typesOf(await readChunks(response))[0], 'start')
        }
        await taken(await post(false))
        await refused(await post(true), 'rejected')
        // One of them is new: the stream answers it.
        await taken(await post(true, false))
        await refused(await post(false, true), 'rejected')
        await refused(await post(true, false), 'rejected')
        await taken(await post(false, false))
        const calls = await readCalls(client, waiting.messageId)
        assert.deepEqual(
          calls.map(({ state }) => state),
          ['denied', 'denied'],
        )
        // In front of a new message, old answers are history, which is not read.
        await taken(await postMessages(answered(true, true), userText('hello')))
      }
    },
  },
]
