import { appendEvents } from '../testing/store-rules/append-events.ts'
import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../core/event.ts'
import { parseCallId, parseMessageId, parseOwnerId, parseThreadId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import { memory } from '../store/memory/index.ts'
import type { Store } from '../store/store.ts'
import { exportThread } from './export-threads.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'

const thread = parseThreadId('t')
async function* textOf(document: unknown): AsyncGenerator<string> {
  yield JSON.stringify(document)
}
const load = (store: Store, messages: readonly object[], scratch?: Store) =>
  importThreads(store, readImport(textOf({ id: 't', messages })), {
    ownerId: parseOwnerId('local'),
    now: () => 1_700_000_000_000,
    ...(scratch === undefined ? {} : { dryRun: { scratch } }),
  })
const shownOf = (store: Store, format: 'chat' | 'ui' | 'entities' = 'chat') =>
  Array.fromAsync(exportThread(store, thread, format))

const at = (second: number) => new Date(1_700_000_000_000 + second * 1_000).toISOString()
const question = { id: 'u1', role: 'user', content: 'Weather?', createdAt: at(1) }
const later = { id: 'u2', role: 'user', content: 'Thanks', createdAt: at(9) }

const call = { id: 'c', name: 'weather', arguments: '{}', validated: null }

/** The same turn while it runs, and when it has ended, in each format. */
const turns: Readonly<Record<string, readonly [open: readonly object[], done: readonly object[]]>> =
  {
    'AI SDK 4': [
      [vercel('', { state: 'call' }, false)],
      [vercel('It is cold.', { state: 'result', result: -3 }, true)],
    ],
    'AI SDK 5': [
      [ui([{ state: 'input-available' }])],
      [ui([{ state: 'output-available', output: -3 }], 'It is cold.')],
    ],
    commentary: [
      [commentary('', { status: 'running' })],
      [commentary('It is cold.', { status: 'completed', result: -3 })],
    ],
    'tools used': [
      [toolsUsed('', { status: 'running' })],
      [toolsUsed('It is cold.', { result: -3 })],
    ],
    'entity rows': [
      [row('r1', 'AI_TOOL', 2, { toolCalls: [call] })],
      [
        row('r1', 'AI_TOOL', 2, { toolCalls: [call] }),
        row('r2', 'TOOL', 3, { content: { tool_call_id: 'c', content: -3 } }),
        row('r3', 'AI_MESSAGE', 4, { content: 'It is cold.' }),
      ],
    ],
  }

function vercel(content: string, invocation: object, isComplete: boolean) {
  const toolInvocation = { toolCallId: 'c', toolName: 'weather', args: {}, ...invocation }
  const text = content === '' ? [] : [{ type: 'text', text: content }]
  const parts = [{ type: 'tool-invocation', toolInvocation }, ...text]
  const annotations = [{ messageId: 'a1', isComplete }]
  return { id: 'a1', role: 'assistant', content, createdAt: at(2), parts, annotations }
}
function ui(states: readonly object[], text?: string) {
  const calls = states.map((state) => ({
    type: 'tool-weather',
    toolCallId: 'c',
    input: {},
    ...state,
  }))
  const parts = [...calls, ...(text === undefined ? [] : [{ type: 'text', text }])]
  return { id: 'a1', role: 'assistant', createdAt: at(2), parts }
}
function commentary(content: string, more: object) {
  const toolCalls = [{ id: 'c', name: 'weather', args: {}, ...more }]
  return { id: 'a1', role: 'assistant', content, createdAt: at(2), toolCalls }
}
function toolsUsed(content: string, more: object) {
  const metadata = { tools_used: [{ tool: 'weather', toolCallId: 'c', input: {}, ...more }] }
  return { id: 'a1', role: 'assistant', content, createdAt: at(2), metadata }
}
function row(id: string, entity: string, second: number, more: object) {
  return { id, entity, content: '', isComplete: true, creationDate: at(second), ...more }
}

describe.each(Object.entries(turns))('a second import of %s', (_, [open, done]) => {
  it('[LE8] brings the result and the answer that have come since, and changes nothing else', async () => {
    const store = memory()
    const first = await load(store, [question, ...open])
    expect(first).toMatchObject({ callsByState: { interrupted: 1 }, updated: 0 })
    const before = await shownOf(store)
    const second = await load(store, [question, ...done, later])
    expect(second).toMatchObject({
      ...{ threads: 1, messages: 3, calls: 1, skipped: 2, updated: 1 },
      ...{ callsByState: { succeeded: 1 }, failed: [] },
    })
    const after = (await shownOf(store)) as readonly { readonly id: string }[]
    expect(after).toMatchObject([
      before[0] as object,
      { content: 'It is cold.', toolCalls: [{ state: 'succeeded', result: -3, name: 'weather' }] },
      { content: 'Thanks' },
    ])
    expect(after[1]?.id).toBe((before[1] as { readonly id: string }).id)
    const third = await load(store, [question, ...done, later])
    expect(third).toMatchObject({ skipped: 3, updated: 0, failed: [] })
    expect(await shownOf(store)).toEqual(after)
    // An older copy of the data removes nothing.
    expect(await load(store, [question, ...open])).toMatchObject({ updated: 0, failed: [] })
    expect(await shownOf(store)).toEqual(after)
  })

  it('[LE8] keeps a turn that was continued since, and reports it', async () => {
    const store = memory()
    await load(store, [question, ...open])
    await continueThread(store)
    const before = await shownOf(store)
    const report = await load(store, [question, ...done])
    expect(report).toMatchObject({ updated: 0, callsByState: { interrupted: 1 } })
    expect(report.failed.map(({ why }) => why)).toEqual([
      'This thread was continued since: it was left unchanged.',
    ])
    expect(await shownOf(store)).toEqual(before)
  })
})

describe('a second import', () => {
  const list = [1, 2, 3, 4].flatMap((number) => [
    { id: `u${number}`, role: 'user', content: `Question ${number}`, createdAt: at(number * 10) },
    {
      id: `a${number}`,
      role: 'assistant',
      content: `Answer ${number}`,
      createdAt: at(number * 10 + 1),
    },
  ])
  const contentsOf = async (store: Store) =>
    (await shownOf(store)).map((message) => (message as { readonly content: string }).content)

  it('[LE8] of an older page is put before what is stored, under its own ids', async () => {
    const store = memory()
    await load(store, list.slice(4))
    const report = await load(store, list.slice(0, 4))
    expect(report).toMatchObject({ messages: 4, skipped: 0, updated: 0, guessed: [], failed: [] })
    expect((await shownOf(store)).map((message) => (message as { id: string }).id)).toEqual(
      list.map(({ id }) => id),
    )
  })

  it('[LE8] of what belongs between is put between, and pages may overlap', async () => {
    const store = memory()
    await load(store, [...list.slice(0, 3), ...list.slice(6)])
    await load(store, list.slice(2, 7))
    expect(await contentsOf(store)).toEqual(list.map(({ content }) => content))
  })

  it('[LE8] of an older page is left out and reported where the thread was continued; newer ones are added', async () => {
    const store = memory()
    await load(store, list.slice(4))
    await continueThread(store)
    const before = await contentsOf(store)
    const newer = { id: 'u9', role: 'user', content: 'Newer', createdAt: '2030-01-01T00:00:00Z' }
    const report = await load(store, [...list.slice(2, 4), newer])
    expect(report.failed).toEqual([
      {
        where: 'messages[0]',
        why: 'This thread was continued since: it was left unchanged.',
      },
      {
        where: 'messages[1]',
        why: 'This thread was continued since: it was left unchanged.',
      },
    ])
    expect(await contentsOf(store)).toEqual([...before, 'Newer'])
  })

  it('[LE8] without dates is put after what is stored, and reported as a guess', async () => {
    const store = memory()
    const bare = list.map(({ id, role, content }) => ({ id: `${id}-x`, role, content }))
    await load(store, bare.slice(4))
    const report = await load(store, bare.slice(0, 4))
    expect(report.guessed).toEqual([
      {
        where: 'messages[0]',
        what: 'Where it stands among what is stored is a guess: it has no date.',
      },
    ])
    expect(await contentsOf(store)).toEqual(
      [...bare.slice(4), ...bare.slice(0, 4)].map(({ content }) => content),
    )
    // A list that is newest first goes back in time, and so do its pages.
    const pages = memory()
    await load(pages, bare.slice(4).toReversed())
    expect((await load(pages, bare.slice(0, 4).toReversed())).guessed).toHaveLength(2)
    expect(await contentsOf(pages)).toEqual(bare.map(({ content }) => content))
  })

  it('[LE8] brings a late result to the call of a turn that is further back', async () => {
    const store = memory()
    const rows = [
      row('r0', 'USER', 1, { content: 'Weather?' }),
      row('r1', 'AI_TOOL', 2, { toolCalls: [call] }),
      row('r2', 'USER', 3, { content: 'And?' }),
      row('r3', 'AI_MESSAGE', 4, { content: 'One moment.' }),
    ]
    await load(store, rows)
    const late = [
      row('r4', 'USER', 5, { content: 'Well?' }),
      row('r5', 'TOOL', 6, { content: { tool_call_id: 'c', content: -3 } }),
      row('r6', 'TOOL', 7, { content: { tool_call_id: 'nobody', content: 0 } }),
      row('r7', 'AI_MESSAGE', 8, { content: 'It is cold.' }),
    ]
    const report = await load(store, late)
    expect(report.failed).toEqual([
      { where: 'messages[2]', why: 'It is the result of a call that is not there.' },
    ])
    expect(await shownOf(store)).toMatchObject([
      { content: 'Weather?' },
      { toolCalls: [{ state: 'succeeded', result: -3 }] },
      { content: 'And?' },
      { content: 'One moment.' },
      { content: 'Well?' },
      { content: 'It is cold.' },
    ])
  })

  it('[LE8] reports where pages out of order may have joined two turns', async () => {
    const store = memory()
    await load(store, [row('r1', 'AI_TOOL', 2, { toolCalls: [call] })])
    await load(store, [row('r3', 'AI_MESSAGE', 9, { content: 'Of another turn.' })])
    const { guessed } = await load(store, [row('r2', 'USER', 5, { content: 'And?' })])
    expect(guessed).toEqual([
      {
        where: 'messages[0]',
        what: 'It falls into the middle of a turn that is stored: its rows may be of two.',
      },
    ])
  })

  it('[LE8] keeps a thread in which a person has withdrawn an imported message', async () => {
    const store = memory()
    await load(store, list.slice(0, 2))
    await continueThread(store)
    const retired = { type: 'messages-retired', messageIds: [parseMessageId('a1')], at: 0 } as const
    await appendEvents(store, { threadId: thread, events: [retired] })
    const before = await shownOf(store)
    expect(await load(store, list.slice(0, 2))).toMatchObject({ skipped: 2, failed: [] })
    expect(await shownOf(store)).toEqual(before)
  })

  it('[LE5] reports the same in a dry run, each time, and writes nothing', async () => {
    const store = memory()
    const steps = [list.slice(4), list.slice(0, 4), list, [question, ...turns['commentary']![0]]]
    for (const messages of steps) {
      const before = (await store.readThread(thread)) === null ? null : await shownOf(store)
      const dry = await load(store, messages, memory())
      expect((await store.readThread(thread)) === null ? null : await shownOf(store)).toEqual(
        before,
      )
      expect(dry).toEqual({ dryRun: true, ...(await load(store, messages)) })
    }
  })
})

/** A person asks, and a model answers. */
async function continueThread(store: Store): Promise<void> {
  const turnId = parseMessageId('live')
  const now = Date.parse('2025-01-01T00:00:00Z')
  const events: readonly NewEvent[] = [
    {
      type: 'message-added',
      messageId: parseMessageId('asked'),
      role: 'user',
      parts: [{ type: 'text', text: 'Go on.' }],
      at: now,
    },
    { type: 'turn-started', turnId, replyTo: parseMessageId('asked'), at: now },
    { type: 'step-started', turnId, step: 0, model: 'some-model', at: now },
    { type: 'text-started', turnId, block: '0', kind: 'text', at: now },
    { type: 'text-appended', turnId, block: '0', delta: 'Here.', at: now },
    { type: 'text-ended', turnId, block: '0', at: now },
    { type: 'step-ended', turnId, finishReason: 'stop', at: now },
    { type: 'turn-ended', turnId, ending: { kind: 'completed' }, at: now },
  ]
  const result = await appendEvents(store, { threadId: thread, events })
  expect(result.kind).toBe('appended')
}

describe('a turn that a message joined', () => {
  const steered = parseThreadId('t')
  const turnId = parseMessageId('turn')
  const on = { turnId, at: 1 }
  const input = JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":1}}') as Json
  const events: readonly NewEvent[] = [
    {
      type: 'message-added',
      at: 1,
      messageId: parseMessageId('u1'),
      role: 'user',
      parts: [{ type: 'text', text: 'Hi' }],
    },
    { ...on, type: 'turn-started', replyTo: parseMessageId('u1') },
    { ...on, type: 'step-started', step: 0 },
    { ...on, type: 'text-started', block: '0', kind: 'text' },
    { ...on, type: 'text-appended', block: '0', delta: 'Hello.' },
    { ...on, type: 'step-ended', finishReason: 'stop' },
    {
      ...on,
      type: 'input-joined',
      messageId: parseMessageId('st'),
      parts: [{ type: 'text', text: 'And Oslo?' }],
    },
    { ...on, type: 'step-started', step: 1 },
    {
      ...{
        ...on,
        type: 'call-recorded',
        callId: parseCallId('c1'),
        input,
        approval: 'not-required',
      },
      call: { id: parseCallId('c1'), providerCallId: 'c1', name: 'weather' },
    },
    { ...on, type: 'call-started', callId: parseCallId('c1') },
    {
      ...on,
      type: 'call-settled',
      callId: parseCallId('c1'),
      outcome: { state: 'succeeded', output: { kind: 'inline', value: input } },
    },
    { ...on, type: 'step-ended', finishReason: 'tool-calls' },
    { ...on, type: 'step-started', step: 2 },
    { ...on, type: 'text-started', block: '1', kind: 'text' },
    { ...on, type: 'text-appended', block: '1', delta: 'Cold.' },
    { ...on, type: 'step-ended', finishReason: 'stop' },
    { ...on, type: 'turn-ended', ending: { kind: 'completed' } },
  ]
  const formats = ['ui', 'vercel', 'entities', 'chat'] as const

  it.each(formats)(
    '[LE5 LE7 IN3] is the same after an export and an import as %s, and after a second one',
    async (format) => {
      const source = memory()
      await source.createThread({ id: steered, ownerId: parseOwnerId('local'), title: '', at: 1 })
      await appendEvents(source, { threadId: steered, events, expectedSeq: 0 })
      const exported = (store: Store) => Array.fromAsync(exportThread(store, steered, format))
      const before = await exported(source)
      // Of what is stored nothing is left out, whatever its keys are (LG4).
      expect(JSON.stringify(before)).toContain('"__proto__":{"admin":true}')
      expect(JSON.stringify(before)).toContain('"constructor":{"prototype":1}')
      const target = memory()
      const read = async (store: Store) =>
        importThreads(
          store,
          readImport(textOf(JSON.parse(JSON.stringify({ id: 't', messages: before })))),
          {
            ownerId: parseOwnerId('local'),
            now: () => 2,
          },
        )
      expect((await read(target)).failed).toEqual([])
      expect(await exported(target)).toEqual(before)
      await read(target)
      expect(await exported(target)).toEqual(before)
      await read(source)
      expect(await exported(source)).toEqual(before)
    },
  )
})
