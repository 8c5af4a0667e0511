import {
  memory,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
  type Turn,
  type UserPart,
} from 'holdfast'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { appendEvents } from '../../src/testing/store-rules/append-events.ts'
import { createFixture, gate, messageId } from './fixture.ts'

const answer = (turn: Turn) =>
  turn.steps.flatMap(({ parts }) => parts).map((part) => ('text' in part ? part.text : ''))

describe('sending', () => {
  it('[RS5] with `reject` refuses a second message while a run is active, and does not store it', async () => {
    const fixture = await createFixture(() => [{ text: 'a' }, { waitMs: 60_000 }], {
      whenBusy: 'reject',
    })
    const first = await fixture.send('one')
    expect(first.kind).toBe('started')
    const second = await fixture.send('two')
    expect(second).toEqual({ kind: 'run-active', turnId: 'turnId' in first ? first.turnId : '' })
    expect(await fixture.messages()).toHaveLength(2)
    await fixture.holdfast.stop(fixture.threadId)
    expect((await fixture.send('two')).kind).toBe('started')
    await fixture.holdfast.stop(fixture.threadId)
  })

  it('[LG2 LG6] makes the thread with its first message, in one commit, and for its owner alone', async () => {
    const fixture = await createFixture(() => [{ text: 'a' }])
    const { holdfast, store } = fixture
    const threadId = parseThreadId('new')
    const sendAs = (id: string, owner: string) =>
      holdfast.send({
        threadId,
        message: { id: parseMessageId(id), parts: [{ type: 'text', text: id }] },
        create: { ownerId: parseOwnerId(owner), title: 'Hello' },
      })
    const before = holdfast.metrics().commits
    expect((await sendAs('one', 'me')).kind).toBe('started')
    expect(holdfast.metrics().commits).toBe(before + 1)
    expect(await store.readThread(threadId)).toMatchObject({
      ownerId: 'me',
      title: 'Hello',
      seq: 2,
    })
    await holdfast.settled()
    // Sent again as if the thread were new, the same message is the same message (RS5).
    expect((await sendAs('one', 'me')).kind).toBe('repeated')
    expect((await sendAs('two', 'me')).kind).toBe('started')
    await holdfast.settled()
    expect((await sendAs('three', 'somebody')).kind).toBe('no-thread')
    expect((await sendAs('one', 'somebody')).kind).toBe('no-thread')
  })

  it('[RS5] a message that an older version stored with more in its parts is the same message', async () => {
    const fixture = await createFixture(() => [])
    const { holdfast, store, threadId } = fixture
    const [id, turnId] = [messageId('old'), messageId('answer')]
    const shown = { type: 'text', text: 'Hi', state: 'done' } as const
    const parts: readonly UserPart[] = [shown, { type: 'text', text: ' ' }]
    await appendEvents(store, {
      threadId,
      events: [
        { type: 'message-added', messageId: id, role: 'user', parts, at: 1 },
        { type: 'turn-started', turnId, replyTo: id, at: 1 },
        { type: 'turn-ended', turnId, ending: { kind: 'completed' }, at: 1 },
      ],
    })
    const again = await holdfast.send({ threadId, message: { id, parts } })
    expect(again).toMatchObject({ kind: 'repeated', turnId })
    const other = { id, parts: [{ type: 'text', text: 'Bye' }] as const }
    await expect(holdfast.send({ threadId, message: other })).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  it('[RS5] joins the run of the same message, and replays it after', async () => {
    const fixture = await createFixture(() => [{ text: 'a' }, { waitMs: 60_000 }])
    const started = await fixture.send('one', 'same')
    if (started.kind !== 'started') throw new Error(started.kind)
    const { turn, incarnation: _, ...first } = started
    expect(turn).toMatchObject({ id: first.turnId, lastSeq: first.after + 1, steps: [] })
    const again = await fixture.send('one', 'same')
    expect(again).toEqual({ ...first, kind: 'joined' })
    await fixture.holdfast.stop(fixture.threadId)
    expect(await fixture.send('one', 'same')).toEqual({ ...first, kind: 'repeated' })
    expect(await fixture.messages()).toHaveLength(2)
  })

  it('[RS5] starts one run of two that are sent at once', async () => {
    const fixture = await createFixture(() => [{ text: 'a' }, { waitMs: 60_000 }], {
      whenBusy: 'reject',
    })
    const results = await Promise.all([fixture.send('one'), fixture.send('two')])
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['run-active', 'started'])
    expect(await fixture.messages()).toHaveLength(2)
    await fixture.holdfast.stop(fixture.threadId)
  })

  it('[RS6] takes its history from the ledger', async () => {
    const fixture = await createFixture(({ index }) => [{ text: `answer ${index}` }])
    await fixture.runTurn('first')
    await fixture.runTurn('second')
    const sent = JSON.stringify(fixture.calls[1]?.prompt)
    for (const text of ['first', 'answer 0', 'second']) expect(sent).toContain(text)
  })

  it('[RS1] goes on when nobody follows', async () => {
    const fixture = await createFixture(() => [{ text: 'all of it' }])
    expect(answer(await fixture.runTurn('go'))).toEqual(['all of it'])
  })

  it('[PG6] reads the same few pages of a long thread as of a short one', async () => {
    const store = memory()
    let pages = 0
    const readPage: Store['readPage'] = (query) => {
      pages++
      return store.readPage(query)
    }
    const counting: Store = { ...store, readPage }
    const fixture = await createFixture(() => [{ text: 'ok' }], { store: counting })
    const { threadId } = fixture
    const events = Array.from({ length: 500 }, (_, index) => ({
      type: 'message-added' as const,
      at: 1,
      messageId: messageId(`old-${index}`),
      role: 'user' as const,
      parts: [{ type: 'text' as const, text: 'x' }],
    }))
    await appendEvents(store, { threadId, events })
    await fixture.runTurn('new')
    // One to see where the thread stands, one for the model's history.
    expect(pages).toBe(2)
  })

  it('regenerates an answer: the old one leaves every page, and the model does not see it', async () => {
    const fixture = await createFixture(({ index }) => [{ text: `answer ${index}` }])
    const old = await fixture.runTurn('question')
    const result = await fixture.holdfast.regenerate({ threadId: fixture.threadId })
    expect(result.kind).toBe('started')
    await fixture.holdfast.settled()
    const messages = await fixture.messages()
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(answer(await fixture.last())).toEqual(['answer 1'])
    expect(JSON.stringify(fixture.calls[1]?.prompt)).not.toContain('answer 0')
    // The ledger keeps it.
    expect(await fixture.store.readMessage(fixture.threadId, old.id)).toMatchObject({ id: old.id })
  })

  it('edits a message under its own id: it and all after it are replaced', async () => {
    const fixture = await createFixture(({ index }) => [{ text: `answer ${index}` }])
    await fixture.runTurn('first')
    await fixture.runTurn('secnod')
    await fixture.runTurn('third')
    const result = await fixture.holdfast.send({
      threadId: fixture.threadId,
      message: { id: messageId('user-2'), parts: [{ type: 'text', text: 'second' }] },
      replaces: messageId('user-2'),
    })
    expect(result.kind).toBe('started')
    await fixture.holdfast.settled()
    const messages = await fixture.messages()
    expect(messages.map(({ id }) => id)).toEqual([
      'user-1',
      expect.any(String),
      'user-2',
      expect.any(String),
    ])
    expect(messages[2]).toMatchObject({ parts: [{ text: 'second' }] })
    expect(JSON.stringify(fixture.calls[3]?.prompt)).not.toContain('secnod')
  })

  it('[RS5 IN6] joins its answer if it is sent again as its own replacement, with fields that are not stored', async () => {
    const held = gate()
    const fixture = await createFixture(() => [{ call: 'wait', input: {} }], {
      tools: { wait: tool({ inputSchema: z.object({}), execute: () => held.opened }) },
    })
    const { holdfast, threadId } = fixture
    const part = { type: 'text', text: 'go', state: 'done' } as const
    const message = { id: messageId('user-1'), parts: [part] }
    const first = await holdfast.send({ threadId, message })
    const again = await holdfast.send({ threadId, message, replaces: message.id })
    expect(again).toMatchObject({ kind: 'joined', turnId: 'turnId' in first && first.turnId })
    held.open()
    await holdfast.stop(threadId)
    await holdfast.settled()
  })

  it('refuses to edit or regenerate what is not there', async () => {
    const fixture = await createFixture(() => [{ text: 'a' }])
    const { threadId } = fixture
    await expect(fixture.holdfast.regenerate({ threadId })).rejects.toThrow(/no answer/)
    const message = { id: messageId('new'), parts: [{ type: 'text', text: 'x' }] as const }
    const replaces = messageId('missing')
    await expect(fixture.holdfast.send({ threadId, message, replaces })).rejects.toThrow(
      /not exist/,
    )
  })
})
