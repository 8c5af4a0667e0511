import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { callsOf, type HoldfastOptions, type Turn } from 'holdfast'
import { describe, expect, it } from 'vitest'
import type { RecordedPart } from '../../src/engine/record/recorded-parts.ts'
import { createAnswerMeter } from '../../src/engine/run/answer-meter.ts'
import { createFixture, messageId } from './fixture.ts'

/** Records the source, whose parts nobody reads. */
async function record(
  source: AsyncIterable<unknown>,
  options: Partial<HoldfastOptions> = {},
): Promise<Turn> {
  const fixture = await createFixture(() => [], options)
  const recording = await fixture.holdfast.record(source, {
    threadId: fixture.threadId,
    message: { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }] },
  })
  if (recording.kind !== 'recording') throw new Error(recording.kind)
  void recording.stream.cancel()
  await recording.done
  return fixture.last()
}

async function* endless(parts: (index: number) => readonly object[]) {
  for (let index = 0; ; index++) {
    if (index > 200_000) throw new Error('It was never told to stop.')
    yield* parts(index)
    if (index % 100 === 0) await setImmediate()
  }
}

async function* of(...parts: readonly object[]) {
  yield* parts
}

const limitOf = ({ progress }: Turn) =>
  progress.status === 'ended' && progress.ending.kind === 'cut-off' ? progress.ending.limit : null

const toolCall = (toolCallId: string, more: object = {}) => ({
  type: 'tool-approval-request',
  approvalId: 'a',
  toolCall: { toolCallId, ...more },
})

describe('a recorded loop without an end', () => {
  it.each<[what: string, parts: (index: number) => readonly object[]]>([
    ['steps', () => [{ type: 'start-step' }, { type: 'finish-step', finishReason: 'stop' }]],
    ['steps that only start', () => [{ type: 'start-step' }]],
    ['steps that only end', () => [{ type: 'finish-step', finishReason: 'stop' }]],
    ['questions about calls that never come', (index) => [toolCall(`c${index}`)]],
    ['questions about one call that never comes', () => [toolCall('c')]],
    [
      'answers about calls that never come',
      (index) => [{ ...toolCall(`c${index}`), type: 'tool-approval-response', approved: true }],
    ],
    [
      'denials of calls that never come',
      (index) => [{ type: 'tool-output-denied', toolCallId: `c${index}`, toolName: 'a' }],
    ],
    ['texts that never start', (index) => [{ type: 'text-delta', id: `t${index}`, text: '' }]],
  ])('[ST4a] of %s is cut off at its limit', async (_, parts) => {
    const turn = await record(endless(parts))
    expect(limitOf(turn)).toEqual({ what: 'parts', most: 10_000 })
  })

  it('[ST4a] counts the steps that a turn had before it was continued, and a text for each of them', () => {
    const before = Array.from({ length: 9_995 }, (_, index) => ({
      ...{ index, status: 'ended', parts: [], startedAt: 1, endedAt: 1, finishReason: 'stop' },
    }))
    const limits = { maxTextChars: 100, maxArgumentChars: 100, maxCalls: 100 }
    const options = { ...limits, maxResultChars: 100, maxTurnChars: 100 }
    const meter = createAnswerMeter(options, { steps: before } as unknown as Turn)
    const text: RecordedPart = { type: 'text-delta', id: '1', text: '' }
    const step: RecordedPart = { type: 'start-step', request: {}, warnings: [] }
    const counted = [text, text, step, text, step, text, text, step].map((part) =>
      meter.count(part),
    )
    expect(counted.map((over) => over?.limit.what)).toEqual([
      ...Array.from({ length: 7 }, () => undefined),
      'parts',
    ])
  })
})

describe('one part of a recorded loop', () => {
  const long = 'x'.repeat(5_000_000)
  const call = { type: 'tool-call', toolCallId: 'c', toolName: 'a', input: {} }

  it.each<[what: string, limit: string, part: object]>([
    ['the name of a tool', 'arguments', { ...call, toolName: long }],
    ['the title of a call', 'arguments', { ...call, title: long }],
    ['the id of a call', 'arguments', { ...call, toolCallId: long }],
    ['the id of a question', 'arguments', { ...toolCall('c'), approvalId: long }],
    ['the signature of a question', 'arguments', { ...toolCall('c'), signature: long }],
    [
      'the reason of a decision',
      'arguments',
      { ...toolCall('c'), type: 'tool-approval-response', approved: false, reason: long },
    ],
    ['the metadata of a tool', 'turn', { ...call, toolMetadata: { note: long } }],
    ['the type of a file', 'files', { type: 'file', url: 'data:,', mediaType: long }],
  ])('[ST4a ST4c] that is too long as %s is not stored', async (_, what, part) => {
    const options = { maxTurnChars: 4_500_000, maxResultChars: 4_500_000 }
    const turn = await record(of(call, part, { type: 'finish', finishReason: 'stop' }), options)
    expect(limitOf(turn)).toMatchObject({ what })
    expect(JSON.stringify(turn).length).toBeLessThan(10_000)
  })

  it('[ST4a] of the name of the model no more is kept than a name has, and of usage only numbers', async () => {
    const turn = await record(
      of(
        { type: 'start-step' },
        {
          type: 'finish-step',
          finishReason: 'stop',
          response: { modelId: long },
          usage: { inputTokens: 1, outputTokens: long },
        },
        { type: 'finish', finishReason: 'stop' },
      ),
    )
    expect(turn.steps).toMatchObject([{ model: 'x'.repeat(200), usage: { inputTokens: 1 } }])
    expect(JSON.stringify(turn).length).toBeLessThan(10_000)
  })

  it('[ST4b OP7] a result that refers to itself fails its call, and no more', async () => {
    const output: Record<string, unknown> = {}
    output['self'] = output
    const result = { ...call, type: 'tool-result', output }
    const turn = await record(of(call, result, { type: 'finish', finishReason: 'stop' }))
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect([...callsOf(turn)]).toMatchObject([{ state: 'failed' }])
  })
})

it('[OP7] parts about calls that never come are kept up to a limit, and then ignored', async () => {
  const early = (index: number) => ({
    type: 'tool-error',
    toolCallId: `c${index}`,
    toolName: '',
    error: `${index}`.padEnd(1_000),
  })
  const parts = Array.from({ length: 20 }, (_, index) => early(index))
  const calls = [0, 19].map((index) => ({
    ...{ type: 'tool-call', toolCallId: `c${index}`, toolName: 'a', input: {} },
  }))
  const turn = await record(of(...parts, ...calls, { type: 'finish', finishReason: 'stop' }), {
    maxTurnChars: 10_000,
  })
  expect([...callsOf(turn)].map(({ state }) => state)).toEqual(['failed', 'interrupted'])
})

it('[OP7] a recording takes no more memory with each part that stores nothing', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const heaps: number[] = []
  async function* source() {
    for (let index = 0; index <= 200_000; index++) {
      yield { type: 'tool-input-end', id: 'unknown' }
      if (index % 100_000 !== 0) continue
      await setImmediate()
      collectGarbage()
      heaps.push(process.memoryUsage().heapUsed)
    }
    yield { type: 'finish', finishReason: 'stop' }
  }
  await record(source())
  const [, before = 0, after = 0] = heaps
  expect(after - before).toBeLessThan(5_000_000)
})
