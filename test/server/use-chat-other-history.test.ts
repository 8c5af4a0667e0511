import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, tool, type UIMessage, type UIMessageChunk } from 'ai'
import { createChatTransport } from 'holdfast/client'
import { readChunks } from '../../src/testing/http-rules/chat-requests.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { startChatServer } from './chat-server.ts'

const threadId = 'thread-of-a-restored-database'
const lost: readonly UIMessage[] = [
  { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'One.' }] },
  { id: 'msg_lost', role: 'assistant', parts: [{ type: 'text', text: 'Lost.' }] },
]

function openTab(url: string, messages: readonly UIMessage[] = []) {
  const statuses: unknown[] = []
  const chat = new Chat<UIMessage>({
    id: threadId,
    messages: [...messages],
    transport: new DefaultChatTransport({ api: `${url}/api/chat` }),
    onData: ({ data }) => void statuses.push((data as { readonly status: string }).status),
  })
  return { chat, statuses }
}

it('[OP6] an unmodified useChat that goes on from an answer which is not stored is notified, and its message is answered', async () => {
  const { url } = await startChatServer(() => [{ text: 'Answer.' }])
  await openTab(url).chat.sendMessage({ text: 'Zero.' })
  const { chat, statuses } = openTab(url, lost)
  await chat.sendMessage({ text: 'Two.' })
  expect(statuses).toEqual(['other-history'])
  expect(chat.messages.at(-1)?.parts).toEqual([
    { type: 'step-start' },
    { type: 'text', text: 'Answer.', state: 'done' },
  ])
})

it('[OP6] so is one that asks again for such an answer, whatever is answered anew', async () => {
  const { url } = await startChatServer(() => [{ text: 'Answer.' }])
  await openTab(url).chat.sendMessage({ text: 'Zero.' })
  const { chat, statuses } = openTab(url, lost)
  await chat.regenerate()
  expect(statuses).toEqual(['other-history'])
})

it('[OP6 IN3] one that asks again after an input which joined the answer is not', async () => {
  const gate = Promise.withResolvers<void>()
  const { url } = await startChatServer(
    (text, step) =>
      text === 'u1' && step === 0 ? [{ call: 'look', input: {} }] : [{ text: 'Both.' }],
    { tools: { look: tool({ inputSchema: z.object({}), execute: () => gate.promise }) } },
  )
  const post = (body: object) =>
    fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: threadId, ...body }),
    })
  const user = (id: string) => ({ id, role: 'user', parts: [{ type: 'text', text: id }] })
  const first = await post({ messages: [user('u1')], trigger: 'submit-message' })
  const second = await post({
    messages: [user('u2')],
    whenBusy: 'steer',
    trigger: 'submit-message',
  })
  gate.resolve()
  await Promise.all([first.text(), second.text()])
  const again = await post({ messages: [user('u1'), user('u2')], trigger: 'regenerate-message' })
  expect(await again.text()).not.toContain('other-history')
})

it('[OP6] a page that then loads the thread shows what is stored, and the answer that goes on', async () => {
  const { url } = await startChatServer(() => [{ text: 'Answer.' }])
  await openTab(url).chat.sendMessage({ text: 'Zero.' })
  const transport = createChatTransport<UIMessage, UIMessageChunk>({ baseUrl: url, sdk: 7 })
  const loaded = Promise.withResolvers<void>()
  const chat: Chat<UIMessage> = new Chat<UIMessage>({
    id: threadId,
    messages: [...lost],
    transport,
    onData: () => {
      void transport.load(threadId).then((messages) => {
        chat.messages = messages
        loaded.resolve()
      })
    },
  })
  await chat.sendMessage({ text: 'Two.' })
  await loaded.promise
  const textsOf = (messages: readonly UIMessage[]) =>
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'text' ? part.text : [])),
    )
  expect(textsOf(await transport.load(threadId))).toEqual(['Zero.', 'Answer.', 'Two.', 'Answer.'])
  expect(textsOf(chat.messages)).toEqual(['Zero.', 'Answer.', 'Two.', 'Answer.'])
})

it('[OP6] one whose answers are stored, shown or hidden, gets no notice', async () => {
  const { url } = await startChatServer(() => [{ text: 'Answer.' }])
  const { chat, statuses } = openTab(url)
  await chat.sendMessage({ text: 'One.' })
  const stale = openTab(url, chat.messages)
  await chat.sendMessage({ text: 'Two.' })
  await chat.regenerate()
  await stale.chat.sendMessage({ text: 'Three.' })
  await chat.sendMessage({ text: 'Four.' })
  expect([statuses, stale.statuses]).toEqual([[], []])
})

it('[OP6] the note is no part of the message, and the line protocol has it too', async () => {
  const { url } = await startChatServer(() => [{ text: 'Answer.' }])
  const send = (id: string, query: string) =>
    fetch(`${url}/api/chat${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        id: threadId,
        messages: [...lost, { id, role: 'user', parts: [{ type: 'text', text: 'Two.' }] }],
      }),
    })
  const response = await send('u2', '')
  expect((await readChunks(response.clone()))[0]?.type).toBe('start')
  expect(await response.text()).toMatch(/"status":"other-history".*"transient":true/)
  const lines = await (await send('u3', '?protocol=data-stream')).text()
  expect(lines).toMatch(/^2:.*"status":"other-history"/m)
})
