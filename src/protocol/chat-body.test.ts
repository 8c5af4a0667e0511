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

  const said = { role: 'user', content: 'Hi' }
  const answer = { role: 'assistant', parts: [] }
  it.each([
    [{ messages: [{ id: 'm', ...said }] }, /^The body needs "id", the thread’s id\. Use /],
    [{ id: 7, messages: [] }, /^"id": The thread id must be a string of 1 to 200 characters\.$/],
    [{ id: 't', messages: [said] }, /^The body needs "messages\[0\]\.id", the message’s id\. Use /],
    [{ id: 't', message: said }, /^The body needs "message\.id", the message’s id\. Use /],
    [
      {
        id: 't',
        messages: [
          { id: 'a', ...answer },
          { id: '', ...said },
        ],
      },
      /^"messages\[1\]\.id": /,
    ],
    [{ id: 't', messageId: '.', message: said }, /^"messageId": The message id is not "\."/],
    [
      { id: 't', message: { ...answer, parts: [{ state: 'output-available', toolCallId: 'a' }] } },
      /^The body needs "message\.id", the message’s id\. Use /,
    ],
    [
      {
        id: 't',
        message: { id: 'a', ...answer, parts: [{ state: 'output-available', toolCallId: '' }] },
      },
      /^"message\.parts\[0\]\.toolCallId": The call id must be a string/,
    ],
  ])(
    '[HT3] with an id that is missing or none is refused by the name of the field: %j',
    (body, message) => {
      expect(() => parseChatBody(body)).toThrow(
        expect.objectContaining({
          code: 'bad-id',
          message: expect.stringMatching(message) as string,
        }),
      )
    },
  )
})
