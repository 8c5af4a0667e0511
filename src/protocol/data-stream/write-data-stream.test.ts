import { describe, expect, test } from 'vitest'
import { createDataStreamWriter } from './write-data-stream.ts'

const write = (...chunks: readonly object[]): string =>
  chunks.map(createDataStreamWriter()).join('')

const call = { type: 'tool-input-available', toolCallId: 'a', toolName: 'look', input: {} }

describe('the writer of the old line protocol', () => {
  test('[RS4] writes a call once, although it is sent again after a decision', () => {
    expect(write(call, call)).toBe('9:{"toolCallId":"a","toolName":"look","args":{}}\n')
  })

  test('[RS4] writes a failure as a result that contains the error, and no progress', () => {
    const progress = {
      type: 'tool-output-available',
      toolCallId: 'a',
      output: 1,
      preliminary: true,
    }
    const failure = { type: 'tool-output-error', toolCallId: 'a', errorText: 'kaput' }
    expect(write(progress, failure)).toBe('a:{"toolCallId":"a","result":{"error":"kaput"}}\n')
  })

  test('[RS4] writes the reason of a step with the end of the message, or that calls follow', () => {
    const step = { type: 'start-step' }
    const end = { type: 'finish-step' }
    const lines = write({ type: 'start', messageId: 'm' }, step, end, step, end, {
      type: 'finish',
      finishReason: 'length',
    })
    expect(lines).toBe(
      [
        'f:{"messageId":"m"}',
        'e:{"finishReason":"tool-calls","isContinued":false}',
        'f:{"messageId":"m"}',
        'e:{"finishReason":"length","isContinued":false}',
        'd:{"finishReason":"length"}',
        '',
      ].join('\n'),
    )
  })
})
