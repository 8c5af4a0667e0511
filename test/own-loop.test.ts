import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHoldfast, memory, parseOwnerId, parseThreadId } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readChunks } from '../src/testing/http-rules/chat-requests.ts'

const folder = new URL('../examples/own-loop/', import.meta.url)
const guide = readFileSync(new URL('../docs/guides/own-loop.md', import.meta.url), 'utf8')

const post = (body: object, url = 'http://localhost/api/chat') =>
  new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const streamOf = (parts: readonly object[]) =>
  new ReadableStream<object>({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })

describe('docs/guides/own-loop.md', () => {
  it.each(['route.ts', 'proxy.ts', 'repository.ts'])(
    'shows examples/own-loop/%s as it is',
    (name) => {
      const source = readFileSync(new URL(name, folder), 'utf8')
      expect(guide).toContain(`\`\`\`ts\n${source}\`\`\``)
    },
  )
})

describe('examples/own-loop', () => {
  it('[AP1 AP5] records a loop of its own, waits for an approval, and goes on in the same message', async () => {
    vi.stubEnv('HOLDFAST_DB', ':memory:')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { POST, holdfast } = await import('../examples/own-loop/route.ts')
    onTestFinished(() => holdfast.close())
    const user = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Delete Ideas' }] }
    const answer = await POST(post({ id: 't', messages: [user] }))
    const chunks = await readChunks<{ type: string; [field: string]: unknown }>(answer)
    const start = chunks.find(({ type }) => type === 'start')
    const request = chunks.find(({ type }) => type === 'tool-approval-request')
    const rest = createHandler(holdfast, { authenticate: () => ({ id: 'user-1' }) })
    const decision = `http://localhost/api/threads/t/tool-calls/${String(request?.['toolCallId'])}/decision`
    const decided = await rest(post({ decision: 'accept' }, decision))
    expect(await decided.json()).toEqual({ status: 'accepted' })
    await holdfast.settled()
    const page = await rest(new Request('http://localhost/api/threads/t/messages?sdk=7'))
    const { results } = (await page.json()) as { results: readonly { id: string }[] }
    expect(results[0]?.id).toBe(start?.['messageId'])
    expect(results[0]).toMatchObject({
      parts: [
        { type: 'step-start' },
        { type: 'text', text: 'Let me delete it.' },
        { type: 'tool-delete_note', state: 'output-available', output: { deleted: 'Ideas' } },
        { type: 'step-start' },
        { type: 'text', text: 'It is gone.' },
      ],
    })
  })

  it('[HT2 AP9] continues no turn of another owner, and stores no decision on its calls', async () => {
    const holdfast = createHoldfast({ store: memory() })
    onTestFinished(() => holdfast.close())
    const call = { toolCallId: 'c1', toolName: 'pay', input: {} }
    const parts = [
      { type: 'start-step' },
      { type: 'tool-input-available', ...call },
      { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c1' },
      { type: 'finish-step' },
      { type: 'finish' },
    ]
    const threadId = 'of-ana'
    const first = await holdfast.record(streamOf(parts), {
      threadId,
      message: { id: 'u1', parts: [{ type: 'text', text: 'Pay' }] },
      create: { ownerId: 'ana' },
    })
    if (first.kind !== 'recording') throw new Error(first.kind)
    await first.done
    const approval = { id: 'a1', approved: true }
    const part = { type: 'tool-pay', state: 'approval-responded', ...call, approval }
    const message = { id: first.turnId, role: 'assistant', parts: [part] }
    const asked = { threadId, continue: first.turnId, message }
    const read = async () => (await holdfast.messages(threadId, { format: 'chat' }))?.results
    const before = await read()
    const none = () => streamOf([])
    const refused = await holdfast.record(none(), { ...asked, ownerId: 'ben', by: 'ben' })
    expect(refused.kind).toBe('no-thread')
    expect(refused.toResponse().status).toBe(404)
    expect(await read()).toEqual(before)
    const taken = await holdfast.record(none(), { ...asked, ownerId: 'ana', by: 'ana' })
    expect(taken.kind).toBe('recording')
    await holdfast.settled()
    expect((await read())?.[0]?.toolCalls).toMatchObject([{ validated: 'accepted' }])
  })

  it('[RS4] stands before an old backend, and passes its tenant on', async () => {
    const tenants: unknown[] = []
    const old = createServer((request, response) => {
      tenants.push(request.headers['x-tenant'])
      response.end('0:"Hello."\nd:{"finishReason":"stop"}\n')
    })
    await new Promise<void>((resolve) => {
      old.listen(0, '127.0.0.1', resolve)
    })
    onTestFinished(() => void old.close())
    const { port } = old.address() as AddressInfo
    const { createApp } = await import('../examples/own-loop/proxy.ts')
    const app = createApp(new URL(`http://127.0.0.1:${port}/`))
    const user = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }
    const request = post({ id: 'a-thread-of-tenant-a', messages: [user] })
    request.headers.set('x-tenant', 'a')
    expect(await (await app(request)).text()).toContain('Hello.')
    expect(tenants).toEqual(['a'])
  })

  it('[CL11] writes its calls and its text itself', async () => {
    const { lookUp } = await import('../examples/own-loop/repository.ts')
    const store = memory()
    const holdfast = createHoldfast({ store, recoverEveryMs: 0 })
    onTestFinished(() => holdfast.close())
    const threadId = parseThreadId('t')
    await store.createThread({ id: threadId, ownerId: parseOwnerId('o'), title: '', at: 1 })
    await lookUp(holdfast, threadId)
    const page = await store.readPage({
      threadId,
      limit: 1,
      before: null,
      live: 'include',
      results: 'full',
    })
    expect(page?.messages[0]).toMatchObject({
      progress: { ending: { kind: 'completed' } },
      steps: [
        {
          parts: [
            { text: 'Let me look.' },
            { name: 'search', state: 'succeeded', output: { value: { hits: ['weather'] } } },
            { text: 'It is sunny.' },
          ],
        },
      ],
    })
  })
})
