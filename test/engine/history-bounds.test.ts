import {
  callsOf,
  type Message,
  memory,
  type Page,
  parseCallId,
  parseMessageId,
  type Store,
  type ThreadId,
} from 'holdfast'
import { describe, expect, it } from 'vitest'
import { longestHistoryChars } from '../../src/engine/options/options.ts'
import { toBackendBody } from '../../src/server/backend-body.ts'
import { appendEvents } from '../../src/testing/store-rules/append-events.ts'
import {
  begun,
  ended,
  recorded,
  messageAdded,
  started,
  succeeded,
  text,
} from '../../src/testing/store-rules/thread-script.ts'
import { createFixture } from './fixture.ts'

const megabyte = 1_048_576
const answering = () => [{ text: 'Yes.' }]

/** A store that reports how much of a thread was read. */
function createMeteredStore() {
  const store = memory()
  const read: number[] = []
  const metered: Store = {
    ...store,
    async readPage(query) {
      const page: Page | null = await store.readPage(query)
      read.push(JSON.stringify(page?.messages ?? []).length)
      return page
    },
  }
  return { store: metered, largest: () => Math.max(...read), total: () => sum(read), read }
}
const sum = (numbers: readonly number[]) => numbers.reduce((left, right) => left + right, 0)

/** Questions, or with `answers` questions and answers in turn, of a megabyte each. */
async function fill(
  store: Store,
  threadId: ThreadId,
  count: number,
  { chars = megabyte, answers = false } = {},
): Promise<void> {
  for (let index = 0; index < count; index++) {
    const id = parseMessageId(`old-${index}`)
    const words = `${index}:${'x'.repeat(chars)}`
    const events =
      answers && index % 2 === 1
        ? [started(id), ...text(words, id), ended(id)]
        : [messageAdded(words, id)]
    await appendEvents(store, { threadId, events })
  }
}

/** The numbers of the messages of `fill` that a prompt contains. */
const numbersIn = (prompt: unknown): readonly number[] =>
  [...JSON.stringify(prompt).matchAll(/(\d+):x/g)].map(([, index]) => Number(index))

const from = (first: number, end: number) =>
  Array.from({ length: end - first }, (_, index) => first + index)

describe('the history of a run', () => {
  it('[OP7] ends before the message that would exceed its characters, and no more than that is read', async () => {
    const { store, read, total, largest } = createMeteredStore()
    const { threadId, runTurn, calls } = await createFixture(answering, { store })
    await fill(store, threadId, 30)
    read.length = 0
    await runTurn('now')
    const sent = calls[0]?.prompt
    expect(numbersIn(sent)).toEqual(from(15, 30))
    expect(JSON.stringify(sent)).toContain('now')
    expect(JSON.stringify(sent).length).toBeLessThan(longestHistoryChars)
    expect(largest()).toBeLessThan(megabyte + 1_000)
    // What the run reads, and the one message by which the request finds its place.
    expect(total()).toBeLessThan(longestHistoryChars + 2 * megabyte)
  })

  it('[OP7 ST3] may begin with an answer, as it may at 1,000 messages', async () => {
    const { threadId, store, runTurn, calls } = await createFixture(answering)
    await fill(store, threadId, 30, { answers: true })
    await runTurn('now')
    const [first, second] = calls[0]?.prompt ?? []
    expect(first).toMatchObject({
      role: 'user',
      content: [{ type: 'text', text: 'The conversation begins.' }],
    })
    expect([second?.role, numbersIn(second)]).toEqual(['assistant', [15]])
  })

  it('[OP7] is bounded where the request has read all of it', async () => {
    const { threadId, store, runTurn, calls } = await createFixture(answering)
    await fill(store, threadId, 1, { chars: longestHistoryChars })
    await runTurn('now')
    expect(calls[0]?.prompt).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'now' }] },
    ])
  })

  it('[OP7] has the newest message whatever its size', async () => {
    const { holdfast, threadId, store, runTurn, calls } = await createFixture(answering)
    await runTurn('first')
    await fill(store, threadId, 1, { chars: longestHistoryChars })
    const turnId = parseMessageId('old-answer')
    const events = [started(turnId), ...text('No.', turnId), ended(turnId)]
    await appendEvents(store, { threadId, events })
    await holdfast.regenerate({ threadId, messageId: turnId })
    await holdfast.settled()
    expect(calls).toHaveLength(2)
    expect(numbersIn(calls[1]?.prompt)).toEqual([0])
    expect(JSON.stringify(calls[1]?.prompt)).not.toContain('first')
  })
})

/** Turns with one result each, of three million characters. */
async function fillResults(store: Store, threadId: ThreadId, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const turnId = parseMessageId(`turn-${index}`)
    const callId = parseCallId(`call-${index}`)
    const result = index % 2 === 0 ? long(index) : { rows: [long(index)] }
    const events = [
      messageAdded(`question ${index}`, parseMessageId(`question-${index}`)),
      ...[started(turnId), recorded(callId, { turnId }), begun(callId, turnId)],
      ...[succeeded(result, callId, turnId), ended(turnId)],
    ]
    await appendEvents(store, { threadId, events })
  }
}
const long = (index: number) => `${index}:${'x'.repeat(3_000_000)}`

describe('long results in a history', () => {
  it('[OP7 ST4b] count with what the model is sent of them, and are described by their whole length', async () => {
    const seen: (readonly Message[])[] = []
    const { threadId, store, runTurn, calls } = await createFixture(answering, {
      selectHistory(messages) {
        seen.push(messages)
        return messages
      },
    })
    await fillResults(store, threadId, 10)
    await runTurn('now')
    const results = (calls[0]?.prompt ?? []).filter(({ role }) => role === 'tool')
    expect(results.map(numbersIn)).toEqual(from(0, 10).map((index) => [index]))
    for (const [index, result] of results.entries()) {
      const sent = JSON.stringify(result)
      const whole = index % 2 === 0 ? long(index) : JSON.stringify({ rows: [long(index)] })
      expect(sent).toContain(` of ${whole.length} characters are shown.]`)
      expect(sent.match(/\[Cut:/g)).toHaveLength(1)
      expect(sent.length).toBeGreaterThan(199_000)
      expect(sent.length).toBeLessThan(201_000)
    }
    const kinds = seen[0]?.flatMap((message) =>
      message.role === 'assistant'
        ? callsOf(message).map((call) => call.state === 'succeeded' && call.output.kind)
        : [],
    )
    expect(kinds).toEqual(from(0, 10).map(() => 'omitted'))
  })

  it('[ST4b] are cut once however short the limit is', async () => {
    for (const maxOutputChars of [10, 1_000, 3_000_010]) {
      const { threadId, store, runTurn, calls } = await createFixture(answering, { maxOutputChars })
      await fillResults(store, threadId, 2)
      await runTurn('now')
      const sent = JSON.stringify(calls[0]?.prompt)
      expect(sent.match(/\[Cut:/g)?.length ?? 0).toBe(maxOutputChars > 3_000_000 ? 1 : 2)
      expect(sent).toContain(` of ${JSON.stringify({ rows: [long(1)] }).length} characters`)
    }
  })
})

it('[OP7] the messages for a loop of the host application are bounded and read in portions', async () => {
  const { store, read, largest, total } = createMeteredStore()
  const { holdfast, threadId } = await createFixture(answering, { store })
  await fill(store, threadId, 30)
  read.length = 0
  expect(numbersIn(await holdfast.modelMessages(threadId))).toEqual(from(15, 30))
  expect(largest()).toBeLessThan(megabyte + 1_000)
  expect(total()).toBeLessThan(longestHistoryChars + 2 * megabyte)
})

it('[OP7 RS6] the history for a backend behind the recording proxy is bounded and read in portions', async () => {
  const { store, read, largest, total } = createMeteredStore()
  const { threadId } = await createFixture(answering, { store })
  await fill(store, threadId, 30)
  read.length = 0
  const own = { id: 'old-29', role: 'user', parts: [{ type: 'text', text: '29:x as sent' }] }
  const body = { id: threadId, messages: [own] }
  const message = { id: parseMessageId('old-29'), parts: [{ type: 'text', text: '' }] } as const
  const chat = { kind: 'send', threadId, message } as const
  const forwarded = await toBackendBody({ store, body, chat, sdk: undefined })
  expect(numbersIn(forwarded)).toEqual(from(15, 30))
  expect(JSON.stringify(forwarded)).toContain('29:x as sent')
  expect(largest()).toBeLessThan(megabyte + 1_000)
  expect(total()).toBeLessThan(longestHistoryChars + 2 * megabyte)
})
