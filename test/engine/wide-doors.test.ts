import { tool } from 'ai'
import { callsOf, importThreads, type Json, readImport } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, messageId } from './fixture.ts'

const keys = (count: number): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`k${nth}`, nth]))
/** Small objects no two of which have a key in common: each key takes forty times as long as a shared one. */
const strangers = (count: number): Json =>
  Array.from({ length: count / 100 }, (_, nth) =>
    Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`k${nth * 100 + key}`, key])),
  )
const list = (count: number): Json => Array.from({ length: count }, () => 1)

const reason = 'more than 500,000 values inside, or more than 25,000 different keys'

describe.each<[what: string, value: Json]>([
  ['a million keys', keys(1_000_000)],
  ['a million items', list(1_000_000)],
  ['sixty thousand different keys', strangers(60_000)],
])('%s', (_, value) => {
  it('[CL6b OP7] as the result of a tool fail its call, with the reason', async () => {
    const fixture = await createFixture(
      ({ index }) => (index === 0 ? [{ call: 'look', input: {} }] : [{ text: 'ok' }]),
      { tools: { look: tool({ inputSchema: z.object({}), execute: () => value }) } },
    )
    const turn = await fixture.runTurn('go')
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect([...callsOf(turn)]).toMatchObject([
      { state: 'failed', error: expect.stringContaining(reason) as string },
    ])
  })

  it('[CL6b OP7] as arguments are refused before the schema sees them', async () => {
    let asked = 0
    const inputSchema = z.any().refine(() => {
      asked++
      return true
    })
    const fixture = await createFixture(
      ({ index }) => (index === 0 ? [{ call: 'look', input: { value } }] : [{ text: 'ok' }]),
      {
        maxArgumentChars: 100_000_000,
        tools: { look: tool({ inputSchema, execute: () => 'ok' }) },
      },
    )
    const turn = await fixture.runTurn('go')
    expect([...callsOf(turn)]).toMatchObject([{ state: 'failed', cause: 'invalid-input' }])
    expect(asked).toBe(0)
  })

  it('[CL6b OP7] as arguments that a person has edited are refused', async () => {
    const fixture = await createFixture(
      ({ index }) => (index === 0 ? [{ call: 'look', input: {} }] : [{ text: 'ok' }]),
      {
        tools: { look: tool({ inputSchema: z.any(), execute: () => 'ok' }) },
        policies: { look: { approval: 'always' } },
      },
    )
    const { holdfast, threadId } = fixture
    const [call] = callsOf(await fixture.runTurn('go'))
    const decisions = [
      { callId: call?.id ?? '', decision: 'accept', args: { more: value } },
    ] as const
    expect(await holdfast.decide({ threadId, by: 'ann', decisions })).toMatchObject([
      { kind: 'invalid-args', message: expect.stringContaining(reason) as string },
    ])
  })

  it('[CL6b OP7] in a message are a bad request, and nothing of it is stored', async () => {
    const { holdfast, threadId, messages } = await createFixture(() => [{ text: 'ok' }])
    const parts = [{ type: 'text', text: 'go' }] as const
    const message = { id: messageId('u'), parts, metadata: value }
    await expect(holdfast.send({ threadId, message })).rejects.toMatchObject({
      ...{ code: 'bad-request', message: expect.stringContaining(reason) as string },
    })
    expect(await messages()).toEqual([])
  })

  it('[CL6b OP7] in an import are unreadable, and the rest is taken', async () => {
    const { store, holdfast } = await createFixture(() => [{ text: 'ok' }])
    const text = (id: string, output: Json) => ({
      ...{ id, role: 'assistant' },
      parts: [{ type: 'tool-t', toolCallId: id, state: 'output-available', input: {}, output }],
    })
    const thread = { id: 'imported', messages: [text('a', value), text('b', 'fine')] }
    async function* source(json: string) {
      for (let at = 0; at < json.length; at += 65_536) yield json.slice(at, at + 65_536)
    }
    const document = JSON.stringify(thread)
    const line = `${JSON.stringify({ id: 'l', messages: [] })}\n${JSON.stringify(text('c', value))}\n`
    for (const [json, where, options] of [
      [document, 'messages[0]', {}],
      [line, 'line 2', {}],
      // Where parsing must not block the event loop, it is counted before.
      [document, 'messages[0]', { messageChars: 100_000_000 }],
      [line, 'line 2', { messageChars: 100_000_000 }],
    ] as const) {
      const items = readImport(source(json), options)
      const report = await importThreads(store, items, { ownerId: 'o' })
      expect(report.failed).toMatchObject([
        {
          where: expect.stringContaining(where) as string,
          why: expect.stringMatching(/keys/) as string,
        },
      ])
    }
    const page = await holdfast.messages('imported')
    expect(JSON.stringify(page)).toContain('fine')
  })
})

it('[CL6b OP7 ST4] arguments that a model did not complete are stored, and no page has more than their beginning', async () => {
  const text = JSON.stringify(keys(80_000))
  const fixture = await createFixture(({ index }) =>
    index === 0
      ? Array.from({ length: 4 }, () => ({
          ...({ call: 'look', input: {}, inputText: text, streamed: true, cutOff: true } as const),
        }))
      : [{ text: 'ok' }],
  )
  const turn = await fixture.runTurn('go')
  const stored = [...callsOf(turn)].map(({ input }) => input.kind === 'partial' && input.text)
  // The model stops within the text.
  expect(
    stored.map((part) => part !== false && text.startsWith(part) && part.length > 400_000),
  ).toEqual(Array.from({ length: 4 }, () => true))
  const { holdfast, threadId } = fixture
  for (const format of ['ui', 'vercel', 'chat', 'entities'] as const) {
    const page = JSON.stringify(await holdfast.messages(threadId, { format }))
    expect(page).toContain('k100')
    expect(page.length).toBeLessThan(700_000)
  }
  expect(JSON.stringify(await holdfast.modelMessages(threadId)).length).toBeLessThan(700_000)
})

it('[CL6b] as many as are allowed are stored as they are', async () => {
  const value = { rows: Array.from({ length: 45_000 }, () => keys(10)) }
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [{ call: 'look', input: {} }] : [{ text: 'ok' }]),
    { tools: { look: tool({ inputSchema: z.object({}), execute: () => value }) } },
  )
  const turn = await fixture.runTurn('go')
  expect([...callsOf(turn)]).toMatchObject([
    { state: 'succeeded', output: { kind: 'inline', value } },
  ])
})
