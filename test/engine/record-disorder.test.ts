import { setImmediate } from 'node:timers/promises'
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { callsOf, type Turn } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { readChunks } from '../../src/testing/http-rules/chat-requests.ts'
import { createRandom, type Random } from '../../src/testing/random.ts'
import { describe, expect, it } from 'vitest'
import { createFixture, messageId, textOf } from './fixture.ts'

type StreamPart = { readonly type: string; readonly [field: string]: unknown }

const text = (id: string, ...pieces: readonly string[]): readonly StreamPart[] => [
  { type: 'text-start', id },
  ...pieces.map((piece) => ({ type: 'text-delta', id, text: piece })),
  { type: 'text-end', id },
]
const call = (toolCallId: string, more: object = {}): readonly StreamPart[] => [
  { type: 'tool-input-start', id: toolCallId, toolName: 'look', ...more },
  { type: 'tool-input-delta', id: toolCallId, delta: '{"q":1}' },
  { type: 'tool-input-end', id: toolCallId },
  { type: 'tool-call', toolCallId, toolName: 'look', input: { q: 1 }, ...more },
]
const result = (toolCallId: string, more: object = {}): StreamPart => ({
  type: 'tool-result',
  toolCallId,
  toolName: 'look',
  output: `of ${toolCallId}`,
  ...more,
})

/** What a loop in good order says. */
const whole: readonly StreamPart[] = [
  { type: 'start' },
  { type: 'start-step' },
  { type: 'data-plan', id: 'p', data: 1 },
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', text: 'hm' },
  { type: 'reasoning-end', id: 'r' },
  ...text('t1', 'aa', 'bb'),
  ...call('a'),
  ...call('b'),
  ...call('p', { providerExecuted: true }),
  result('p', { preliminary: true, providerExecuted: true }),
  result('p', { providerExecuted: true }),
  result('a', { preliminary: true }),
  result('a'),
  { type: 'tool-error', toolCallId: 'b', error: new Error('no') },
  { type: 'finish-step', finishReason: 'tool-calls' },
  { type: 'start-step' },
  { type: 'tool-call', toolCallId: 'n', toolName: 'ask', input: {} },
  { type: 'tool-approval-request', approvalId: 'ap', toolCall: { toolCallId: 'n' } },
  {
    type: 'tool-approval-response',
    approvalId: 'ap',
    toolCall: { toolCallId: 'n' },
    approved: false,
  },
  { type: 'tool-output-denied', toolCallId: 'n', toolName: 'ask' },
  { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com/' },
  { type: 'file', file: { mediaType: 'text/plain', base64: 'aGk=' } },
  ...text('t2', 'cc', 'dd'),
  { type: 'raw', rawValue: 1 },
  { type: 'finish-step', finishReason: 'stop' },
  { type: 'finish', finishReason: 'stop' },
]

/** Parts out of place, twice, and of ids that nobody knows. */
function disorder(random: Random): readonly StreamPart[] {
  const parts = [...whole]
  for (let moves = random.int(parts.length); moves >= 0; moves--) {
    const [moved] = parts.splice(random.int(parts.length), 1)
    if (moved !== undefined) parts.splice(random.int(parts.length + 1), 0, moved)
  }
  for (let copies = random.int(12); copies >= 0; copies--) {
    const copied = parts[random.int(parts.length)]
    // Text that is said twice is said twice, and a call that is asked about twice waits for an answer.
    if (copied !== undefined && !/-delta$|approval-request$/.test(copied.type)) {
      parts.splice(random.int(parts.length + 1), 0, copied)
    }
  }
  if (random.chance(0.5)) parts.splice(random.int(parts.length), 0, result('nobody'))
  if (random.chance(0.3))
    parts.splice(random.int(parts.length), 0, { type: 'text-end', id: 'nobody' })
  if (random.chance(0.3)) parts.splice(random.int(parts.length), 0, { type: 'tool-call' })
  return parts
}

async function* from(parts: readonly StreamPart[], random: Random): AsyncGenerator<StreamPart> {
  for (const part of parts) {
    if (random.chance(0.2)) await setImmediate()
    yield part
  }
}

/** The message that the AI SDK's own reader makes of a response. */
async function readLive(response: Response): Promise<UIMessage | undefined> {
  const chunks = await readChunks<UIMessageChunk>(response)
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream, terminateOnError: true }))
    last = message
  return last
}

const lettersOf = (turn: Turn): string => textOf(turn).join('').split('').toSorted().join('')

describe('a loop that says things twice and in the wrong order', () => {
  it.each(Array.from({ length: 100 }, (_, seed) => seed))(
    '[CL12 CL2 LG4] loses no text and leaves nothing open, and what is shown live is stored: seed %i',
    async (seed) => {
      const random = createRandom(seed)
      const fixture = await createFixture(() => [], { textDelayMs: 1 })
      const { holdfast, threadId } = fixture
      const recording = await holdfast.record(from(disorder(random), random), {
        threadId,
        message: { id: messageId('u'), parts: [{ type: 'text', text: 'go' }] },
      })
      if (recording.kind !== 'recording') throw new Error(recording.kind)
      const live = await readLive(recording.toResponse({ sdk: 7 }))
      const given: string[] = []
      for await (const part of recording.stream) {
        if (part.type === 'text-delta') given.push(part.text)
        expect(part.type).not.toBe('error')
      }
      await recording.done
      const turn = await fixture.last()
      expect(lettersOf(turn)).toBe('aabbccdd')
      expect(given.join('').split('').toSorted().join('')).toBe('aabbccdd')
      expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
      for (const { state } of callsOf(turn)) {
        expect(['succeeded', 'failed', 'denied', 'interrupted']).toContain(state)
      }
      const first = (id: string) =>
        [...callsOf(turn)].find(({ providerCallId }) => providerCallId === id)
      expect(first('a')).toMatchObject({ state: 'succeeded', output: { value: 'of a' } })
      expect(first('b')).toMatchObject({ state: 'failed' })
      const handler = createHandler(holdfast, { authenticate: () => ({ id: 'owner' }) })
      const page = await handler(
        new Request(`http://localhost/api/threads/${threadId}/messages?sdk=7`),
      )
      const { results } = (await page.json()) as { readonly results: readonly UIMessage[] }
      expect(JSON.parse(JSON.stringify(live))).toEqual(results[0])
    },
  )
})
