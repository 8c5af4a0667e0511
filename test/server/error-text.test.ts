import { tool } from 'ai'
import {
  exportThread,
  type HoldfastOptions,
  type LifecycleEvent,
  parseMessageId,
  parseThreadId,
} from 'holdfast'
import type { ScriptPart } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ChatServer, startChatServer } from './chat-server.ts'

const secret = 'postgres://admin:hunter2@10.0.0.7/prod'
const threadId = parseThreadId('t')

interface Failing {
  readonly server: ChatServer
  readonly log: LifecycleEvent[]
}

async function start(
  first: readonly ScriptPart[],
  options: Partial<HoldfastOptions> = {},
): Promise<Failing> {
  const log: LifecycleEvent[] = []
  const boom = tool({
    inputSchema: z.object({}),
    execute: (): Promise<string> => Promise.reject(new Error(secret)),
  })
  const server = await startChatServer(
    (text, step) => (text === 'go' && step === 0 ? first : [{ text: 'Fine.' }]),
    { tools: { boom }, hooks: (event) => log.push(event), modelRetries: 0, ...options },
  )
  return { server, log }
}

async function say({ url }: ChatServer, id: string, text: string, query = ''): Promise<string> {
  const response = await fetch(`${url}/api/chat${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 't',
      messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
    }),
  })
  return response.text()
}

/** Everything that a client can read of the thread. */
async function readAll({ url, holdfast }: ChatServer): Promise<Readonly<Record<string, string>>> {
  const get = async (path: string) => (await fetch(`${url}${path}`)).text()
  const seen: Record<string, string> = {}
  for (const format of ['ui', 'vercel', 'entities', 'chat', 'ledger']) {
    seen[`page ${format}`] = await get(`/api/threads/t/messages?format=${format}`)
  }
  const page = JSON.parse(seen['page ui'] ?? '') as { results: { id: string; role: string }[] }
  const turnId = page.results.findLast(({ role }) => role === 'assistant')?.id
  seen['calls'] = await get(`/api/messages/${turnId}/tool-calls?include=all`)
  const calls = JSON.parse(seen['calls']) as { toolCalls: { id: string }[] }
  for (const { id } of calls.toolCalls) {
    seen[`call ${id}`] = await get(`/api/threads/t/tool-calls/${id}`)
  }
  seen['replay'] = await get(`/api/chat/t/stream?message=${turnId}`)
  seen['old replay'] = await get(`/api/chat/t/stream?message=${turnId}&protocol=data-stream`)
  for (const format of ['ui', 'vercel', 'entities', 'chat'] as const) {
    seen[`export ${format}`] = JSON.stringify(
      await Array.fromAsync(exportThread(holdfast.store, threadId, format)),
    )
  }
  const stop = new AbortController()
  const events = await fetch(`${url}/api/threads/t/events?after=0`, { signal: stop.signal })
  const reader = events.body?.getReader()
  const first = await reader?.read()
  seen['events'] = new TextDecoder().decode(first?.value)
  stop.abort()
  return seen
}

/** Where the secret can be read. */
const leaksOf = (seen: Readonly<Record<string, string>>) =>
  Object.keys(seen).filter((where) => seen[where]?.includes('hunter2'))

const failuresOf = ({ log }: Failing) => log.filter((event) => event.type === 'failed')

const throwing = (): never => {
  throw new Error(secret)
}
const ok = { inputSchema: z.object({ n: z.number() }), execute: () => 'ok' }
const schema = { tools: { boom: tool({ ...ok, inputSchema: z.object({}).refine(throwing) }) } }
const repair = { tools: { boom: tool(ok) }, repairToolCall: throwing }
const policies = { policies: { boom: { approval: () => Promise.reject(new Error(secret)) } } }

describe('what went wrong in the host’s own code', () => {
  it.each([
    ['a tool throws', [{ call: 'boom', input: {} }], {}, 'tool'],
    ['a policy throws', [{ call: 'boom', input: {} }], policies, 'policy'],
    ['a tool’s schema throws', [{ call: 'boom', input: {} }], schema, 'tool'],
    ['the repair of a call throws', [{ call: 'boom', input: {} }], repair, 'tool'],
    ['prepareStep throws', [{ text: 'So' }], { prepareStep: throwing }, 'model'],
    ['stopWhen throws', [{ call: 'boom', input: {} }], { stopWhen: throwing }, 'tool'],
    ['a model’s stream fails with', [{ text: 'So' }, { fails: new Error(secret) }], {}, 'model'],
    ['a model refuses to begin with', [{ fails: new Error(secret) }], {}, 'model'],
  ] as const)(
    '[HT6] %s is told to no client; it has an id that is in the log',
    async (_, parts, options, source) => {
      const failing = await start(parts, options)
      const answer = await say(failing.server, 'u1', 'go')
      const seen: Readonly<Record<string, string>> = {
        answer,
        ...(await readAll(failing.server)),
      }
      expect(leaksOf(seen)).toEqual([])
      const [failure] = failuresOf(failing)
      expect(failure).toMatchObject({
        source,
        threadId: 't',
        message: expect.stringContaining(secret) as string,
      })
      const errorId = failure?.type === 'failed' ? failure.errorId : ''
      expect(errorId).not.toBe('')
      expect(answer).toContain(errorId)
      expect(seen['page ui']).toContain(errorId)
      if (source !== 'model') expect(seen['page chat']).toContain(errorId)
    },
  )

  it('[HT6 CL6] is told to the model, when it was a tool', async () => {
    const failing = await start([{ call: 'boom', input: {} }])
    await say(failing.server, 'u1', 'go')
    expect(JSON.stringify(failing.server.calls[1]?.prompt)).toContain(secret)
    // And in every later turn the same.
    await say(failing.server, 'u2', 'again')
    expect(JSON.stringify(failing.server.calls[2]?.prompt)).toContain(secret)
  })

  it('[HT6] is told as the host wants it', async () => {
    const places: unknown[] = []
    const failing = await start([{ call: 'boom', input: {} }], {
      errorText: (error, where) => {
        places.push(where)
        return `Sorry: ${where.source}, ${(error as Error).message.slice(0, 8)}`
      },
    })
    await say(failing.server, 'u1', 'go')
    const seen = await readAll(failing.server)
    expect(seen['page ui']).toContain('Sorry: tool, postgres')
    expect(places).toMatchObject([{ source: 'tool', name: 'boom', threadId: 't' }])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no words')
      },
    ],
    ['gives nothing', () => undefined as unknown as string],
    ['gives what is no text', () => ({}) as unknown as string],
    ['gives blanks', () => '  '],
  ])('[HT6] stays neutral where the host’s own text %s', async (_, errorText) => {
    const failing = await start([{ call: 'boom', input: {} }], { errorText })
    expect(await say(failing.server, 'u1', 'go')).toMatch(/The tool failed\. \(error /)
  })

  it('[HT6] is not told of a recorded loop either; what the host has worded already is', async () => {
    const { server, log } = await start([])
    const record = async (id: string, source: AsyncIterable<unknown>) => {
      const recording = await server.holdfast.record(source, {
        threadId,
        message: { id: parseMessageId(id), parts: [{ type: 'text', text: 'go' }] },
      })
      if (recording.kind !== 'recording') throw new Error(recording.kind)
      void recording.stream.cancel()
      await recording.done
    }
    await say(server, 'u0', 'hello')
    async function* raw() {
      yield* [
        { type: 'start-step' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'a', input: {} },
        {
          type: 'tool-error',
          toolCallId: 'c1',
          toolName: 'a',
          input: {},
          error: new Error(secret),
        },
        { type: 'tool-call', toolCallId: 'c2', toolName: 'a', input: {} },
        { type: 'tool-error', toolCallId: 'c2', toolName: 'a', input: {}, error: secret },
        { type: 'error', error: new Error(secret) },
      ]
    }
    async function* worded() {
      yield* [
        { type: 'start-step' },
        { type: 'tool-input-available', toolCallId: 'd1', toolName: 'a', input: {} },
        { type: 'tool-output-error', toolCallId: 'd1', errorText: 'Out of tea.' },
        { type: 'error', errorText: 'The kettle is cold.' },
      ]
    }
    await record('u1', raw())
    await record('u2', worded())
    const seen = await readAll(server)
    expect(leaksOf(seen)).toEqual([])
    expect(seen['page ui']).toContain('Out of tea.')
    expect(seen['page ui']).toContain('The kettle is cold.')
    expect(log.filter(({ type }) => type === 'failed')).toHaveLength(3)
  })
})
