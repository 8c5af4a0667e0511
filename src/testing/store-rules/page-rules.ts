import assert from 'node:assert/strict'
import { parseMessageId } from '../../core/ids.ts'
import { callsOf, isTurn } from '../../core/message.ts'
import { randomLedger } from '../random-ledger.ts'
import { foldEvents, newestFirst, readAllPages, readPage, writeLedger } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  ana,
  append,
  createThread,
  ended,
  idsOf,
  message,
  messageAdded,
  recorded,
  started,
  succeeded,
  text,
  turn,
  turnEvent,
  turnWithCalls,
  user,
} from './thread-script.ts'

export const pageRules: readonly StoreRule[] = [
  {
    id: 'PG2',
    claim:
      'returns the whole thread once in pages of every size, in both orders, with turns broken off anywhere',
    async check({ open }) {
      for (let seed = 200; seed < 204; seed++) {
        const shape = seed % 2 === 0 ? 'any' : 'crashed'
        const ledger = randomLedger(seed, { turns: 5, shape })
        const store = await open()
        await createThread(store)
        await writeLedger(store, seed, ledger)
        const expected = newestFirst(foldEvents(ledger))
        for (let limit = 1; limit <= expected.length + 1; limit++) {
          const where = `seed ${seed}, pages of ${limit}`
          assert.deepEqual(await readAllPages(store, limit), expected, where)
          const upward = await readAllPages(store, limit, { order: 'oldest-first' })
          assert.deepEqual(upward, expected.toReversed(), `${where}, oldest first`)
        }
      }
    },
  },
  {
    id: 'PG3',
    claim: 'counts a turn with 30 parallel calls as one, and one with 300',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      const thirty = parseMessageId('thirty')
      const many = parseMessageId('many')
      const events = [
        message(1),
        ...turnWithCalls(30, thirty),
        message(2),
        ...turnWithCalls(300, many),
      ]
      await append(first, events)
      const beforeSnapshot = await readAllPages(first, 1)
      await append(first, [message(3)])
      const store = await reopen(first)
      for (const limit of [1, 2, 3, 4, 5, 200]) {
        const messages = await readAllPages(store, limit)
        assert.deepEqual(messages.slice(1), beforeSnapshot)
        assert.deepEqual(
          messages.map((one) => (isTurn(one) ? [...callsOf(one)].length : one.id)),
          ['message-3', 300, 'message-2', 30, 'message-1'],
        )
      }
    },
  },
  {
    id: 'PG1',
    claim: 'has every call on the page of its turn, with its result',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const many = parseMessageId('many')
      await append(store, [message(1), ...turnWithCalls(40, many), message(2)])
      const page = await readPage(store, { limit: 1, before: (await readPage(store)).seq })
      const [only, ...others] = page.messages
      assert.ok(only !== undefined && isTurn(only))
      assert.deepEqual(others, [])
      assert.deepEqual(
        [...callsOf(only)].map((one) => [
          one.id,
          one.input,
          one.state === 'succeeded' ? one.output : one.state,
        ]),
        Array.from({ length: 40 }, (_, index) => [
          `many-${index}`,
          { kind: 'complete', value: { index } },
          { kind: 'inline', value: `result of many-${index}` },
        ]),
      )
    },
  },
  {
    id: 'PG4',
    claim:
      'continues where a page ended, although messages are added, turns grow and are snapshotted meanwhile',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const more = parseMessageId('more')
      await append(store, [1, 2, 3].map(message))
      await append(store, [started(), ...text('One'), message(4), message(5)])
      const first = await readPage(store, { limit: 2 })
      assert.deepEqual(idsOf(first.messages), ['message-5', 'message-4'])
      const before = first.messages.at(-1)?.seq ?? null
      await append(store, [message(6), ...text('Two'), ended()])
      await append(store, [...turnWithCalls(3, more)])
      const second = await readPage(store, { limit: 2, before })
      assert.deepEqual(idsOf(second.messages), ['turn', 'message-3'])
      const last = await readPage(store, { limit: 2, before: second.messages.at(-1)?.seq ?? null })
      assert.deepEqual(idsOf(last.messages), ['message-2', 'message-1'])
      assert.deepEqual([second.hasMore, last.hasMore], [true, false])
    },
  },
  {
    id: 'PG5',
    claim: 'returns hasMore exactly when there is more',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const nothing = { ownerId: ana, messages: [], hasMore: false, live: null, queue: [] }
      assert.deepEqual(await readPage(store), { ...nothing, seq: 0 })
      await append(store, [1, 2, 3, 4].map(message))
      for (let limit = 1; limit <= 6; limit++) {
        const { messages, hasMore } = await readPage(store, { limit })
        assert.deepEqual([messages.length, hasMore], [Math.min(limit, 4), limit < 4])
      }
      const none = await readPage(store, { before: 1 })
      assert.deepEqual(none, { ...nothing, seq: 4 })
    },
  },
  {
    id: 'RS3',
    claim: 'can leave out the running turn, and keeps one that waits',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const read = async (limit: number) => {
        const page = await readPage(store, { live: 'exclude', limit })
        return [idsOf(page.messages), page.hasMore, page.live]
      }
      await append(store, [message(1), messageAdded('Hello'), started()])
      assert.deepEqual(await read(2), [[user, 'message-1'], false, turn])
      assert.deepEqual(await read(1), [[user], true, turn])
      assert.equal((await readPage(store)).live, null)
      await append(store, [recorded(undefined, { approval: 'required' })])
      await append(store, [turnEvent({ type: 'turn-paused', waitingFor: 'approval' })])
      assert.deepEqual(await read(2), [[turn, user], true, null])
      await append(store, [turnEvent({ type: 'turn-resumed' })])
      assert.deepEqual(await read(3), [[user, 'message-1'], false, turn])
      await append(store, [succeeded(1), ended()])
      assert.deepEqual(await read(3), [[turn, user, 'message-1'], false, null])
    },
  },
]
