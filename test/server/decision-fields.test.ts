import { expect, it } from 'vitest'
import { startChatServer } from './chat-server.ts'

const post = async (url: string, body: unknown) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.text() }
}

it('[AP3] refuses a decision with a field that it does not know: the call would run with other arguments than a person gave', async () => {
  const { url, holdfast, ran } = await startChatServer((_, step) =>
    step === 0 ? [{ call: 'remove', input: { path: '/all' } }] : [{ text: 'Done.' }],
  )
  const message = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'remove' }] }
  await post(`${url}/api/chat`, { id: 'thread', messages: [message] })
  const page = await holdfast.messages('thread', { format: 'chat' })
  const callId = page?.results[0]?.toolCalls[0]?.id ?? ''
  const thread = `${url}/api/threads/thread`
  const wrong = { decision: 'accept', arguments: { path: '/one' } }
  const error = {
    code: 'bad-request',
    message:
      'A decision has no option "arguments". Its options are callId, decision, args, feedback.',
  }
  const refused = { status: 400, body: JSON.stringify({ error }) }
  expect(await post(`${thread}/tool-calls/${callId}/decision`, wrong)).toEqual(refused)
  expect(await post(`${thread}/decisions`, { decisions: [{ callId, ...wrong }] })).toEqual(refused)
  const right = { decision: 'accept', args: { path: '/one' } }
  expect(await post(`${thread}/tool-calls/${callId}/decision`, right)).toMatchObject({
    status: 200,
  })
  await holdfast.settled()
  expect(ran).toEqual(['remove'])
  const [answer] = (await holdfast.messages('thread', { format: 'chat' }))?.results ?? []
  expect(answer?.toolCalls).toMatchObject([{ result: { removed: '/one' } }])
})
