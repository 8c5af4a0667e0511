import { afterEach, describe, expect, it, vi } from 'vitest'
import { deepestJson, deepestValue, isDeeperThan } from '../core/json-depth.ts'
import type { Json } from '../core/json.ts'
import { runToEnd } from '../core/pausable-work.ts'
import { mostImported, tooManyValues } from './message-width.ts'
import { checkColumns, readLegacyMessages } from './read-legacy-messages.ts'
import { columnOf } from './old-fields.ts'

const read = (...messages: readonly unknown[]) =>
  readLegacyMessages(messages, { threadId: 't', at: 1, format: 'auto' })

const nested = (depth: number): string => `${'['.repeat(depth)}1${']'.repeat(depth)}`
const answer = { id: 'a', role: 'assistant', content: 'Done.' }
const call = (args: string) => `{"id":"c","name":"look_up","args":{"city":"Oslo","more":${args}}}`

const columns: Readonly<Record<string, (deep: string) => object>> = {
  toolCalls: (deep) => ({ ...answer, toolCalls: `[${call(deep)}]` }),
  'metadata.tools_used': (deep) => ({ ...answer, metadata: { tools_used: `[${call(deep)}]` } }),
  metadata: (deep) => ({ ...answer, metadata: `{"tools_used":[${call(deep)}]}` }),
  parts: (deep) => ({
    ...answer,
    parts: `[{"type":"tool-look_up","toolCallId":"c","input":${deep}}]`,
  }),
  toolInvocations: (deep) => ({
    ...answer,
    toolInvocations: `[{"toolCallId":"c","toolName":"look_up","args":${deep}}]`,
  }),
  'the content of a framework': (deep) => ({
    ...answer,
    content: `{"format":2,"parts":[{"type":"tool-invocation","toolInvocation":{"toolCallId":"c","toolName":"look_up","args":${deep}}}]}`,
  }),
}

describe('JSON that is a text in a message', () => {
  it.each(Object.entries(columns))(
    '[CL6a LE5] is cut off where it is too deep, and reported: %s',
    (_, toMessage) => {
      expect(read(toMessage(nested(10)))).toMatchObject({ counts: { calls: 1 }, failed: [] })
      for (const depth of [deepestValue + 1, 20_000]) {
        const { events, mended, counts } = read(toMessage(nested(depth)))
        expect(counts).toEqual({ messages: 1, calls: 1 })
        expect(mended.map(({ what }) => what)).toContain(
          'It is nested too deep: a part was cut off.',
        )
        for (const event of events) expect(isDeeperThan(event, deepestJson)).toBe(false)
      }
    },
  )

  it.each([
    ['values', `[${'1,'.repeat(mostImported.values)}1]`],
    [
      'keys',
      `{${Array.from({ length: mostImported.keys + 1 }, (_, nth) => `"k${nth}":1`).join()}}`,
    ],
  ])('[CL6b] has as few %s as a message has, or that is not read', (_, text) => {
    const { failed, counts } = read(
      { ...answer, toolCalls: text },
      { ...answer, id: 'b', metadata: { tools_used: text } },
      { id: 'u', role: 'user', content: text },
    )
    expect(failed).toEqual([
      { where: 'messages[0]', why: tooManyValues },
      { where: 'messages[1]', why: tooManyValues },
    ])
    // A text that nobody has to decode is a text.
    expect(counts.messages).toBe(1)
  })

  it('[CL6a LE7] stays a text where it can: as arguments, or as what a row says', () => {
    const deep = nested(deepestValue + 1)
    const { events, failed } = read(
      { ...answer, toolCalls: [{ id: 'c', name: 'look_up', args: deep, result: 1 }] },
      { id: 'r', entity: 'USER', content: deep },
      { id: 's', entity: 'AI_MESSAGE', content: deep },
    )
    expect(failed).toEqual([])
    expect(events.filter((event) => JSON.stringify(event).includes(deep))).toMatchObject([
      { type: 'call-input-appended', delta: deep },
      { type: 'message-added', parts: [{ type: 'text', text: deep }] },
      { type: 'text-appended', delta: deep },
    ])
  })

  it('[CL6a] is the same up to the level at which it is cut', () => {
    const text = `[{"a":"]}\\"[","b":${nested(deepestValue)}},{"c":[{}, "[[\\\\"]}]`
    const onCut = vi.fn<() => void>()
    const checked = runToEnd(checkColumns({ parts: text }, onCut))
    const kept = JSON.parse(text) as [Record<string, Json>, Json]
    const cut = JSON.parse(
      `${'['.repeat(deepestValue - 2)}null${']'.repeat(deepestValue - 2)}`,
    ) as Json
    expect(checked).toEqual({ parts: [{ ...kept[0], b: cut }, kept[1]] })
    expect(onCut).toHaveBeenCalledOnce()
  })
})

describe('a column of a message', () => {
  afterEach(() => vi.restoreAllMocks())

  const isLong = ([text]: readonly unknown[]): boolean => String(text).length > 1_000
  const long = JSON.stringify(
    Array.from({ length: 100 }, (_, nth) => ({ id: `c${nth}`, name: 'f' })),
  )
  it.each([
    ['toolCalls', { ...answer, toolCalls: long }],
    ['parts', { ...answer, parts: long }],
    ['metadata', { ...answer, metadata: `{"createdAt":1,"tools_used":${long}}` }],
    ['tools_used', { ...answer, metadata: { tools_used: long } }],
    ['content', { id: 'r', entity: 'AI_TOOL', content: `{"toolCalls":${long}}` }],
    ['annotations', { ...answer, annotations: long }],
  ])('[OP7] is decoded once: %s', (_, message) => {
    const parse = vi.spyOn(JSON, 'parse')
    read(message, { id: 'u', role: 'user', content: 'Hi' })
    expect(parse.mock.calls.filter(isLong)).toHaveLength(1)
  })

  it('[OP7] is not parsed at all where it is too deep', () => {
    const parse = vi.spyOn(JSON, 'parse')
    const content = '['.repeat(1_000_000) + ']'.repeat(1_000_000)
    expect(columnOf({ content }, 'content')).toBeUndefined()
    expect(read({ id: 'r', entity: 'AI_MESSAGE', content }).counts.messages).toBe(1)
    expect(parse.mock.calls.filter(isLong)).toEqual([])
  })
})
