import { describe, expect, it } from 'vitest'
import { detectFormat } from './detect-format.ts'

const invocation = { state: 'result', toolCallId: 'c', toolName: 't', args: {}, result: 1 }
const call = { id: 'c', name: 't', args: {}, result: 1 }
const text = { type: 'text', text: 'x' }

describe('the format of a message', () => {
  it.each([
    ['ui', { parts: [{ type: 'step-start' }] }],
    ['ui', { content: 'x', parts: [{ type: 'tool-t', toolCallId: 'c' }] }],
    ['ui', { content: 'x', parts: [{ ...text, state: 'done' }] }],
    ['ui', { content: 'x', parts: [{ ...text, state: 'done' }], toolCalls: [] }],
    ['ui', { content: [{ type: 'tool-call', toolCallId: 'c' }] }],
    ['vercel', { content: 'Hi' }],
    ['vercel', { content: 'x', toolInvocations: [invocation] }],
    ['vercel', { parts: [{ type: 'tool-invocation', toolInvocation: invocation }] }],
    ['vercel', { content: 'x', parts: [text] }],
    ['tools-used', { content: 'x', metadata: { tools_used: [] } }],
    ['commentary', { content: 'x', toolCalls: [] }],
    ['commentary', { content: 'x', parts: [{ ...text, state: 'done' }], tool_calls: [call] }],
    ['entities', { entity: 'USER', content: 'x' }],
  ])('[LE1] is %s (%#)', (format, message) => {
    expect(detectFormat({ role: 'assistant', ...message })).toBe(format)
  })
})
