import assert from 'node:assert/strict'
import { isJsonObject, type Json } from '../../core/json.ts'
import type { UiMessage } from '../../views/ui-message.ts'
import {
  converse,
  nameThread,
  openChat,
  readChunks,
  readMessages,
  untilChunk,
  userText,
} from './chat-requests.ts'
import { assertError, createHttpClient, type HttpClient } from './http-client.ts'
import type { HttpRule } from './http-rule.ts'

interface GivenBody {
  readonly messageId: string
  readonly feedback: { readonly by: string; readonly rating: string; readonly at: string } | null
  readonly seq: number
}

const postFeedback = (client: HttpClient, messageId: string, body: unknown) =>
  client.post<GivenBody>(`/api/messages/${encodeURIComponent(messageId)}/feedback`, body)

const feedbackIn = (message: UiMessage | undefined): Json | undefined => {
  const metadata: Json | undefined = message?.metadata
  return isJsonObject(metadata) ? metadata.feedback : undefined
}

export const feedbackRules: readonly HttpRule[] = [
  {
    id: 'FK4',
    claim: 'keeps a person’s feedback in the metadata of the answer, until they change it',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'hello')
      await nameThread(client, threadId)
      const comment = 'Not what I asked. 😀'
      const down = await postFeedback(client, messageId, { rating: 'down', comment })
      assert.equal(down.status, 200)
      const by = down.body.feedback?.by
      assert.equal(typeof by, 'string')
      const { at, ...feedback } = down.body.feedback ?? {}
      assert.deepEqual(feedback, { by, rating: 'down', comment })
      assert.equal(Number.isNaN(Date.parse(at ?? '')), false)
      const page = await readMessages(client, threadId)
      assert.deepEqual(feedbackIn(page.results[0]), [{ ...feedback, at }])
      assert.equal(page.seq, down.body.seq)
      const up = await postFeedback(client, messageId, { rating: 'up', threadId })
      assert.equal(up.body.feedback?.rating, 'up')
      assert.deepEqual((await postFeedback(client, messageId, { rating: 'up' })).body, up.body)
      const [shown] = (await readMessages(client, threadId)).results
      const [entry] = feedbackIn(shown) as readonly Json[]
      assert.ok(isJsonObject(entry))
      assert.deepEqual([entry.by, entry.rating, entry.comment], [by, 'up', undefined])
      const none = await postFeedback(client, messageId, { rating: null })
      assert.equal(none.body.feedback, null)
      const [after] = (await readMessages(client, threadId)).results
      assert.equal(feedbackIn(after), undefined)
    },
  },
  {
    id: 'FK4',
    claim:
      'refuses feedback that is malformed, not on an answer, on another owner’s, or on a running turn',
    async check(fixture) {
      const client = createHttpClient(fixture)
      const { threadId, messageId } = await converse(client, 'hello')
      for (const body of [
        ...[{}, { rating: 'good' }, { rating: 1 }, { rating: 'up', comment: 1 }, [], 'up', null],
        { rating: 'up', comment: 'x'.repeat(2_001) },
        { rating: null, comment: 'why' },
      ]) {
        assertError(await postFeedback(client, messageId, body), 400, 'bad-request')
      }
      const up = { rating: 'up' }
      assertError(await postFeedback(client, 'nowhere', up), 404, 'message-not-found')
      const [, user] = (await readMessages(client, threadId)).results
      assertError(
        await postFeedback(client, user?.id ?? '', { ...up, threadId }),
        409,
        'not-an-answer',
      )
      assertError(await postFeedback(client, user?.id ?? '', up), 404, 'message-not-found')
      if (fixture.headersOf !== undefined) {
        const other = createHttpClient(fixture, 'other')
        assertError(await postFeedback(other, messageId, up), 404, 'message-not-found')
        assertError(
          await postFeedback(other, messageId, { ...up, threadId }),
          404,
          'message-not-found',
        )
      }
      const stream = await openChat(client, { threadId }, userText('slow tool 30'))
      const { messageId: live } = await untilChunk(stream, ({ type }) => type === 'start')
      assert.ok(typeof live === 'string')
      assertError(await postFeedback(client, live, up), 409, 'run-active')
      await client.post(`/api/chat/${threadId}/stop`)
      await readChunks(await client.open(`/api/chat/${threadId}/stream?message=${live}`))
      assert.equal((await postFeedback(client, live, up)).status, 200)
    },
  },
]
