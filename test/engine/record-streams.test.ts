import {
  createHoldfast,
  callsOf,
  memory,
  parseOwnerId,
  parseThreadId,
  type RecordedPart,
  type Recording,
  type Turn,
} from 'holdfast'
import { describe, expect, it } from 'vitest'
import { readChunks } from '../../src/testing/http-rules/chat-requests.ts'
import { gate, messageId, statesOf, textOf } from './fixture.ts'
import { failingStore } from '../support/failing-store.ts'

type Item = { readonly type: string; readonly [field: string]: unknown }

async function record(items: readonly (Item | string)[] | AsyncIterable<Item>, store = memory()) {
  // No model: whoever records brings the answers.
  const holdfast = createHoldfast({ store, recoverEveryMs: 0 })
  const threadId = parseThreadId('t')
  await store.createThread({ id: threadId, ownerId: parseOwnerId('o'), title: '', at: 1 })
  const source = (Array.isArray(items) ? from(items) : items) as AsyncIterable<RecordedPart>
  const recording = await holdfast.record(source, {
    threadId,
    message: { id: messageId('u'), parts: [{ type: 'text', text: 'go' }] },
  })
  const read = async (): Promise<Turn> => {
    const found = await store.readMessage(threadId, begun(recording).turnId)
    if (found?.role !== 'assistant') throw new Error('no turn')
    return found
  }
  return { holdfast, recording: begun(recording), read }
}

async function* from(items: readonly unknown[]): AsyncGenerator {
  for (const item of items) yield await Promise.resolve(item)
}

function begun(recording: Recording): Extract<Recording, { kind: 'recording' }> {
  if (recording.kind !== 'recording') throw new Error(recording.kind)
  return recording
}

const textParts = (text: string, id = '1'): readonly Item[] => [
  { type: 'text-start', id },
  { type: 'text-delta', id, text },
  { type: 'text-end', id },
]
const call = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: { q: 1 } }
const result = (output: unknown) => ({ type: 'tool-result', toolCallId: 'c', output })
const finish = { type: 'finish', finishReason: 'stop' }

const endingOf = ({ progress }: Turn) => (progress.status === 'ended' ? progress.ending : progress)

describe('what record takes', () => {
  it('[CL12 FD1] of data, sources and calls no more than what clients of the AI SDK read', async () => {
    const { recording, read } = await record([
      { type: 'start-step' },
      // Holdfast’s own note about a turn: whoever forges it tells clients what did not happen.
      { type: 'data', name: 'holdfast', data: { status: 'other-history' } },
      { type: 'data', name: 'weather', id: 5, data: { t: 20 }, more: 5n },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://a.b/', title: 5 },
      { type: 'file', file: { mediaType: 'text/plain', base64: 'aGk=' }, url: 5, mediaType: 5n },
      { type: 'file', file: { mediaType: 'text/plain' } },
      { ...call, title: { de: 'Suche' }, providerMetadata: { cached: true, own: { id: 'x' } } },
      { ...result(1), providerMetadata: { cached: true } },
      { type: 'finish-step', finishReason: 'stop' },
      finish,
    ])
    await recording.done
    const turn = await read()
    expect(endingOf(turn)).not.toMatchObject({ kind: 'failed' })
    const [data, source, file, called, ...rest] = turn.steps.flatMap(({ parts }) => parts)
    expect(rest).toEqual([])
    expect(data).toEqual({ type: 'data', name: 'weather', data: { t: 20 } })
    expect(source).toEqual({ type: 'source-url', sourceId: 's', url: 'https://a.b/' })
    const url = 'data:text/plain;base64,aGk='
    expect(file).toEqual({ type: 'file', mediaType: 'text/plain', url })
    expect(called).toMatchObject({ state: 'succeeded', providerMetadata: { own: { id: 'x' } } })
    expect(called).not.toHaveProperty('title')
    expect(called).not.toHaveProperty('resultProviderMetadata')
  })

  it('[CL2] a second result: the first stands, and the stream goes on', async () => {
    const { holdfast, recording, read } = await record([
      call,
      result(1),
      result(2),
      ...textParts('Done.'),
      finish,
    ])
    const given: Item[] = []
    for await (const part of recording.stream) given.push(part)
    await recording.done
    expect([...callsOf(await read())]).toMatchObject([{ output: { value: 1 } }])
    expect(textOf(await read())).toEqual(['Done.'])
    expect(given.filter(({ type }) => type === 'tool-result')).toMatchObject([{ output: 1 }])
    expect(holdfast.metrics().ignoredEnds).toBe(1)
  })

  it('[CL12 LG10] gives the ids that it stores, and takes over those that are free', async () => {
    const { recording, read } = await record([
      call,
      result(1),
      { type: 'finish-step' },
      { type: 'start-step' },
      call,
      result(2),
      finish,
    ])
    const ids: unknown[] = []
    for await (const part of recording.stream) {
      const { type, toolCallId } = part as Item
      if (type === 'tool-result') ids.push(toolCallId)
    }
    await recording.done
    const stored = [...callsOf(await read())]
    expect(stored.map(({ id }) => id)).toEqual(ids)
    expect(ids[0]).toBe('c')
    expect(stored).toMatchObject([{ output: { value: 1 } }, { output: { value: 2 } }])
  })

  it('[LG7] parts without usage, of unknown kinds, and data, sources, files and reasoning', async () => {
    const { recording, read } = await record([
      { type: 'start' },
      { type: 'start-step' },
      { type: 'data-plan', id: 'p', data: { steps: 2 } },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', text: 'Hm.' },
      { type: 'reasoning-end', id: 'r' },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com/' },
      { type: 'file', file: { mediaType: 'text/plain', base64: 'aGk=' } },
      { type: 'hologram', of: 'the future' },
      { type: 'raw', rawValue: {} },
      ...textParts('Done.'),
      { type: 'finish-step' },
      finish,
    ])
    await recording.done
    const turn = await read()
    expect(endingOf(turn)).toEqual({ kind: 'completed' })
    expect(turn.steps[0]?.parts.map(({ type }) => type)).toEqual([
      'data',
      'reasoning',
      'source-url',
      'file',
      'text',
    ])
  })

  it('[RS4] a UI message stream, and plain text', async () => {
    const { recording, read } = await record([
      { type: 'start', messageId: 'theirs' },
      { type: 'start-step' },
      { type: 'tool-input-start', toolCallId: 'c', toolName: 'look' },
      { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: '{"q":1}' },
      { type: 'tool-input-available', toolCallId: 'c', toolName: 'look', input: { q: 1 } },
      { type: 'tool-output-available', toolCallId: 'c', output: { a: 1 } },
      { type: 'finish-step' },
      { type: 'start-step' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Done.' },
      { type: 'text-end', id: 't' },
      { type: 'source-document', sourceId: 'd', mediaType: 'text/plain', title: 'Doc' },
      { type: 'finish-step' },
      { type: 'finish' },
    ])
    await recording.done
    const turn = await read()
    expect([...callsOf(turn)]).toMatchObject([{ state: 'succeeded', output: { value: { a: 1 } } }])
    expect(textOf(turn)).toEqual(['Done.'])
    expect(turn.steps).toHaveLength(2)

    const plain = await record(['Hello, ', 'world.'])
    await plain.recording.done
    expect(textOf(await plain.read())).toEqual(['Hello, world.'])
    expect(endingOf(await plain.read())).toEqual({ kind: 'completed' })
  })

  it.each<[string, readonly Item[], object]>([
    ['a whole text', textParts('Done.'), { kind: 'completed' }],
    [
      'a call that was answered, and text',
      [call, result(1), ...textParts('Ok.')],
      { kind: 'completed' },
    ],
    [
      'half a text',
      textParts('Half').slice(0, 2),
      { kind: 'failed', error: { code: 'stream-cut' } },
    ],
    ['a call without its result', [call], { kind: 'failed', error: { code: 'stream-cut' } }],
    ['nothing', [{ type: 'start' }], { kind: 'failed', error: { code: 'stream-cut' } }],
    ['an abort', [...textParts('Half'), { type: 'abort' }], { kind: 'stopped' }],
    [
      'an error',
      [...textParts('Half'), { type: 'error', error: new Error('x') }],
      { kind: 'failed' },
    ],
  ])(
    '[CL12 ST2] a stream without `finish` is judged by what it said: %s',
    async (_, items, ending) => {
      const { recording, read } = await record(items)
      await recording.done
      const turn = await read()
      expect(endingOf(turn)).toMatchObject(ending)
      for (const state of statesOf(turn)) expect(['succeeded', 'interrupted']).toContain(state)
    },
  )

  it('[ST2] a stream that throws: what came is kept, and the reader gets the error', async () => {
    const { recording, read } = await record(
      (async function* (): AsyncGenerator<Item> {
        yield* textParts('Half')
        yield call
        await Promise.resolve()
        throw new Error('the loop broke')
      })(),
    )
    const given: Item[] = []
    for await (const part of recording.stream) given.push(part)
    expect(given.at(-1)).toMatchObject({ type: 'error' })
    await recording.done
    const turn = await read()
    expect(endingOf(turn)).toMatchObject({ kind: 'failed' })
    expect(textOf(turn)).toEqual(['Half'])
    expect([...callsOf(turn)]).toMatchObject([{ state: 'interrupted', cause: 'stream-failed' }])
  })

  it('[LG2 LG3] sends the reader an error when something cannot be stored, and shows nothing of it', async () => {
    const store = failingStore(memory())
    const shown = gate()
    const closed = gate()
    const { recording, read } = await record(
      (async function* (): AsyncGenerator<Item> {
        try {
          yield* textParts('Stored.')
          yield call
          yield result(1)
          await shown.opened
          store.failing = true
          yield { ...call, toolCallId: 'd' }
          // A loop that nobody stores is not to go on calling its model.
          for (;;) yield* textParts('Never.', '2')
        } finally {
          closed.open()
        }
      })(),
      store,
    )
    const response = recording.toResponse({ sdk: 7 })
    const given: Item[] = []
    for await (const part of recording.stream) {
      given.push(part)
      if (part.type === 'tool-result') shown.open()
    }
    expect(given.at(-1)).toMatchObject({ type: 'error' })
    expect(given.filter(({ toolCallId }) => toolCallId === 'd')).toEqual([])
    expect(await response.text()).toContain('"type":"error"')
    await closed.opened
    store.failing = false
    expect(textOf(await read())).toEqual(['Stored.'])
  })

  it('[RS1 FD1] answers as a UI message stream, with the ids of the page', async () => {
    const { recording, read } = await record([call, result(1), ...textParts('Done.'), finish])
    const response = recording.toResponse({ sdk: 7 })
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const chunks = await readChunks(response)
    const turn = await read()
    expect(chunks[0]).toEqual({ type: 'start', messageId: turn.id })
    const [stored] = callsOf(turn)
    expect(chunks.find(({ type }) => type === 'tool-output-available')).toMatchObject({
      toolCallId: stored?.id,
    })
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
  })
})
