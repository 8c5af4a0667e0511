import { describe, expect, test } from 'vitest'
import { readCallNote } from '../../import/old-call.ts'
import { createDataStreamReader } from './read-data-stream.ts'

function read(...lines: readonly string[]): readonly object[] {
  const reader = createDataStreamReader({ approvals: true, readCallNote })
  return [...lines.flatMap((line) => reader.read(line)), ...reader.end()]
}

const step = { type: 'start-step' }
const stepEnd = { type: 'finish-step' }
const text = [
  { type: 'text-start', id: 'text-0' },
  { type: 'text-delta', id: 'text-0', delta: 'Hi' },
  { type: 'text-end', id: 'text-0' },
]

describe('the reader of the old line protocol', () => {
  test('[RS4] treats a backend that ends with its last step as finished', () => {
    const ended = [{ type: 'start' }, step, ...text, stepEnd]
    expect(read('0:"Hi"', 'e:{"finishReason":"stop","isContinued":false}')).toEqual([
      ...ended,
      { type: 'finish', finishReason: 'stop' },
    ])
    expect(read('0:"Hi"', 'e:{"finishReason":"stop"}', '2:[{"tokens":7}]')).toEqual([
      ...ended,
      step,
      { type: 'data-legacy', data: { tokens: 7 } },
      stepEnd,
      { type: 'finish', finishReason: 'stop' },
    ])
  })

  test('[RS4] reports a stream that breaks off', () => {
    const error = { type: 'error', errorText: 'The stream ended before its end.' }
    expect(read('0:"Hi"').at(-1)).toEqual(error)
    expect(read('e:{"finishReason":"tool-calls"}', '0:"Hi"').at(-1)).toEqual(error)
    expect(read('e:{"finishReason":"length","isContinued":true}').at(-1)).toEqual(error)
  })

  test('[RS4] keeps the annotations of the backend about its message', () => {
    expect(read('8:[{"id":1},"two"]', 'd:{"finishReason":"stop"}')).toEqual([
      { type: 'start' },
      step,
      { type: 'data-annotation', data: { id: 1 } },
      { type: 'data-annotation', data: 'two' },
      stepEnd,
      { type: 'finish', finishReason: 'stop' },
    ])
  })

  const call = '9:{"toolCallId":"a","toolName":"look","args":{}}'
  const called = [
    { type: 'start' },
    step,
    { type: 'tool-input-available', toolCallId: 'a', toolName: 'look', input: {} },
  ]
  const result = 'a:{"toolCallId":"a","result":"gone"}'
  const note = (fields: object) => `8:[${JSON.stringify({ toolCallId: 'a', ...fields })}]`
  const over = 'd:{"finishReason":"stop"}'
  const end = [stepEnd, { type: 'finish', finishReason: 'stop' }]
  const denied = { type: 'tool-output-denied', toolCallId: 'a' }
  const done = { type: 'tool-output-available', toolCallId: 'a', output: 'gone' }

  test.each([false, 'rejected'])(
    '[RS4 LE4] a call whose validated is %s was refused',
    (validated) => {
      const refused = note({ validated, isComplete: true })
      expect(read(call, refused, over)).toEqual([...called, denied, ...end])
      expect(read(call, refused, result, over)).toEqual([...called, denied, ...end])
    },
  )

  test('[RS4] a client without approvals gets a failure and no request', () => {
    const reader = createDataStreamReader({ readCallNote })
    const lines = [call, note({ validated: 'pending' }), note({ validated: false })]
    expect(lines.flatMap((line) => reader.read(line))).toEqual([
      ...called,
      { type: 'tool-output-error', toolCallId: 'a', errorText: 'Declined.' },
    ])
  })

  test('[RS4] a waiting call is requested once, and continues when it is accepted', () => {
    const waits = note({ validated: 'pending', isComplete: true })
    const requested = { type: 'tool-approval-request', toolCallId: 'a', approvalId: 'approval-a' }
    const accepted = note({ validated: true, isComplete: true })
    expect(read(call, waits, waits, over)).toEqual([...called, requested, ...end])
    expect(read(call, waits, accepted, result, over)).toEqual([...called, requested, done, ...end])
  })

  test.each([
    ['before', [note({ validated: null, isComplete: false }), result]],
    ['after', [note({ validated: null, isComplete: true }), result, note({ isComplete: false })]],
  ])('[RS4 LE4] a result that is called incomplete %s it came is none', (_, lines) => {
    const types = read(call, ...lines, over).map((chunk) => (chunk as { type: string }).type)
    expect(types.slice(3)).toEqual(['tool-output-error', 'finish-step', 'finish'])
  })

  test('[RS4 CL4] a result is not held back without annotations about calls', () => {
    const reader = createDataStreamReader()
    reader.read(call)
    expect(reader.read(result)).toEqual([done])
  })

  test('[RS4] an annotation about an unknown call is kept as it is', () => {
    const item = { toolCallId: 'b', validated: false, isComplete: true }
    expect(read(`8:[${JSON.stringify(item)}]`, over)).toEqual([
      { type: 'start' },
      step,
      { type: 'data-annotation', data: item },
      ...end,
    ])
  })
})

describe('the text of arguments in a line', () => {
  const keys = (count: number, first = 0) =>
    `{${Array.from({ length: count }, (_, key) => `"k${first + key}":1`).join()}}`
  const inputsOf = (...texts: readonly string[]) => {
    const calls = texts.map((text, nth) => ({
      id: `c${nth}`,
      function: { name: 't', arguments: text },
    }))
    const chunks = createDataStreamReader().read(`7:${JSON.stringify({ tool_calls: calls })}`)
    return chunks.flatMap((chunk) => ('input' in chunk ? [chunk.input] : []))
  }
  const deep = `{"a":${'['.repeat(70)}${']'.repeat(70)}}`
  const long = `{"a":"${'x'.repeat(1_000_000)}"}`

  test('[OP7 CL6b RS4] is parsed where it has as much as a value may have', () => {
    const few = keys(20_000)
    expect(inputsOf(few, '', 'no JSON')).toEqual([JSON.parse(few), {}, {}])
  })

  test.each([
    ['too many keys', [keys(30_000)]],
    ['too many keys in all its calls', [keys(20_000), keys(20_000, 20_000)]],
    ['too many levels', [deep]],
    ['too many characters', [long]],
  ])('[OP7 CL6b RS4] stays text if it has %s', (_, texts) => {
    expect(inputsOf(...texts).at(-1)).toBe(texts.at(-1))
  })
})
