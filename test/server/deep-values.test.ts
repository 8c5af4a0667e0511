import { tool, type ToolSet } from 'ai'
import { callsOf, type HoldfastOptions, type Json, parseMessageId, parseThreadId } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { lastTurn as readLastTurn } from '../engine/crash.ts'
import { type ChatServer, type Script, startChatServer } from './chat-server.ts'

const deepText = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`
const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}
const cycle: Record<string, unknown> = {}
cycle['left'] = cycle
cycle['right'] = cycle
function sparse(): unknown {
  const list: unknown[] = []
  list[400_000_000] = 1
  return list
}
const shared = (): unknown => {
  let value: unknown = 1
  for (let level = 0; level < 45; level++) value = [value, value]
  return value
}
const endless = (): object =>
  new Proxy(
    {},
    {
      get: endless,
      ownKeys: () => ['a'],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    },
  )

/** What tools return, and how the call ends. */
const returned: Readonly<Record<string, readonly [value: () => unknown, error: RegExp | null]>> = {
  'a thousand levels': [() => deep(1_000), null],
  'a hundred thousand levels': [() => deep(100_000), null],
  'levels under a value that is no plain object': [
    () => ({ at: new Date(0), deep: deep(5_000) }),
    null,
  ],
  'a cycle': [() => cycle, /refers to itself/],
  'a BigInt': [() => ({ many: 10n }), /BigInt/],
  'a getter that throws': [
    () => ({
      get value() {
        throw new Error('not yet')
      },
    }),
    /not yet/,
  ],
  'a toJSON that throws': [
    () => ({
      toJSON() {
        throw new Error('never')
      },
    }),
    /never/,
  ],
  'a toJSON without end': [
    function again(): object {
      return { toJSON: () => ({ next: again() }) }
    },
    /nested|more than 500,000 values/,
  ],
  'a huge sparse list': [sparse, /more than 500,000 values/],
  'a sparse list inside': [() => ({ at: new Date(0), list: sparse() }), /more than 500,000 values/],
  'one thing in many places': [shared, /more than 500,000 values/],
  'a proxy without end': [endless, /nested|more than 500,000 values/],
  'a thrown object': [
    () => {
      const thrown: unknown = { code: 7, why: 'no' }
      throw thrown as Error
    },
    /^\{"code":7,"why":"no"\}$/,
  ],
}

const formats = ['ui', 'vercel', 'entities', 'chat', 'ledger']

async function pagesOf(server: ChatServer): Promise<readonly (readonly [string, number])[]> {
  return Promise.all(
    formats.map(async (format) => {
      const page = await fetch(`${server.url}/api/threads/t/messages?format=${format}`)
      await page.text()
      return [format, page.status] as const
    }),
  )
}
const allGood = formats.map((format) => [format, 200])

const sendMessage = async (server: ChatServer, id: string, text: string) => {
  const response = await fetch(`${server.url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 't',
      messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
    }),
  })
  return response.text()
}

const start = (script: Script, options: Partial<HoldfastOptions> = {}) =>
  startChatServer(script, { errorText: (_, { message }) => message, ...options })

const threadId = parseThreadId('t')
const lastTurn = ({ holdfast }: ChatServer) => readLastTurn(holdfast.store, threadId)

describe.each(['memory', 'sqlite'])('on %s', (kind) => {
  const store = () => {
    if (kind === 'memory') return {}
    const opened = sqlite(temporaryFile())
    onTestFinished(() => opened.close())
    return { store: opened }
  }

  it.each(Object.entries(returned))('[CL6a] a tool that returns %s', async (_, [value, error]) => {
    const tools: ToolSet = { give: tool({ inputSchema: z.object({}), execute: () => value() }) }
    const server = await start(
      (text, step) =>
        text === 'go' && step === 0 ? [{ call: 'give', input: {} }] : [{ text: 'Fine.' }],
      { tools, ...store() },
    )
    expect(await sendMessage(server, 'u1', 'go')).toContain('Fine.')
    const turn = await lastTurn(server)
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    const [call] = callsOf(turn)
    if (error === null) expect(call?.state).toBe('succeeded')
    else
      expect(call).toMatchObject({
        state: 'failed',
        cause: 'tool-error',
        error: expect.stringMatching(error) as string,
      })
    expect(await pagesOf(server)).toEqual(allGood)
    expect(await sendMessage(server, 'u2', 'again')).toContain('Fine.')
  })

  it.each([
    ['streamed', true],
    ['at once', false],
  ])('[CL6a] a model whose arguments are too deep, %s', async (_, streamed) => {
    const ran: unknown[] = []
    const tools = { take: tool({ inputSchema: z.any(), execute: (input) => ran.push(input) }) }
    const server = await start(
      (_text, step) =>
        step === 0
          ? [{ call: 'take', input: {}, inputText: `{"a":${deepText(60_000)}}`, streamed }]
          : [{ text: 'Fine.' }],
      { tools, ...store() },
    )
    expect(await sendMessage(server, 'u1', 'go')).toContain('Fine.')
    const [call] = callsOf(await lastTurn(server))
    expect(call).toMatchObject({
      state: 'failed',
      cause: 'invalid-input',
      error: expect.stringContaining('deeper than 56 levels') as string,
    })
    expect(ran).toEqual([])
    expect(await pagesOf(server)).toEqual(allGood)
    expect(await sendMessage(server, 'u2', 'again')).toContain('Fine.')
  })

  it('[CL6a] a host that sends, decides and resolves with what is too deep', async () => {
    const server = await start(
      (text, step) =>
        text === 'remove' && step === 0
          ? [{ call: 'remove', input: { path: 'a' } }]
          : [{ text: 'Fine.' }],
      store(),
    )
    const { holdfast } = server
    await sendMessage(server, 'u1', 'remove')
    const [call] = callsOf(await lastTurn(server))
    const decisions = [
      { callId: call!.id, decision: 'accept', args: { path: 'a', more: deep(9_000) as Json } },
    ] as const
    expect(await holdfast.decide({ threadId, by: 'ann', decisions })).toMatchObject([
      { kind: 'invalid-args', message: expect.stringContaining('deeper than 56 levels') as string },
    ])
    const message = {
      id: parseMessageId('u2'),
      parts: [{ type: 'text', text: 'hi' }],
      metadata: deep(9_000) as Json,
    } as const
    expect(await holdfast.send({ threadId, message })).toMatchObject({ kind: 'started' })
    await holdfast.settled()
    await expect(
      holdfast.send({
        threadId,
        message: { ...message, id: parseMessageId('u3'), metadata: cycle as never },
      }),
    ).rejects.toMatchObject({ code: 'bad-request' })
    expect(await pagesOf(server)).toEqual(allGood)
  })
})

it('[CL6a LG7] a database that holds such values can be read again', async () => {
  const file = temporaryFile()
  const opened = sqlite(file)
  onTestFinished(() => opened.close())
  const server = await start(
    (text, step) =>
      step > 0 || text === 'bye'
        ? [{ text: 'Fine.' }]
        : [
            { text: 'Look.' },
            { call: text === 'wait' ? 'remove' : 'weather', input: { city: 'Paris', path: 'x' } },
          ],
    { store: opened },
  )
  await sendMessage(server, 'u1', 'hi')
  await sendMessage(server, 'u2', 'wait')
  const db = new DatabaseSync(file)
  for (const { name } of db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .all()) {
    db.exec(`DROP TRIGGER "${String(name)}"`)
  }
  const text = deepText(100_000)
  db.prepare('UPDATE calls SET output = ? WHERE output IS NOT NULL').run(text)
  db.prepare('UPDATE calls SET input = ?').run(text)
  db.prepare(
    'UPDATE messages SET body = replace(body, \'"unreadable":0\', \'"unreadable":0,"metadata":\' || ?)',
  ).run(text)
  db.prepare(
    'UPDATE messages SET body = \'{"parts":[{"type":"text","text":"hi"}],"metadata":\' || ? || \'}\' WHERE role = \'user\'',
  ).run(text)
  db.prepare(
    'UPDATE events SET payload = replace(payload, \'"city":"Paris"\', \'"city":\' || ?)',
  ).run(text)
  db.close()
  expect(await pagesOf(server)).toEqual(allGood)
  const page = await (await fetch(`${server.url}/api/threads/t/messages`)).text()
  expect(page).toContain('Look.')
  expect(page).toContain('hi')
  expect(await sendMessage(server, 'u3', 'bye')).toContain('Fine.')
})
