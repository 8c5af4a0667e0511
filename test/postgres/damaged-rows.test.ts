import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { foldThread } from '../../src/core/fold-thread.ts'
import { foldTurn } from '../../src/core/fold-turn.ts'
import { parseMessageId } from '../../src/core/ids.ts'
import { callsOf, isTurn, type Message } from '../../src/core/message.ts'
import type { Store, StoredChange } from '../../src/store/store.ts'
import { nothing, readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  begun,
  call,
  createThread,
  ended,
  turnEvent,
  recorded,
  messageAdded,
  settled,
  started,
  succeeded,
  thread,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { openTestDatabase } from './test-database.ts'

type Mode = 'open' | 'ended'

/** Open: the turn waits for somebody. One that has ended is its snapshot, and has no rows of events. */
const eventsOf = (mode: Mode): readonly NewEvent[] => [
  messageAdded('What is the weather in Oslo?'),
  started(),
  turnEvent({ type: 'text-started', block: '0', kind: 'text' }),
  turnEvent({ type: 'text-appended', block: '0', delta: 'I will ' }),
  turnEvent({ type: 'text-appended', block: '0', delta: 'look.' }),
  recorded(call, { input: { city: 'Oslo' } }),
  begun(),
  succeeded({ degrees: 20 }),
  mode === 'ended' ? ended() : turnEvent({ type: 'turn-paused', waitingFor: 'client' }),
  messageAdded('Thanks', parseMessageId('thanks')),
]

/** Of the batch that has the events 2 to 9, the line of one; without a line if that is null. */
const setLine = (seq: number, to: string) => `
  UPDATE events SET payload = (
    SELECT string_agg(CASE WHEN seq - size + nth = ${seq} THEN ${to} ELSE line END, chr(10)
      ORDER BY nth)
    FROM unnest(string_to_array(payload, chr(10))) WITH ORDINALITY AS l(line, nth))
  WHERE seq = 9 AND size = 8;`

async function openDamaged(mode: Mode, damage: string, rest = 0): Promise<Store> {
  const database = await openTestDatabase()
  const store = database.open()
  await createThread(store)
  const events = eventsOf(mode)
  if (rest > 0) await append(store, events.slice(0, rest))
  await append(store, events.slice(rest))
  const client = await database.connect()
  await client.query(`SET search_path = holdfast; ALTER TABLE calls DISABLE TRIGGER ALL; ${damage}`)
  return store
}

/** Reads the thread in every way; what a page shows is what a follower gets, damaged or not. */
async function readThread(store: Store, seq = 10): Promise<readonly Message[]> {
  const page = await readPage(store)
  expect(page).toMatchObject({ seq, hasMore: false })
  const { changes } = await readChanges(store, 0)
  expect(foldThread(nothing, changes).messages.toReversed()).toEqual(page.messages)
  expect((await store.findTurn(turn))?.turn).toEqual(page.messages[1])
  expect(await store.readMessage(thread, turn)).toEqual(page.messages[1])
  await store.readCall(thread, call)
  expect(page.messages.map(({ id }) => id)).toEqual(['thanks', 'turn', 'user'])
  return page.messages
}

const turnOf = (messages: readonly Message[]) => {
  const found = messages.find(isTurn)!
  expect(found.progress.status).not.toBe('running')
  return found
}
const callOf = (messages: readonly Message[]) => [...callsOf(turnOf(messages))][0]

describe('[LG7] one bad row never makes a thread unreadable', () => {
  it('[LG7] a cut-off event is passed over, and counted', async () => {
    const cut = setLine(4, 'left(line, 20)')
    const found = turnOf(await readThread(await openDamaged('open', cut)))
    expect(found.unreadable).toBe(1)
    expect(found.steps[0]?.parts[0]).toMatchObject({ type: 'text', text: 'look.' })
  })

  it('[LG7] so is an event of a type that nobody knows, or that is no object', async () => {
    const store = await openDamaged(
      'open',
      setLine(4, `'{"type":"text-sung","block":"0"}'`) + setLine(5, `'[1]'`),
    )
    const found = turnOf(await readThread(store))
    expect(found.unreadable).toBe(2)
    expect(callOf([found])).toMatchObject({ state: 'succeeded' })
  })

  it('[LG7] of a batch, a line that is gone costs one event: those after it move up', async () => {
    const found = turnOf(await readThread(await openDamaged('open', setLine(4, 'NULL'))))
    expect(found).toMatchObject({ unreadable: 1, lastSeq: 9 })
    expect(found.steps[0]?.parts[0]).toMatchObject({ type: 'text', text: 'look.' })
    expect(callOf([found])).toMatchObject({ state: 'succeeded' })
  })

  it('[LG7] of a batch that is cut off, what stands before is still there', async () => {
    const cut = `UPDATE events SET payload = left(payload, strpos(payload, 'call-recorded'))`
    const messages = await readThread(await openDamaged('open', cut))
    const found = messages.find(isTurn)
    expect(found).toMatchObject({ unreadable: 4, lastSeq: 9 })
    expect(found?.steps[0]?.parts).toMatchObject([{ type: 'text', text: 'I will look.' }])
  })

  it('[LG7] a batch that is no text of ours at all hides nothing else', async () => {
    // The turn's start is a row of its own: nobody can follow a turn that never began.
    const garbage = `UPDATE events SET payload = '?' WHERE seq = 9 AND size = 7`
    const messages = await readThread(await openDamaged('open', garbage, 2))
    expect(messages.find(isTurn)).toMatchObject({ unreadable: 7, lastSeq: 9, steps: [] })
    const after = await openDamaged('open', `UPDATE events SET payload = payload || chr(10) || '?'`)
    expect(turnOf(await readThread(after))).toMatchObject({ unreadable: 0, lastSeq: 9 })
  })

  it.each([1, 2, 3, 20])(
    '[LG7] whoever reads a damaged batch %i events at a time gets each of the others once',
    async (limit) => {
      const store = await openDamaged('open', setLine(4, `'{'`) + setLine(8, `'{'`))
      const events = eventsOf('open')
      const seen: StoredChange[] = []
      for (let after = 0; after < events.length;) {
        const { changes, reached } = await readChanges(store, after, limit)
        expect(reached).toBeGreaterThan(after)
        expect(changes.length).toBeLessThanOrEqual(limit)
        expect(reached).toBe(limit < events.length ? changes.at(-1)?.seq : events.length)
        seen.push(...changes)
        after = reached
      }
      expect(seen.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
      expect(seen.map(({ commit }) => commit)).toEqual(events.map(() => events.length))
      const found = seen.flatMap((change) => (change.kind === 'event' ? [change.event] : []))
      expect(found.map(({ type }) => type)).toEqual(
        events.map(({ type }, index) => (index === 3 || index === 7 ? 'unreadable' : type)),
      )
    },
  )

  it('[LG7] a turn with bad events can still end, and reads the same', async () => {
    const cut = setLine(4, 'left(line, 20)') + setLine(7, 'left(line, 20)')
    const store = await openDamaged('open', cut)
    const open = await readThread(store)
    expect(turnOf(open).unreadable).toBe(2)
    const { seq } = await append(store, [ended()])
    const expected = foldTurn(turnOf(open), [{ ...ended(), seq }])
    expect(turnOf(await readThread(store, seq))).toEqual(expected)
  })

  it.each(['open', 'ended'] as const)(
    '[LG7] a cut-off result, %s, is what is left of it',
    async (mode) => {
      const store = await openDamaged(mode, `UPDATE calls SET output = '{"degrees":2'`)
      expect(callOf(await readThread(store))).toMatchObject({
        state: 'succeeded',
        output: { kind: 'inline', value: '{"degrees":2' },
      })
    },
  )

  it('[LG7] cut-off arguments are what is left of them', async () => {
    const store = await openDamaged('ended', `UPDATE calls SET input = '{"city":"Os'`)
    expect(callOf(await readThread(store))).toMatchObject({
      state: 'succeeded',
      input: { kind: 'partial', text: '{"city":"Os' },
      output: { kind: 'inline', value: { degrees: 20 } },
    })
  })

  it('[LG7] a call without its row, in a turn that has ended, is not running', async () => {
    const store = await openDamaged('ended', 'DELETE FROM calls')
    expect(callOf(await readThread(store))?.state).toBe('interrupted')
    expect(await store.readCall(thread, call)).toBeNull()
  })

  it('[LG7 CL2] a call without its row, in an open turn, has no result yet and can get one', async () => {
    const store = await openDamaged('open', 'DELETE FROM calls')
    expect(callOf(await readThread(store))?.state).toBe('running')
    await append(store, [settled({ state: 'unknown', cause: 'crashed' }), ended()])
    expect((await store.readCall(thread, call))?.call.state).toBe('unknown')
  })

  it('[LG7] a cut-off snapshot of a turn still has its calls', async () => {
    const cut = `UPDATE messages SET body = left(body, 40) WHERE role = 'assistant'`
    const found = turnOf(await readThread(await openDamaged('ended', cut)))
    expect(found.unreadable).toBe(1)
    expect(callOf([found])).toMatchObject({
      name: 'look_up',
      state: 'succeeded',
      input: { kind: 'complete', value: { city: 'Oslo' } },
      output: { kind: 'inline', value: { degrees: 20 } },
    })
  })

  it('[LG7] a cut-off message is as much of its text as there is', async () => {
    const cut = `UPDATE messages SET body = left(body, 52) WHERE message_id = 'user'`
    const [, , user] = await readThread(await openDamaged('ended', cut))
    expect(user).toMatchObject({ parts: [{ type: 'text', text: 'What is the weather' }] })
  })

  it('[LG7] a message that is no JSON at all is empty', async () => {
    const cut = `UPDATE messages SET body = '?' WHERE message_id = 'user'`
    const [, , user] = await readThread(await openDamaged('ended', cut))
    expect(user).toMatchObject({ role: 'user', parts: [] })
  })
})
