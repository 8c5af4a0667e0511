import type { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { foldThread } from '../../src/core/fold-thread.ts'
import { parseCallId, parseMessageId, parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { callsOf, isTurn, type Message } from '../../src/core/message.ts'
import type { Store } from '../../src/store/store.ts'
import { appendEvents } from '../../src/testing/store-rules/append-events.ts'
import { openRaw, openStore, temporaryFile } from './temporary-file.ts'

const threadId = parseThreadId('thread')
const turnId = parseMessageId('turn')
const callId = parseCallId('call')
const at = 1

type Mode = 'open' | 'ended' | 'open, in three batches'

/** Open: the turn waits for somebody. One that has ended is its snapshot, and has no rows of events. */
const eventsOf = (mode: Mode): readonly NewEvent[] => [
  {
    type: 'message-added',
    messageId: parseMessageId('user'),
    role: 'user',
    parts: [{ type: 'text', text: 'What is the weather in Oslo?' }],
    at,
  },
  { type: 'turn-started', turnId, at, replyTo: null },
  { type: 'text-started', turnId, at, block: '0', kind: 'text' },
  { type: 'text-appended', turnId, at, block: '0', delta: 'I will ' },
  { type: 'text-appended', turnId, at, block: '0', delta: 'look.' },
  {
    type: 'call-recorded',
    turnId,
    at,
    callId,
    call: { id: callId, providerCallId: 'call_0', name: 'look_up' },
    input: { city: 'Oslo' },
    approval: 'not-required',
  },
  { type: 'call-started', turnId, at, callId },
  {
    type: 'call-settled',
    turnId,
    at,
    callId,
    outcome: { state: 'succeeded', output: { kind: 'inline', value: { degrees: 20 } } },
  },
  mode === 'ended'
    ? { type: 'turn-ended', turnId, at, ending: { kind: 'completed' } }
    : { type: 'turn-paused', turnId, at, waitingFor: 'client' },
  {
    type: 'message-added',
    messageId: parseMessageId('thanks'),
    role: 'user',
    parts: [{ type: 'text', text: 'Thanks' }],
    at,
  },
]

/** The events of the turn, 2 to 9, are one batch; or three: its start, the text (3 to 5), the rest. */
async function openDamaged(mode: Mode, damage: (raw: DatabaseSync) => void): Promise<Store> {
  const file = temporaryFile()
  const store = openStore(file)
  await store.createThread({ id: threadId, ownerId: parseOwnerId('ana'), title: '', at })
  const ends = mode === 'open, in three batches' ? [0, 2, 5, 10] : [0, 10]
  for (const [index, end] of ends.slice(1).entries()) {
    const events = eventsOf(mode).slice(ends[index], end)
    expect((await appendEvents(store, { threadId, events })).kind).toBe('appended')
  }
  const raw = openRaw(file)
  raw.exec(`DROP TRIGGER events_never_change; DROP TRIGGER messages_are_sealed_forward;
    DROP TRIGGER calls_end_once`)
  damage(raw)
  return store
}

/** Changes one line of the batch that ends with a seq; undefined takes it out. */
function changeLine(
  raw: DatabaseSync,
  batch: number,
  seq: number,
  change: (line: string) => string | undefined,
): void {
  const row = raw.prepare('SELECT size, payload FROM events WHERE seq = ?').get(batch)
  const lines = String(row?.['payload']).split('\n')
  expect(lines).toHaveLength(Number(row?.['size']))
  const changed = lines.flatMap((line, index) =>
    index === seq - batch + lines.length - 1 ? (change(line) ?? []) : line,
  )
  raw.prepare('UPDATE events SET payload = ? WHERE seq = ?').run(changed.join('\n'), batch)
}

/** Reads the thread in every way; what a page shows is what a follower gets, damaged or not. */
async function readThread(store: Store): Promise<readonly Message[]> {
  const page = await store.readPage({
    threadId,
    limit: 10,
    before: null,
    live: 'include',
    results: 'full',
  })
  const read = await store.readChanges({ threadId, after: 0, limit: 100, results: 'full' })
  expect(page).toMatchObject({ seq: 10, hasMore: false })
  const view = foldThread({ seq: 0, messages: [] }, read?.changes ?? [])
  expect(view.messages.toReversed()).toEqual(page?.messages)
  expect((await store.findTurn(turnId))?.turn).toEqual(page?.messages[1])
  await store.readCall(threadId, callId)
  expect(page?.messages.map(({ id }) => id)).toEqual(['thanks', 'turn', 'user'])
  return page?.messages ?? []
}

const turnOf = (messages: readonly Message[]) => {
  const turn = messages.find(isTurn)!
  expect(turn.progress.status).not.toBe('running')
  return turn
}
const callOf = (messages: readonly Message[]) => [...callsOf(turnOf(messages))][0]

describe('[LG7] one bad row never makes a thread unreadable', () => {
  it('[LG7] a cut-off event is passed over, and counted', async () => {
    const store = await openDamaged('open', (raw) =>
      changeLine(raw, 9, 4, (line) => line.slice(0, 20)),
    )
    const turn = turnOf(await readThread(store))
    expect(turn.unreadable).toBe(1)
    expect(turn.steps[0]?.parts[0]).toMatchObject({ type: 'text', text: 'look.' })
    expect(callOf([turn])).toMatchObject({ state: 'succeeded' })
  })

  it('[LG7] of a batch that lacks a line, every line that is there is read', async () => {
    const store = await openDamaged('open', (raw) => changeLine(raw, 9, 4, () => undefined))
    const turn = turnOf(await readThread(store))
    expect(turn.unreadable).toBe(1)
    expect(turn.steps[0]?.parts[0]).toMatchObject({ type: 'text', text: 'look.' })
    expect(callOf([turn])).toMatchObject({ state: 'succeeded', output: { value: { degrees: 20 } } })
  })

  it('[LG7] of a batch that is cut off, what stands before the cut is read', async () => {
    const store = await openDamaged('open, in three batches', (raw) => {
      const end = `instr(payload, '"I will') + 3`
      raw.exec(`UPDATE events SET payload = substr(payload, 1, ${end}) WHERE seq = 5`)
    })
    const turn = turnOf(await readThread(store))
    expect(turn.unreadable).toBe(2)
    expect(turn.steps[0]?.parts).toMatchObject([{ type: 'text', text: '' }, { type: 'call' }])
  })

  it.each(['?', '', '\n\n\n', '{}', 'null\n[1]\n""\n{"type":"turn-ended"}'])(
    '[LG7] a batch of rubbish, %j, costs its own events and no others',
    async (rubbish) => {
      const store = await openDamaged('open, in three batches', (raw) => {
        raw.prepare('UPDATE events SET payload = ? WHERE seq = 5').run(rubbish)
      })
      const turn = turnOf(await readThread(store))
      expect(turn.unreadable).toBe(3)
      expect(turn.steps[0]?.parts).toMatchObject([
        { type: 'call', id: callId, state: 'succeeded', output: { value: { degrees: 20 } } },
      ])
    },
  )

  it('[LG7] so is an event of a type that nobody knows, or that is no object', async () => {
    const store = await openDamaged('open', (raw) => {
      changeLine(raw, 9, 4, () => '{"type":"text-sung","block":"0"}')
      changeLine(raw, 9, 5, () => '[1]')
    })
    const turn = turnOf(await readThread(store))
    expect(turn.unreadable).toBe(2)
    expect(callOf([turn])).toMatchObject({ state: 'succeeded' })
  })

  it.each(['open', 'ended'] as const)(
    '[LG7] a cut-off result, %s, is what is left of it',
    async (mode) => {
      const store = await openDamaged(mode, (raw) =>
        raw.exec(`UPDATE calls SET output = '{"degrees":2'`),
      )
      expect(callOf(await readThread(store))).toMatchObject({
        state: 'succeeded',
        output: { kind: 'inline', value: '{"degrees":2' },
      })
    },
  )

  it('[LG7] cut-off arguments are what is left of them', async () => {
    const store = await openDamaged('ended', (raw) =>
      raw.exec(`UPDATE calls SET input = '{"city":"Os'`),
    )
    expect(callOf(await readThread(store))).toMatchObject({
      state: 'succeeded',
      input: { kind: 'partial', text: '{"city":"Os' },
      output: { kind: 'inline', value: { degrees: 20 } },
    })
  })

  it('[LG7] a call without its row, in a turn that has ended, is not running', async () => {
    const store = await openDamaged('ended', (raw) => raw.exec('DELETE FROM calls'))
    expect(callOf(await readThread(store))?.state).toBe('interrupted')
    expect(await store.readCall(threadId, callId)).toBeNull()
  })

  it('[LG7 CL2] a call without its row, in an open turn, has no result yet and can get one', async () => {
    const store = await openDamaged('open', (raw) => raw.exec('DELETE FROM calls'))
    const turn = turnOf(await readThread(store))
    expect(turn.unreadable).toBe(1)
    expect(callOf([turn])?.state).toBe('running')
    const outcome = { state: 'unknown', cause: 'crashed' } as const
    const events: readonly NewEvent[] = [
      { type: 'call-settled', turnId, at, callId, outcome },
      { type: 'turn-ended', turnId, at, ending: { kind: 'interrupted' } },
    ]
    expect((await appendEvents(store, { threadId, events })).kind).toBe('appended')
    expect((await store.readCall(threadId, callId))?.call.state).toBe('unknown')
  })

  it('[LG7] a cut-off snapshot of a turn still has its calls', async () => {
    const store = await openDamaged('ended', (raw) =>
      raw.exec(`UPDATE messages SET body = substr(body, 1, 40) WHERE role = 'assistant'`),
    )
    const turn = turnOf(await readThread(store))
    expect(turn.unreadable).toBe(1)
    expect(callOf([turn])).toMatchObject({
      name: 'look_up',
      state: 'succeeded',
      input: { kind: 'complete', value: { city: 'Oslo' } },
      output: { kind: 'inline', value: { degrees: 20 } },
    })
  })

  it('[LG7] a cut-off message is as much of its text as there is', async () => {
    const store = await openDamaged('ended', (raw) =>
      raw.exec(`UPDATE messages SET body = substr(body, 1, 52) WHERE message_id = 'user'`),
    )
    const [, , user] = await readThread(store)
    expect(user).toMatchObject({ parts: [{ type: 'text', text: 'What is the weather' }] })
  })

  it('[LG7] a message that is no JSON at all is empty', async () => {
    const store = await openDamaged('ended', (raw) =>
      raw.exec(`UPDATE messages SET body = '?' WHERE message_id = 'user'`),
    )
    const [, , user] = await readThread(store)
    expect(user).toMatchObject({ role: 'user', parts: [] })
  })
})
