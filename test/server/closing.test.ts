import { tool } from 'ai'
import { createHoldfast, memory } from 'holdfast'
import { createRecordingProxy } from 'holdfast/server'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, gate } from '../engine/fixture.ts'
import { startChatServer } from './chat-server.ts'

const post = (url: string, path: string, body: unknown) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const postMessage = (url: string, id: string, text: string) =>
  post(url, '/api/chat', {
    id,
    messages: [{ id: `u-${id}`, role: 'user', parts: [{ type: 'text', text }] }],
  })

/** A tool that runs until it may end. */
function createSlowTool() {
  const [begun, mayEnd] = [gate(), gate()]
  const slow = tool({
    inputSchema: z.object({}),
    async execute() {
      begun.open()
      await mayEnd.opened
      return 'done'
    },
  })
  return { slow, begun, mayEnd }
}

async function startClosing() {
  const { slow, begun, mayEnd } = createSlowTool()
  const remove = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => 'removed' })
  const server = await startChatServer(
    (text, step) => (step === 0 ? [{ call: text, input: {}, id: text }] : [{ text: 'All done.' }]),
    { tools: { slow, remove } },
  )
  await (await postMessage(server.url, 'waits', 'remove')).text()
  const answer = await postMessage(server.url, 'runs', 'slow')
  await begun.opened
  return { ...server, answer, mayEnd, closed: server.holdfast.close({ graceMs: 60_000 }) }
}

const closing = {
  code: 'closing',
  message: 'This server is closing. Nothing was stored: try again in a moment.',
}

it('[OP11] a process that closes takes no message, says so, and lets what runs come to its end', async () => {
  const { url, holdfast, answer, mayEnd, closed } = await startClosing()
  const refused = await postMessage(url, 'late', 'slow')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await refused.json()).toEqual({ error: closing })
  const others = [
    await post(url, '/api/chat', { id: 'waits', trigger: 'regenerate-message', messages: [] }),
    await post(url, '/api/chat/waits/continue', {}),
  ]
  for (const response of others) {
    expect([response.status, await response.json()]).toEqual([503, { error: closing }])
  }
  const ready = await fetch(`${url}/api/ready`)
  expect([ready.status, await ready.json()]).toEqual([
    503,
    {
      error: {
        code: 'not-ready',
        message: 'This server is not ready. This server is closing.',
        reason: 'closing',
      },
    },
  ])
  mayEnd.open()
  const text = await answer.text()
  await closed
  expect(text).toContain('All done.')
  expect(text).toMatch(/"finish".*\n\ndata: \[DONE\]\n\n$/)
  expect(await holdfast.threads.get('late')).toBeNull()
  expect(holdfast.running()).toEqual([])
})

it('[OP11] what is decided while a process closes is stored, and after the close no run begins', async () => {
  const { url, holdfast, mayEnd, closed } = await startClosing()
  const page = await holdfast.messages('waits', { format: 'chat' })
  const [call] = page?.results[0]?.toolCalls ?? []
  const decided = await post(url, `/api/threads/waits/tool-calls/${call?.id}/decision`, {
    decision: 'accept',
  })
  expect([decided.status, await decided.json()]).toEqual([200, { status: 'accepted' }])
  mayEnd.open()
  await closed
  const message = { parts: [{ type: 'text', text: 'slow' } as const] }
  const create = { ownerId: 'local' }
  const late = { code: 'closing', isTemporary: true }
  await expect(holdfast.send({ threadId: 'late', message, create })).rejects.toMatchObject(late)
  expect(await holdfast.threads.get('late')).toBeNull()
})

it('[OP11 IN5] a process that closes sends nothing on that waits in a queue', async () => {
  const { slow, begun, mayEnd } = createSlowTool()
  const { holdfast, send, threadId, calls } = await createFixture(
    () => [{ call: 'slow', input: {} }],
    { tools: { slow } },
  )
  await send('go')
  await begun.opened
  expect(await send('waits')).toMatchObject({ kind: 'queued' })
  mayEnd.open()
  expect(await holdfast.stop(threadId)).toMatchObject({ kind: 'stopped', held: 1 })
  await holdfast.settled()
  await holdfast.close()
  const asked = calls.length
  await expect(holdfast.queues.release(threadId)).rejects.toMatchObject({ code: 'closing' })
  expect([holdfast.running(), calls.length]).toEqual([[], asked])
  expect(await holdfast.queues.list(threadId)).toMatchObject([{ held: true }])
})

it('[OP11 RS4] the recording proxy of a process that closes calls no backend and stores nothing', async () => {
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  let calls = 0
  const proxy = createRecordingProxy(holdfast, {
    target: new URL('http://backend.test/chat'),
    localOnly: true,
    fetch: async () => {
      calls++
      return new Response('0:"Hello"\n')
    },
  })
  await holdfast.close()
  const response = await proxy(
    new Request('http://localhost/api/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        id: 'late',
        messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'go' }] }],
      }),
    }),
  )
  expect([response.status, await response.json()]).toEqual([503, { error: closing }])
  expect([calls, await holdfast.threads.get('late')]).toEqual([0, null])
})
