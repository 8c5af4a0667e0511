import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { describe, expect, it } from 'vitest'
import type { Turn } from '../core/message.ts'
import { createRandom, type Random } from '../testing/random.ts'
import { createUiChunkCursor, nextChunks } from '../views/ui-chunks.ts'
import { type AnyChunk, createResumedChunks } from './resume-chunks.ts'
import { turnStates } from '../../test/support/turn-states.ts'

/** What a reader of these streams, one after the other, receives. */
function read(...streams: readonly (readonly AnyChunk[])[]): readonly AnyChunk[] {
  const received = createResumedChunks()
  return streams.flatMap((stream) => {
    received.restart()
    return stream.flatMap((chunk) => received.next(chunk) ?? [])
  })
}

const chunk = (type: string, more: object = {}): AnyChunk => ({ type, ...more })
const start = chunk('start', { messageId: 'm' })
const step = chunk('start-step')
const text = (id: string, ...deltas: readonly string[]) => [
  chunk('text-start', { id }),
  ...deltas.map((delta) => chunk('text-delta', { id, delta })),
]
const end = (id: string, more: object = {}) => chunk('text-end', { id, ...more })
const abandoned = { providerMetadata: { holdfast: { attempt: 'abandoned' } } }
const inputStart = chunk('tool-input-start', { toolCallId: 'c', toolName: 'weather' })
const inputDelta = (inputTextDelta: string) =>
  chunk('tool-input-delta', { toolCallId: 'c', inputTextDelta })
const input = (value: object) =>
  chunk('tool-input-available', { toolCallId: 'c', toolName: 'weather', input: value })
const output = (value: unknown, more: object = {}) =>
  chunk('tool-output-available', { toolCallId: 'c', output: value, ...more })
const data = (value: number) => chunk('data-mood', { id: 'd', data: value })
const file = chunk('file', { url: 'a', mediaType: 'b' })
const finish = chunk('finish', { finishReason: 'stop' })
const saving = chunk('data-holdfast', { data: 'saving', transient: true })

describe('what a reader already has is left out of a further stream', () => {
  type Stream = readonly AnyChunk[]
  it.each<readonly [string, Stream, Stream, Stream]>([
    ['all of it', [start, step, ...text('t', 'ab')], [start, step, ...text('t', 'ab')], []],
    [
      'a delta is cut',
      [start, ...text('t', 'ab', 'c')],
      [start, ...text('t', 'abcde', 'f'), end('t'), finish],
      [
        chunk('text-delta', { id: 't', delta: 'de' }),
        chunk('text-delta', { id: 't', delta: 'f' }),
        end('t'),
        finish,
      ],
    ],
    [
      'the same id in another step is another text',
      [start, step, ...text('0', 'ab'), end('0'), step, ...text('0', 'c')],
      [start, step, ...text('0', 'ab'), end('0'), step, ...text('0', 'cd')],
      [chunk('text-delta', { id: '0', delta: 'd' })],
    ],
    [
      'a text that ended is not ended twice',
      [start, ...text('t', 'ab'), end('t')],
      [start, ...text('t', 'ab'), end('t'), finish],
      [finish],
    ],
    [
      'a mark that stands at the start of a text that is open comes all the same',
      [start, ...text('t', 'ab')],
      [
        start,
        chunk('text-start', { id: 't', ...abandoned }),
        chunk('text-delta', { id: 't', delta: 'ab' }),
        end('t'),
      ],
      [chunk('text-delta', { id: 't', delta: '', ...abandoned }), end('t')],
    ],
    [
      'or with the end that says it',
      [start, ...text('t', 'ab')],
      [start, ...text('t', 'ab'), end('t', abandoned)],
      [end('t', abandoned)],
    ],
    [
      'steps are counted',
      [start, step, chunk('finish-step'), step],
      [start, step, chunk('finish-step'), step, chunk('finish-step'), step],
      [chunk('finish-step'), step],
    ],
    [
      'arguments go on',
      [start, inputStart, inputDelta('{"a')],
      [start, inputStart, inputDelta('{"a":'), inputDelta('1')],
      [inputDelta('":'), inputDelta('1')],
    ],
    [
      'arguments that began anew are counted anew',
      [start, inputStart, inputDelta('[12345'), inputStart, inputDelta('{')],
      [start, inputStart, inputDelta('{"a"')],
      [inputDelta('"a"')],
    ],
    [
      'arguments are the same in any order',
      [start, inputStart, inputDelta('{"a":1,"b"'), input({ a: 1, b: 2 })],
      [start, input({ b: 2, a: 1 }), output(1)],
      [output(1)],
    ],
    [
      'of outputs and of data with an id the last counts',
      [start, output(1, { preliminary: true }), output(2, { preliminary: true }), data(1), data(2)],
      [start, output(1, { preliminary: true }), data(1)],
      [output(1, { preliminary: true }), data(1)],
    ],
    ['two of the same are two', [start, file], [start, file, file], [file]],
    [
      'metadata that has changed since the start',
      [chunk('start', { messageId: 'm', messageMetadata: { a: 1 } })],
      [chunk('start', { messageId: 'm', messageMetadata: { a: 2 } })],
      [chunk('message-metadata', { messageMetadata: { a: 2 } })],
    ],
    ['a transient chunk is always passed on', [start, saving], [start, saving], [saving]],
  ])('[RS10] %s', (_, first, second, expected) => {
    expect(read(first)).toEqual(first)
    expect(read(first, second)).toEqual([...first, ...expected])
    expect(read(first, second, second).length).toBe(
      first.length + expected.length + second.filter((one) => one === saving).length,
    )
  })
})

/** Every state of each turn of a random ledger, up to where its stream ends. */
function statesOf(seed: number): readonly (readonly Turn[])[] {
  return turnStates(seed).map((states) => {
    const last = states.findIndex(({ progress }) => progress.status !== 'running')
    return last === -1 ? states : states.slice(0, last + 1)
  })
}

/** The chunks of a server for a turn in the state of that number at the request, followed by some later states. */
function streamFrom(states: readonly Turn[], from: number, random: Random, sdk: 5 | 6 | 7) {
  let cursor = createUiChunkCursor({ sdk })
  return states.slice(from).flatMap((turn, index, { length }): readonly AnyChunk[] => {
    if (index > 0 && index < length - 1 && random.chance(0.5)) return []
    const next = nextChunks(cursor, turn)
    cursor = next.cursor
    return next.chunks
  })
}

async function fold(chunks: readonly AnyChunk[]): Promise<unknown> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const one of chunks) controller.enqueue(one as UIMessageChunk)
      controller.close()
    },
  })
  const errors: unknown[] = []
  let message: UIMessage | undefined
  const onError = (error: unknown) => {
    if (!chunks.some(({ type }) => type === 'error')) errors.push(error)
  }
  for await (message of readUIMessageStream({ stream, onError })) continue
  expect(errors).toEqual([])
  return message === undefined ? undefined : JSON.parse(JSON.stringify(message))
}

describe.each([5, 6, 7] as const)('as streamed to AI SDK %i', (sdk) => {
  it('[RS10 FD1] a turn that breaks off anywhere, any number of times, is what it is unbroken', async () => {
    let cuts = 0
    for (let seed = 1; seed <= 40; seed++) {
      const random = createRandom(seed)
      for (const states of statesOf(seed)) {
        const streams: (readonly AnyChunk[])[] = []
        let requested = 0
        while (requested < states.length - 1) {
          const last = requested + random.int(states.length - 1 - requested)
          const chunks = streamFrom(states.slice(0, last + 1), requested, random, sdk)
          streams.push(chunks.slice(0, chunks.length - random.int(3)))
          // Only stored states are streamed, so the next stream begins at that state or later.
          requested = last + 1 + random.int(2)
        }
        const whole = streamFrom(states, Math.min(requested, states.length - 1), random, sdk)
        cuts += streams.length
        expect(await fold(read(...streams, whole)), `seed ${seed}`).toEqual(await fold(whole))
      }
    }
    expect(cuts).toBeGreaterThan(100)
  })
})
