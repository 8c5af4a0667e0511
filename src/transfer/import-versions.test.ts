import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../core/event.ts'
import { parseMessageId, parseOwnerId, parseThreadId } from '../core/ids.ts'
import { versionsOf } from '../core/versions.ts'
import { memory } from '../store/memory/index.ts'
import type { Store } from '../store/store.ts'
import { appendEvents } from '../testing/store-rules/append-events.ts'
import { exportQuery } from './export-threads.ts'
import { readHidden } from './export-versions.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'

const thread = parseThreadId('t')
const at = (second: number) => new Date(1_700_000_000_000 + second * 1_000).toISOString()

async function* textOf(document: unknown): AsyncGenerator<string> {
  yield JSON.stringify(document)
}
const load = (store: Store, messages: readonly object[], hiddenMessages?: unknown) =>
  importThreads(store, readImport(textOf({ id: 't', messages, hiddenMessages })), {
    ownerId: parseOwnerId('local'),
    now: () => 1_700_000_000_000,
  })

const userMessage = (id: string, text: string, second: number) => ({
  ...{ id, role: 'user', createdAt: at(second) },
  parts: [{ type: 'text', text }],
})
const answer = (id: string, text: string, second: number, ...calls: readonly object[]) => ({
  ...{ id, role: 'assistant', createdAt: at(second) },
  parts: [...calls, ...(text === '' ? [] : [{ type: 'text', text }])],
})
const called = (id: string, more: object) => ({
  ...{ type: 'tool-weather', toolCallId: id, input: { city: 'Oslo' } },
  ...more,
})
const hidden = (message: object, version: string, follows: string | null, nth = 0) => ({
  ...message,
  ...{ version, follows, nth, hiddenSeq: 9 },
})

const shownIds = async (store: Store) =>
  (
    await store.readPage({
      ...{ threadId: thread, limit: 99, before: null },
      ...{ live: 'include', results: 'full' },
    })
  )?.messages
    .map(({ id }) => id)
    .toReversed()
const hiddenOf = async (store: Store) =>
  (await Array.fromAsync(readHidden(store, thread))).map(({ message, follows, nth }) => ({
    ...{ id: message.id, follows, nth },
  }))

const done = { state: 'output-available', output: -3 }
const tree = [
  [userMessage('u1', 'Weather?', 1), answer('a2', 'It is cold.', 3, called('c2', done))],
  [
    hidden(
      answer('a1', 'No idea.', 2, called('c1', { state: 'output-error', errorText: 'no' })),
      'a1',
      'u1@1',
    ),
    hidden(userMessage('u2', 'Guess!', 4), 'u2@9', 'a1'),
  ],
] as const

describe('versions that are not shown', () => {
  it('[VR1] are read with their calls, whose states and ids are kept', async () => {
    const store = memory()
    const report = await load(store, ...tree)
    expect(report).toMatchObject({
      ...{ threads: 1, messages: 4, calls: 2, callsByState: { succeeded: 1, failed: 1 } },
      ...{ skipped: 0, mended: [], guessed: [], failed: [] },
    })
    expect(await shownIds(store)).toEqual(['u1', 'a2'])
    expect(await hiddenOf(store)).toEqual([
      { id: 'a1', follows: expect.stringMatching(/^u1@/) as unknown, nth: 0 },
      { id: 'u2', follows: 'a1', nth: 0 },
    ])
    const read = await store.readCall(thread, 'c1')
    expect(read).toMatchObject({ turn: { id: 'a1', replyTo: 'u1' }, call: { state: 'failed' } })
    const first = await store.readMessage(thread, 'a1')
    expect(first === null ? null : versionsOf(first)).toEqual({ ids: ['a1', 'a2'], shown: 'a1' })
    expect((await store.readThread(thread))?.queue).toEqual([])
  })

  it.each([0, 1])('[VR1 LE8] stay when a second import rewrites the thread (%i)', async (nth) => {
    const store = memory()
    const [shown, [first, second]] = tree
    const others = [{ ...first, nth }, second]
    const open = answer('a2', '', 3, called('c2', { state: 'input-available' }))
    await load(store, [shown[0], open], others)
    const before = await hiddenOf(store)
    const report = await load(store, shown)
    expect(report).toMatchObject({ skipped: 2, updated: 1, failed: [] })
    expect((await hiddenOf(store)).map(({ id, nth }) => [id, nth])).toEqual(
      before.map(({ id, nth }) => [id, nth]),
    )
    expect((await store.readCall(thread, 'c2'))?.call.state).toBe('succeeded')
  })

  it('[VR1 LE8] that somebody made here are not taken out by an import, and what is blocked is reported', async () => {
    const store = memory()
    const [shown, others] = tree
    await load(store, shown)
    await goOn(store)
    const seq = (await store.readThread(thread))?.seq
    const report = await load(store, shown, others)
    expect(report.failed).toEqual(
      ['hiddenMessages[0]', 'hiddenMessages[1]'].map((where) => ({
        where,
        why: 'This thread was continued since: it was left unchanged.',
      })),
    )
    expect((await store.readThread(thread))?.seq).toBe(seq)
    // Nor where it is another version that they made, and show the imported one again.
    const path = await store.readPath(thread, 'live')
    const places = [path?.wanted.seq ?? 0]
    const kept = { after: (path?.wanted.seq ?? 0) - 1, places }
    const retired = { type: 'messages-retired', messageIds: ['live'], kept, at: 0 } as const
    await appendEvents(store, { threadId: thread, events: [retired] })
    const more = answer('a2', 'It is cold. Very.', 3, called('c2', done))
    expect((await load(store, [shown[0], more])).failed).toHaveLength(1)
    expect(await hiddenOf(store)).toMatchObject([{ id: 'live' }])
  })

  it('[VR1] with a place that is none are named, and all else is stored', async () => {
    const store = memory()
    const [shown] = tree
    const report = await load(store, shown, [
      hidden(userMessage('u3', 'Lost', 5), 'u3@5', 'nobody'),
      hidden(userMessage('u4', 'Round', 5), 'u4@6', 'u4@6'),
      hidden(userMessage('u1', 'Below itself', 5), 'u1@7', 'a2'),
      hidden(userMessage('a2', 'An answer’s id', 5), 'a2@8', null),
      'nothing',
      { ...userMessage('u5', 'Fine', 6), follows: null, nth: -1, hiddenSeq: 'x' },
      hidden(userMessage('u6', 'Fine too', 7), 'u6@9', 'a2', 3),
    ])
    expect(report.failed.map(({ where }) => where).toSorted()).toEqual(
      [0, 1, 2, 3, 4].map((place) => `hiddenMessages[${place}]`),
    )
    expect(await shownIds(store)).toEqual(['u1', 'a2'])
    expect((await hiddenOf(store)).map(({ id }) => id)).toEqual(['u6', 'u5'])
  })

  it('[VR1] come in a field that is as long as it likes: each is a message of its own', async () => {
    const store = memory()
    const many = Array.from({ length: 60 }, (_, nth) =>
      hidden(answer(`v${nth}`, 'x'.repeat(500), 2), `v${nth}`, 'u1@1', nth),
    )
    const source = readImport(textOf({ id: 't', messages: tree[0], hiddenMessages: many }), {
      messageChars: 2_000,
    })
    const report = await importThreads(store, source, { ownerId: parseOwnerId('local') })
    expect(report).toMatchObject({ messages: 62, failed: [] })
    let exported = ''
    for await (const piece of exportQuery(store, { threadId: 't' })) exported += piece
    const { threads } = JSON.parse(exported) as { threads: [{ hiddenMessages: { nth: number }[] }] }
    expect(threads[0].hiddenMessages.map(({ nth }) => nth)).toEqual(many.map(({ nth }) => nth))
  })
})

/** A person asks, and a model answers. */
async function goOn(store: Store): Promise<void> {
  const turnId = parseMessageId('live')
  const now = Date.parse('2025-01-01T00:00:00Z')
  const events: readonly NewEvent[] = [
    { type: 'turn-started', turnId, replyTo: null, at: now },
    { type: 'step-started', turnId, step: 0, model: 'some-model', at: now },
    { type: 'step-ended', turnId, finishReason: 'stop', at: now },
    { type: 'turn-ended', turnId, ending: { kind: 'completed' }, at: now },
  ]
  const result = await appendEvents(store, { threadId: thread, events })
  expect(result.kind).toBe('appended')
}
