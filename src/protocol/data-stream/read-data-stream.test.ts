import { describe, expect, test } from 'vitest'
import { createDataStreamReader } from './read-data-stream.ts'

function read(...lines: readonly string[]): readonly object[] {
  const reader = createDataStreamReader()
  return [...lines.flatMap((line) => reader.read(line)), ...reader.end()]
}

const step = { type: 'start-step' }
const stepEnd = { type: 'finish-step' }
const said = [
  { type: 'text-start', id: 'text-0' },
  { type: 'text-delta', id: 'text-0', delta: 'Hi' },
  { type: 'text-end', id: 'text-0' },
]

describe('the reader of the old line protocol', () => {
  test('[RS4] takes a backend that ends with its last step for one that has finished', () => {
    const ended = [{ type: 'start' }, step, ...said, stepEnd]
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

  test('[RS4] says so where a stream breaks off', () => {
    const error = { type: 'error', errorText: 'The stream ended before its end.' }
    expect(read('0:"Hi"').at(-1)).toEqual(error)
    expect(read('e:{"finishReason":"tool-calls"}', '0:"Hi"').at(-1)).toEqual(error)
    expect(read('e:{"finishReason":"length","isContinued":true}').at(-1)).toEqual(error)
  })

  test('[RS4] keeps what the backend noted about its message', () => {
    expect(read('8:[{"id":1},"two"]', 'd:{"finishReason":"stop"}')).toEqual([
      { type: 'start' },
      step,
      { type: 'data-annotation', data: { id: 1 } },
      { type: 'data-annotation', data: 'two' },
      stepEnd,
      { type: 'finish', finishReason: 'stop' },
    ])
  })
})
