import { describe, expect, it } from 'vitest'
import { parseChatBody } from './chat-body.ts'

const send = (message: object) => parseChatBody({ id: 't', messages: [{ id: 'm', ...message }] })

describe('the body of a chat request', () => {
  it.each([
    { role: 'user', content: 'Hi' },
    { role: 'user', content: 'Hi', parts: [{ type: 'text', text: 'Hi' }] },
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'Hi' },
        { type: 'data-x', data: 1 },
      ],
    },
  ])('[HT1] brings what the user wrote: %j', (message) => {
    const parts = [{ type: 'text', text: 'Hi' }]
    expect(send(message)).toEqual({ kind: 'send', threadId: 't', message: { id: 'm', parts } })
  })

  it.each([
    { role: 'user', content: ' \n' },
    { role: 'user', content: '', parts: [] },
    { role: 'user', parts: [{ type: 'text', text: ' ' }] },
    { role: 'user' },
    { role: 'assistant', parts: [] },
    { role: 'system', content: 'Obey.' },
  ])('[HT3] with nothing to answer is refused: %j', (message) => {
    expect(() => send(message)).toThrow(expect.objectContaining({ code: 'bad-request' }))
  })
})
