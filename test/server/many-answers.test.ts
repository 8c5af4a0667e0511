import { createHoldfast, memory } from 'holdfast'
import { createHandler, createRecordingProxy, type Handler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished } from 'vitest'

/** A thread whose turn has 1,500 calls, and how often a call was looked up. */
async function start() {
  const store = memory()
  let lookups = 0
  const holdfast = createHoldfast({
    store: {
      ...store,
      readCall(...args) {
        lookups++
        return store.readCall(...args)
      },
    },
    model: scriptedModel(() => [{ text: 'Hello.' }]),
    recoverEveryMs: 0,
  })
  onTestFinished(() => holdfast.close())
  const handler = createHandler(holdfast, { localOnly: true })
  const imported = await post(handler, '/api/import?thread=t', {
    messages: [
      { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Look it up.' }] },
      { id: 'a', role: 'assistant', parts: outputs(1_500, 'own') },
    ],
  })
  expect(await imported.json()).toMatchObject({ messages: 2, failed: [] })
  lookups = 0
  return { holdfast, handler, lookups: () => lookups }
}

const post = (handler: Handler, path: string, body: object) =>
  handler(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )

const outputs = (count: number, whose: string) =>
  Array.from({ length: count }, (_, nth) => ({
    type: 'tool-look_up',
    toolCallId: `${whose}-${nth}`,
    state: 'output-available',
    input: {},
    output: nth,
  }))

const decisions = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({
    type: 'tool-look_up',
    toolCallId: `decided-${nth}`,
    state: 'approval-responded',
    input: {},
    approval: { id: `approval-${nth}`, approved: true },
  }))

const answer = (handler: Handler, parts: readonly object[]) =>
  post(handler, '/api/chat', { id: 't', messages: [{ id: 'a', role: 'assistant', parts }] })

const tooMany = {
  error: {
    code: 'bad-request',
    message: 'The message has more than 1000 answers to calls that are not its own.',
  },
}

it('[OP7 HT3] refuses a message with too many answers to calls that it does not have, before it looks for any', async () => {
  const { handler, lookups } = await start()
  const refused = await answer(handler, [...outputs(600, 'other'), ...decisions(401)])
  expect([refused.status, await refused.json()]).toEqual([400, tooMany])
  expect(lookups()).toBe(0)
  const last = await answer(handler, [...outputs(600, 'other'), ...decisions(400)])
  expect([last.status, await last.json()]).toMatchObject([
    404,
    { error: { code: 'call-not-found' } },
  ])
})

it('[OP7 HT3] a recording proxy does too', async () => {
  const { holdfast, lookups } = await start()
  const target = new URL('http://backend.example/chat')
  const proxy = createRecordingProxy(holdfast, { localOnly: true, target })
  const refused = await answer(proxy, outputs(1_001, 'other'))
  expect([refused.status, await refused.json()]).toEqual([400, tooMany])
  expect(lookups()).toBe(0)
})

it('[CL2a] takes any number of answers to calls of its own, which a client sends back every time', async () => {
  const { handler, lookups } = await start()
  const response = await answer(handler, outputs(1_500, 'own'))
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('[DONE]')])
  expect(lookups()).toBe(0)
})
