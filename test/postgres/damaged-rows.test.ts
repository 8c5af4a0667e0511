import { describe, expect, it } from 'vitest'
import { foldThread } from '../../src/core/fold-thread.ts'
import { parseMessageId } from '../../src/core/ids.ts'
import { callsOf, isTurn, type Message } from '../../src/core/message.ts'
import type { Store } from '../../src/store/store.ts'
import { nothing, readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  begun,
  call,
  createThread,
  ended,
  fact,
  recorded,
  say,
  started,
  succeeded,
  thread,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { openTestDatabase } from './test-database.ts'

const facts = [
  say('What is the weather in Oslo?'),
  started(),
  fact({ type: 'text-started', block: '0', kind: 'text' }),
  fact({ type: 'text-appended', block: '0', delta: 'I will ' }),
  fact({ type: 'text-appended', block: '0', delta: 'look.' }),
  recorded(call, { input: { city: 'Oslo' } }),
  begun(),
  succeeded({ degrees: 20 }),
  ended(),
  say('Thanks', parseMessageId('thanks')),
]

async function openDamaged(mode: 'open' | 'sealed', damage: string): Promise<Store> {
  const database = await openTestDatabase()
  const store = database.open()
  await createThread(store)
  await append(store, facts, { seal: mode === 'sealed' ? [turn] : [] })
  const client = await database.connect()
  await client.query(`SET search_path = holdfast; ALTER TABLE calls DISABLE TRIGGER ALL; ${damage}`)
  return store
}

/** Reads the thread in every way; what a page shows is what a follower gets, damaged or not. */
async function readThread(store: Store): Promise<readonly Message[]> {
  const page = await readPage(store)
  expect(page).toMatchObject({ seq: facts.length, hasMore: false })
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
  expect(found.progress.status).toBe('ended')
  return found
}
const callOf = (messages: readonly Message[]) => [...callsOf(turnOf(messages))][0]

describe('[LG7] one bad row never makes a thread unreadable', () => {
  it('[LG7] a cut-off fact is passed over, and counted', async () => {
    const cut = 'UPDATE events SET payload = left(payload, 20) WHERE seq = 4'
    const found = turnOf(await readThread(await openDamaged('open', cut)))
    expect(found.unreadable).toBe(1)
    expect(found.steps[0]?.parts[0]).toMatchObject({ type: 'text', text: 'look.' })
  })

  it('[LG7] so is a fact of a type that nobody knows, or that is no object', async () => {
    const store = await openDamaged(
      'open',
      `UPDATE events SET payload = '{"type":"text-sung","block":"0"}' WHERE seq = 4;
       UPDATE events SET payload = '[1]' WHERE seq = 5`,
    )
    const found = turnOf(await readThread(store))
    expect(found.unreadable).toBe(2)
    expect(callOf([found])).toMatchObject({ state: 'succeeded' })
  })

  it('[LG7] a turn with bad facts can still be sealed, and reads the same', async () => {
    const cut = 'UPDATE events SET payload = left(payload, 20) WHERE seq IN (4, 7)'
    const store = await openDamaged('open', cut)
    const open = await readThread(store)
    expect(turnOf(open).unreadable).toBe(2)
    await append(store, [], { seal: [turn] })
    expect(await readThread(store)).toEqual(open)
  })

  it.each(['open', 'sealed'] as const)(
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
    const store = await openDamaged('sealed', `UPDATE calls SET input = '{"city":"Os'`)
    expect(callOf(await readThread(store))).toMatchObject({
      state: 'succeeded',
      input: { kind: 'partial', text: '{"city":"Os' },
      output: { kind: 'inline', value: { degrees: 20 } },
    })
  })

  it.each(['open', 'sealed'] as const)(
    '[LG7] a call without its row, %s, is not running',
    async (mode) => {
      const store = await openDamaged(mode, 'DELETE FROM calls')
      const found = callOf(await readThread(store))
      expect(['interrupted', 'unknown']).toContain(found?.state)
      expect(await store.readCall(thread, call)).toBeNull()
    },
  )

  it('[LG7] a cut-off sealed turn still has its calls', async () => {
    const cut = `UPDATE messages SET body = left(body, 40) WHERE role = 'assistant'`
    const found = turnOf(await readThread(await openDamaged('sealed', cut)))
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
    const [, , user] = await readThread(await openDamaged('sealed', cut))
    expect(user).toMatchObject({ parts: [{ type: 'text', text: 'What is the weather' }] })
  })

  it('[LG7] a message that is no JSON at all is empty', async () => {
    const cut = `UPDATE messages SET body = '?' WHERE message_id = 'user'`
    const [, , user] = await readThread(await openDamaged('sealed', cut))
    expect(user).toMatchObject({ role: 'user', parts: [] })
  })
})
