import { createHoldfast, memory, parseThreadId } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { tool } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'

const thread = '01927c36-6a29-7c5e-9c1e-2f4b8a3d5e6f'

it('[AG1 HT6] an agent that fails is reported in words that give nothing away, and waits for its time to come again', async () => {
  let isAway = false
  const model = scriptedModel(({ index }) =>
    index === 0 ? [{ call: 'remove', input: { path: 'a' } }] : [{ text: 'Done.' }],
  )
  const removed: string[] = []
  const remove = tool({
    inputSchema: z.object({ path: z.string() }),
    needsApproval: true,
    execute: ({ path }) => removed.push(path),
  })
  const holdfast = createHoldfast({
    store: memory(),
    recoverEveryMs: 0,
    hooks: () => {},
    agent() {
      if (isAway) throw new Error('password=hunter2')
      return { model, tools: { remove } }
    },
  })
  const handler = createHandler(holdfast, { authenticate: () => ({ id: 'ann' }) })
  const request = async (path: string, body?: object) => {
    const url = `http://127.0.0.1/api/${path}`
    const headers = { 'content-type': 'application/json' }
    const given = body === undefined ? {} : { body: JSON.stringify(body), headers, method: 'POST' }
    const response = await handler(new Request(url, given))
    return { status: response.status, text: await response.text() }
  }
  const chatBody = (id: string) => ({
    id: thread,
    messages: [{ id, role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  })
  isAway = true
  const failed = await request('chat', chatBody('u1'))
  expect(failed.status).toBe(200)
  expect(failed.text).toContain('"type":"error"')
  expect(failed.text).toContain('This answer could not be prepared.')
  isAway = false
  await request(`chat/${thread}/continue`, {})
  const page = await holdfast.store.readPage({
    threadId: parseThreadId(thread),
    limit: 1,
    before: null,
    live: 'include',
    results: 'full',
  })
  const turn = page?.messages[0]
  const call = turn?.role === 'assistant' ? turn.steps[0]?.parts[0] : undefined
  const callId = call?.type === 'call' ? call.id : ''
  const decide = (decision: object) =>
    request(`threads/${thread}/tool-calls/${callId}/decision`, decision)
  isAway = true
  const refused = await decide({ decision: 'accept', args: { path: 'b' } })
  expect(refused.status).toBe(503)
  expect(refused.text).toContain('"code":"agent-failed"')
  isAway = false
  const wrong = await decide({ decision: 'accept', args: { path: 1 } })
  expect(wrong).toMatchObject({ status: 422 })
  const accepted = await decide({ decision: 'accept', args: { path: 'b' } })
  expect(accepted.status).toBeLessThan(300)
  await holdfast.settled()
  expect(removed).toEqual(['b'])
  for (const { text } of [failed, refused]) expect(text).not.toContain('hunter2')
  // Without a scope nobody knows which tools there are.
  expect(await request('tools')).toEqual({ status: 200, text: '{"results":[]}' })
})
