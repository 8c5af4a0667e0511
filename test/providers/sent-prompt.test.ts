import { describe, expect, it } from 'vitest'
import { readChatPrompt } from './read-chat-prompt.ts'
import { readMessagesPrompt } from './read-messages-prompt.ts'
import { readResponsesPrompt } from './read-responses-prompt.ts'

// What finds nothing wrong must be able to find something wrong.
describe('what an API would refuse', () => {
  it('is found in chat completions', () => {
    const toolCall = (id: string, args = '{}') => ({
      id,
      type: 'function',
      function: { name: 'add', arguments: args },
    })
    const { problems } = readChatPrompt({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, tool_calls: [toolCall('a'), toolCall('b', '[1]')] },
        { role: 'tool', tool_call_id: 'a', content: '1' },
        { role: 'user', content: 'Wait' },
        { role: 'tool', tool_call_id: 'c', content: '2' },
        { role: 'assistant', content: '' },
      ],
    })
    expect(problems).toEqual([
      'the arguments of b are no object',
      'message 1 has calls that are not answered at once',
      'the result of c does not stand behind its call',
      'message 5 is empty',
      'the last word is the model’s',
      'b has no result',
      'c is no call’s result',
    ])
  })

  it('is found in responses', () => {
    const { problems } = readResponsesPrompt({
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        { type: 'item_reference', id: 'rs_1' },
        { type: 'item_reference', id: 'rs_1' },
        { type: 'function_call_output', call_id: 'a', output: '1' },
        { type: 'function_call', call_id: 'a', name: 'add', arguments: '{}' },
        { type: 'function_call', call_id: 'a', name: 'add', arguments: '{"left"' },
        { role: 'assistant', content: [{ type: 'output_text', text: '' }] },
      ],
    })
    expect(problems).toEqual([
      'rs_1 is referred to twice',
      'the result of a stands before its call',
      'the arguments of a are no object',
      'an empty message of assistant',
      'the last word is the model’s',
      'a called twice',
    ])
  })

  it('is found in messages', () => {
    const text = { type: 'text', text: 'Hi' }
    const { problems } = readMessagesPrompt({
      messages: [
        { role: 'user', content: [text] },
        { role: 'user', content: [{ type: 'text', text: ' ' }] },
        { role: 'user', content: [text] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'add', input: 1 }] },
        { role: 'user', content: [text, { type: 'tool_result', tool_use_id: 'a', content: '1' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'b', name: 'add', input: {} }] },
      ],
    })
    expect(problems).toEqual([
      'message 1: user',
      'message 1 has blank text',
      'the arguments of a are no object',
      'message 4 has something before its results',
      'b has no result',
      'the last word is the model’s',
      'b has no result',
    ])
  })
})
