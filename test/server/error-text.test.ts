import { jsonSchema, tool } from 'ai'
import {
  exportThread,
  type FileStore,
  type HoldfastOptions,
  type LifecycleEvent,
  parseMessageId,
  parseThreadId,
} from 'holdfast'
import { createHandler } from 'holdfast/server'
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

async function sendMessage(
  { url }: ChatServer,
  id: string,
  text: string,
  query = '',
): Promise<string> {
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
/** What the schema makes of the arguments throws when it is read, as a lazy field does. */
const lazy = z
  .object({})
  .transform(() => Object.defineProperty({}, 'n', { enumerable: true, get: throwing }))
const made = { tools: { boom: tool({ ...ok, inputSchema: lazy }) } }
const repair = { tools: { boom: tool(ok) }, repairToolCall: throwing }
/** What the repair gives throws when it is read. */
const repaired = {
  tools: { boom: tool(ok) },
  repairToolCall: async () => Object.defineProperty({}, 'toolName', { get: throwing }) as never,
}
const policies = { policies: { boom: { approval: () => Promise.reject(new Error(secret)) } } }

describe('what went wrong in the host’s own code', () => {
  it.each([
    ['a tool throws', [{ call: 'boom', input: {} }], {}, 'tool'],
    ['a policy throws', [{ call: 'boom', input: {} }], policies, 'policy'],
    ['a tool’s schema throws', [{ call: 'boom', input: {} }], schema, 'tool'],
    ['what a tool’s schema makes throws', [{ call: 'boom', input: {} }], made, 'tool'],
    ['the repair of a call throws', [{ call: 'boom', input: {} }], repair, 'tool'],
    ['what the repair of a call gives throws', [{ call: 'boom', input: {} }], repaired, 'tool'],
    ['prepareStep throws', [{ text: 'So' }], { prepareStep: throwing }, 'model'],
    ['stopWhen throws', [{ call: 'boom', input: {} }], { stopWhen: throwing }, 'tool'],
    ['a model’s stream fails with', [{ text: 'So' }, { fails: new Error(secret) }], {}, 'model'],
    ['a model refuses to begin with', [{ fails: new Error(secret) }], {}, 'model'],
  ] as const)(
    '[HT6] %s is shown to no client; it has an id that is in the log',
    async (_, parts, options, source) => {
      const failing = await start(parts, options)
      const answer = await sendMessage(failing.server, 'u1', 'go')
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

  it('[HT6 CL6] is shown to the model, when it was a tool', async () => {
    const failing = await start([{ call: 'boom', input: {} }])
    await sendMessage(failing.server, 'u1', 'go')
    expect(JSON.stringify(failing.server.calls[1]?.prompt)).toContain(secret)
    // And in every later turn the same.
    await sendMessage(failing.server, 'u2', 'again')
    expect(JSON.stringify(failing.server.calls[2]?.prompt)).toContain(secret)
  })

  it('[HT6] is worded as the host wants it', async () => {
    const places: unknown[] = []
    const failing = await start([{ call: 'boom', input: {} }], {
      errorText: (error, where) => {
        places.push(where)
        return `Sorry: ${where.source}, ${(error as Error).message.slice(0, 8)}`
      },
    })
    await sendMessage(failing.server, 'u1', 'go')
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
    expect(await sendMessage(failing.server, 'u1', 'go')).toMatch(/The tool failed\. \(error /)
  })

  it('[HT6] is not shown of a recorded loop either; what the host has worded already is', async () => {
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
    await sendMessage(server, 'u0', 'hello')
    const unreadable = Object.defineProperty({}, 'rows', { enumerable: true, get: throwing })
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
        { type: 'tool-call', toolCallId: 'c3', toolName: 'a', input: {} },
        { type: 'tool-result', toolCallId: 'c3', toolName: 'a', input: {}, output: unreadable },
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
    expect(log.filter(({ type }) => type === 'failed')).toHaveLength(4)
  })

  const isOne = (value: unknown): value is { n: number } => JSON.stringify(value) === '{"n":1}'

  const post = (url: string, body: object) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  it.each([
    ['throws', z.object({ n: z.number() }).refine(({ n }) => n === 1 || throwing())],
    [
      'returns an error about',
      jsonSchema<{ n: number }>(
        { type: 'object' },
        {
          validate: (value) =>
            isOne(value) ? { success: true, value } : { success: false, error: new Error(secret) },
        },
      ),
    ],
  ])('[HT6] is not shown to whoever edits arguments that its schema %s', async (_, schema) => {
    const failing = await start([{ call: 'boom', input: { n: 1 } }], {
      tools: { boom: tool({ inputSchema: schema, execute: () => 'done' }) },
      policies: { boom: { approval: 'always' } },
    })
    await sendMessage(failing.server, 'u1', 'go')
    const { url } = failing.server
    const page = await fetch(`${url}/api/threads/t/messages`)
    const callId = /"toolCallId":"([^"]+)"/.exec(await page.text())?.[1] ?? ''
    const answer = await post(`${url}/api/threads/t/tool-calls/${callId}/decision`, {
      decision: 'accept',
      args: { n: 2 },
    })
    const text = await answer.text()
    expect([answer.status, text]).toEqual([422, expect.not.stringContaining('hunter2')])
    const [failure] = failuresOf(failing)
    expect(failure).toMatchObject({ source: 'tool', name: 'boom', callId, message: secret })
    expect(text).toContain(failure?.type === 'failed' ? failure.errorId : '?')
  })

  it('[HT6] is not shown to the client whose output its schema throws at', async () => {
    const failing = await start([{ call: 'boom', input: {}, id: 'p1' }], {
      tools: { boom: tool({ inputSchema: z.object({}), outputSchema: z.any().refine(throwing) }) },
    })
    await sendMessage(failing.server, 'u1', 'go')
    const { url } = failing.server
    const page = (await (await fetch(`${url}/api/threads/t/messages`)).json()) as {
      readonly results: readonly { readonly role: string; readonly parts: readonly object[] }[]
    }
    const turn = page.results.find(({ role }) => role === 'assistant')
    const parts = turn?.parts.map((part) =>
      'toolCallId' in part ? { ...part, state: 'output-available', output: 1 } : part,
    )
    const answer = await post(`${url}/api/chat`, { id: 't', messages: [{ ...turn, parts }] })
    const text = await answer.text()
    expect([answer.status, text]).toEqual([422, expect.not.stringContaining('hunter2')])
    expect(text).toMatch(/They could not be validated\. \(error /)
    expect(failuresOf(failing)).toMatchObject([{ source: 'tool', name: 'boom', message: secret }])
  })

  it('[HT6 AG2] is not shown to whoever chooses what its schema throws at; the reason is in the log', async () => {
    const records: unknown[] = []
    const { server } = await start([], { choices: z.any().refine(throwing) })
    const handler = createHandler(server.holdfast, {
      authenticate: () => ({ id: 'ann' }),
      log: (record) => records.push(record.error),
    })
    const answer = await handler(
      new Request('http://127.0.0.1/api/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: 'a-thread-of-her-own',
          choices: {},
          messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'go' }] }],
        }),
      }),
    )
    const { error } = (await answer.json()) as { readonly error: object }
    expect([answer.status, error]).toEqual([
      400,
      {
        code: 'bad-choices',
        message: expect.stringMatching(
          /^The choices could not be validated\. \(error .{8}\)$/,
        ) as string,
      },
    ])
    expect(records).toMatchObject([{ ...error, cause: { message: secret } }])
  })

  it.each([
    ['authenticate', { authenticate: throwing }, {}, '/api/threads'],
    ['models', {}, { models: throwing }, '/api/agent'],
    ['the file store', {}, { files: { store: brokenFiles() } }, '/api/files'],
    ['the log', { log: throwing }, {}, '/api/threads'],
  ] as const)(
    '[HT6] is not shown to whoever asks, where %s throws',
    async (_, handlerOptions, options, path) => {
      const { server } = await start([], options)
      const handler = createHandler(server.holdfast, {
        authenticate: () => ({ id: 'ann' }),
        log: () => undefined,
        ...handlerOptions,
      })
      const upload = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'words' }
      const request = new Request(`http://127.0.0.1${path}`, path === '/api/files' ? upload : {})
      expect(await (await handler(request)).text()).not.toContain('hunter2')
    },
  )
})

function brokenFiles(): FileStore {
  const broken = (): Promise<never> => Promise.reject(new Error(secret))
  return { kind: 'broken', write: broken, read: broken, remove: broken }
}
