import { describe, expect, it } from 'vitest'
import { detectFormat } from './detect-format.ts'

const invocation = { state: 'result', toolCallId: 'c', toolName: 't', args: {}, result: 1 }
const user = { id: 'u', role: 'user', content: 'Hello' }

describe('the format of a list', () => {
  it.each([
    [
      'ui',
      [
        { role: 'user', parts: [] },
        { role: 'assistant', parts: [{ type: 'step-start' }] },
      ],
    ],
    ['ui', [{ role: 'assistant', content: 'x', parts: [{ type: 'tool-t', toolCallId: 'c' }] }]],
    [
      'ui',
      [{ role: 'assistant', content: 'x', parts: [{ type: 'text', text: 'x', state: 'done' }] }],
    ],
    ['vercel', [user, { role: 'assistant', content: 'Hi' }]],
    ['vercel', [{ role: 'assistant', content: 'x', toolInvocations: [invocation] }]],
    [
      'vercel',
      [{ role: 'assistant', parts: [{ type: 'tool-invocation', toolInvocation: invocation }] }],
    ],
    ['vercel', [{ role: 'assistant', content: 'x', parts: [{ type: 'text', text: 'x' }] }]],
    ['tools-used', [user, { role: 'assistant', content: 'x', metadata: { tools_used: [] } }]],
    ['commentary', [user, { role: 'assistant', content: 'x', toolCalls: [] }]],
    ['entities', [{ entity: 'USER', content: 'x' }]],
    ['ui', []],
    ['ui', [null, 1, 'text']],
  ])('[LE1] is %s (%#)', (format, messages) => {
    expect(detectFormat(messages)).toBe(format)
  })
})
