import assert from 'node:assert/strict'
import type { NewEvent } from '../../core/event.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { parseThreadId } from '../../core/ids.ts'
import type { Append } from '../../store/plan-commit.ts'
import { commitTogether } from './append-events.ts'
import { randomLedger } from '../random-ledger.ts'
import { readChanges, readPage, writeLedger } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  at,
  createThread,
  message,
  messageAdded,
  started,
  text,
  thread,
  tryAppend,
  turn,
} from './thread-script.ts'

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

export const appendRules: readonly StoreRule[] = [
  {
    id: 'LG1',
    claim: 'numbers the events of a thread one by one, over all its appends',
    async check({ open, reopen }) {
      let store = await open()
      await createThread(store)
      const stopRequested = false
      assert.deepEqual(await append(store, [messageAdded('Hello'), started(), ...text('Hi')]), {
        kind: 'appended',
        firstSeq: 1,
        seq: 5,
        stopRequested,
      })
      const none = { kind: 'appended', firstSeq: 6, seq: 5, stopRequested }
      assert.deepEqual(await append(store, []), none)
      store = await reopen(store)
      const last = { kind: 'appended', firstSeq: 6, seq: 6, stopRequested }
      assert.deepEqual(await append(store, text('!').slice(0, 1)), last)
      const { seq, reached, changes } = await readChanges(store, 0)
      assert.deepEqual([seq, reached], [6, 6])
      assert.deepEqual(
        changes.map((change) => change.seq),
        numbers(1, 6),
      )
      assert.deepEqual(
        changes.map((change) => change.commit),
        [5, 5, 5, 5, 5, 6],
      )
    },
  },
  {
    id: 'LG1',
    claim: 'lets exactly one of two concurrent appends win',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      for (const round of numbers(0, 4)) {
        const results = await Promise.all(
          [1, 2].map((side) =>
            tryAppend(store, [message(round * 10 + side)], { expectedSeq: round }),
          ),
        )
        assert.deepEqual(results.map((result) => result.kind).sort(), ['appended', 'stale'])
        assert.deepEqual(
          results.find((result) => result.kind === 'stale'),
          { kind: 'stale', seq: round + 1 },
        )
      }
      assert.equal((await readPage(store)).messages.length, 5)
    },
  },
  {
    id: 'LG1',
    claim: 'gives concurrent appends seqs without gaps or ties',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const results = await Promise.all(
        numbers(1, 40).map((number) => append(store, [message(number), message(number + 100)])),
      )
      const given = results.flatMap(({ firstSeq, seq }) => numbers(firstSeq, seq))
      assert.deepEqual(
        given.sort((left, right) => left - right),
        numbers(1, 80),
      )
      assert.equal((await store.readThread(thread))?.seq, 80)
    },
  },
  {
    id: 'LG2',
    claim: 'has every append that it confirmed, at once and after reopening',
    async check({ open, reopen }) {
      let store = await open()
      await createThread(store)
      const events: readonly NewEvent[] = [messageAdded('Hello'), started(), ...text('Hi')]
      for (const [index, event] of events.entries()) {
        const { seq } = await append(store, [event])
        assert.equal((await readPage(store)).seq, seq)
        store = await reopen(store)
        const { changes } = await readChanges(store, index)
        const change = { kind: 'event', seq, commit: seq, event: { ...event, seq } }
        assert.deepEqual(changes, [change])
      }
    },
  },
  {
    id: 'LG3',
    claim: 'writes the appends of a group in order, each by itself, whatever happens to the others',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const other = await createThread(store, parseThreadId('other'))
      const group: readonly Append[] = [
        { threadId: thread, events: [message(1)], expectedSeq: 0 },
        { threadId: thread, events: [message(2)], expectedSeq: 0 },
        { threadId: other, events: [message(1), message(2)], expectedSeq: 0 },
        { threadId: thread, events: [message(1)], expectedSeq: 1 },
        { threadId: parseThreadId('nowhere'), events: [message(1)], expectedSeq: 0 },
        { threadId: thread, events: [message(4)], expectedSeq: 1 },
      ]
      const results = await commitTogether(store, group)
      assert.deepEqual(results, [
        { kind: 'appended', firstSeq: 1, seq: 1, stopRequested: false },
        { kind: 'stale', seq: 1 },
        { kind: 'appended', firstSeq: 1, seq: 2, stopRequested: false },
        { kind: 'illegal', subject: 'message', id: 'message-1', state: 'exists' },
        { kind: 'no-thread' },
        { kind: 'appended', firstSeq: 2, seq: 2, stopRequested: false },
      ])
      const { messages, seq } = await readPage(store)
      assert.deepEqual(
        messages.map((one) => one.id),
        ['message-4', 'message-1'],
      )
      assert.equal(seq, 2)
      assert.deepEqual(await store.commit([]), [])
    },
  },
  {
    id: 'LG3',
    claim: 'stores nothing of an append with an event that cannot be stored',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const bad = { type: 'text-appended', turnId: turn, at, block: 7, delta: 'x' }
      await assert.rejects(
        tryAppend(store, [message(1), bad as unknown as NewEvent]),
        (error) => error instanceof HoldfastError && error.code === 'bad-event',
      )
      assert.equal((await readPage(store)).seq, 0)
    },
  },
  {
    id: 'LG3',
    claim: 'fails as closed after it was closed, and closes twice',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      await store.close()
      await store.close()
      const isClosed = (error: unknown) =>
        error instanceof HoldfastError && error.code === 'store-closed'
      await assert.rejects(append(store, [message(1)]), isClosed)
      await assert.rejects(readPage(store), isClosed)
    },
  },
  {
    id: 'LG5',
    claim: 'returns the same bytes for the same thread, again after reopening',
    async check({ open, reopen }) {
      for (const seed of [1, 2, 3]) {
        let store = await open()
        await createThread(store)
        await writeLedger(store, seed, randomLedger(seed, { turns: 5 }))
        const read = async () =>
          JSON.stringify([await readPage(store), await readChanges(store, 0)])
        const first = await read()
        assert.equal(await read(), first)
        store = await reopen(store)
        assert.equal(await read(), first)
      }
    },
  },
]
