import { describe, expect, it } from 'vitest'
import { type MessageId, parseMessageId } from '../../src/core/ids.ts'
import { callsOf, isTurn } from '../../src/core/message.ts'
import { appendEvents } from '../../src/testing/store-rules/append-events.ts'
import { readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  ana,
  append,
  at,
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
  text,
  thread,
  tryAppend,
  user,
} from '../../src/testing/store-rules/thread-script.ts'
import { openTestDatabase } from './test-database.ts'

const paused = turnEvent({ type: 'turn-paused', waitingFor: 'client' })
const retired = (id: MessageId) => ({ type: 'messages-retired', messageIds: [id], at }) as const

describe('the tables themselves', () => {
  it('[CL2] refuse to bring an ended call back, whoever asks', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    await append(store, [started(), recorded(), begun(), succeeded(1)])
    const client = await database.connect()
    for (const change of [
      `life = 'running', output = NULL`,
      `life = 'failed', output = NULL`,
      `output = '2'`,
    ]) {
      const update = client.query(`UPDATE holdfast.calls SET ${change}`)
      await expect(update).rejects.toMatchObject({ code: '23514' })
    }
    expect((await store.readCall(thread, call))?.call.state).toBe('succeeded')
  })

  it('[CL2] let an unknown outcome be resolved, once', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    const unknown = settled({ state: 'unknown', cause: 'crashed' })
    await append(store, [started(), recorded(), begun(), unknown])
    const client = await database.connect()
    await client.query(`UPDATE holdfast.calls SET life = 'skipped'`)
    const update = client.query(`UPDATE holdfast.calls SET life = 'ready'`)
    await expect(update).rejects.toMatchObject({ code: '23514' })
  })

  it('[LG9] have an output exactly where a call succeeded', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    await append(store, [started(), recorded(), begun(), paused])
    const client = await database.connect()
    for (const change of [`output = '1'`, `life = 'succeeded'`, `life = 'thinking'`]) {
      const update = client.query(`UPDATE holdfast.calls SET ${change}`)
      await expect(update).rejects.toMatchObject({ code: '23514' })
    }
  })

  it('[LG1] have no number twice', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    await append(store, [messageAdded('Hi'), started(), ...text('Hi')])
    const client = await database.connect()
    for (const table of ['events', 'messages']) {
      const copy = client.query(`INSERT INTO holdfast.${table} SELECT * FROM holdfast.${table}`)
      await expect(copy).rejects.toMatchObject({ code: '23505' })
    }
  })
})

describe('what comes back', () => {
  const strange = 'NUL \u0000, lone \ud800 and \udc00, pair \u{1f600}, \u2028, \\u0000, "\n\r\t"'

  it('[LG9] is what was stored, to the last character, wherever it was JSON', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    const input = { [strange]: [strange, 1e-7, -0.5, 1e21, true, null, { b: 1, a: 2 }] }
    const output = { deep: input, empty: ['', [], {}] }
    const events = [
      messageAdded(strange),
      started(),
      ...text(strange),
      recorded(call, { input }),
      begun(),
      succeeded(output),
      turnEvent({ type: 'item-added', item: { type: 'data', name: 'x', data: input } }),
    ]
    await append(store, events)
    for (const hasEnded of [false, true]) {
      if (hasEnded) await append(store, [ended()])
      const [shown, asked] = (await readPage(store)).messages
      expect(asked).toMatchObject({ parts: [{ type: 'text', text: strange }] })
      if (shown === undefined || !isTurn(shown)) throw new Error('no turn')
      const [done] = [...callsOf(shown)]
      expect(done).toMatchObject({ input: { value: input }, output: { value: output } })
      expect(JSON.stringify(done)).toContain(JSON.stringify(output))
      expect(shown.steps[0]?.parts[0]).toMatchObject({ text: strange })
    }
  })

  it('[LG5] is the same at every read where a name cannot be stored as it is', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    const title = 'A\u0000B\ud800C'
    const created = await store.createThread({ id: thread, ownerId: ana, title, at })
    expect(created).toMatchObject({ kind: 'created', thread: { title: 'A\ufffdB\ufffdC' } })
    expect((await store.readThread(thread))?.title).toBe('A\ufffdB\ufffdC')
    await append(store, [{ type: 'thread-renamed', title: '\u0000', at }])
    expect((await store.readThread(thread))?.title).toBe('\ufffd')
    const origin = { id: call, providerCallId: 'x', name: 'na\u0000me' }
    await append(store, [
      started(),
      turnEvent({ type: 'call-announced', callId: call, call: origin }),
    ])
    expect((await store.readCall(thread, call))?.call.name).toBe('na\u0000me')
  })

  it('[LG9] keeps a result of 10 MB', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    const value = '1234567890ü'.repeat(1_000_000)
    await append(store, [started(), recorded(), begun(), succeeded(value)])
    const found = await store.readCall(thread, call)
    expect(found?.call.state === 'succeeded' && found.call.output).toEqual({
      kind: 'inline',
      value,
    })
    const lazy = await readPage(store, { results: 'lazy' })
    expect(JSON.stringify(lazy).length).toBeLessThan(2000)
  })
})

describe('an append that contradicts itself', () => {
  it.each([
    ['adds a message twice: refused', [messageAdded('One'), messageAdded('Two')], 'illegal', []],
    [
      'retires a message twice',
      [messageAdded('One'), retired(user), retired(user)],
      'appended',
      [],
    ],
    ['retires what is not there', [retired(user), messageAdded('One')], 'appended', ['One']],
    [
      'retires what it adds, and adds it again',
      [messageAdded('One'), retired(user), messageAdded('Two')],
      'appended',
      ['Two'],
    ],
  ] as const)('[LG3] %s', async (_, events, kind, shown) => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    expect((await tryAppend(store, events)).kind).toBe(kind)
    const { messages } = await readPage(store)
    expect(messages).toMatchObject(shown.map((words) => ({ parts: [{ text: words }] })))
    expect((await store.readThread(thread))?.seq).toBe(kind === 'appended' ? events.length : 0)
  })
})

describe('a thread that is deleted', () => {
  it('leaves no row behind, whatever is being appended meanwhile', async () => {
    const database = await openTestDatabase()
    const [store, other] = [database.open(), database.open()]
    const client = await database.connect()
    for (let round = 0; round < 5; round++) {
      await createThread(store)
      await append(store, [started(), recorded()])
      await Promise.all([
        ...Array.from({ length: 10 }, (_, index) => {
          const message = messageAdded('Hi', parseMessageId(`message-${index}`))
          return appendEvents(other, { threadId: thread, events: [message, ...text('Hi')] })
        }),
        store.deleteThread(thread),
      ])
      const { rows } = await client.query(`SELECT
        (SELECT count(*) FROM holdfast.messages)::integer AS messages,
        (SELECT count(*) FROM holdfast.events)::integer AS events,
        (SELECT count(*) FROM holdfast.calls)::integer AS calls`)
      expect(rows).toEqual([{ messages: 0, events: 0, calls: 0 }])
    }
  })

  it('[RS2] is gone for those who read on', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    await append(store, [messageAdded('Hi')])
    expect((await readChanges(store, 0)).changes).toHaveLength(1)
    await store.deleteThread(thread)
    const query = { threadId: thread, after: 0, limit: 10, results: 'full' } as const
    expect(await store.readChanges(query)).toBeNull()
  })
})
