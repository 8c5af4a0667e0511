import assert from 'node:assert/strict'
import { foldThread } from '../../core/fold-thread.ts'
import { parseMessageId, type Seq } from '../../core/ids.ts'
import { createRandom } from '../random.ts'
import { randomLedger } from '../random-ledger.ts'
import {
  endedTurns,
  foldEvents,
  followChanges,
  newestFirst,
  readChanges,
  readPage,
  splitAppends,
  writeLedger,
  writeWholeLedger,
} from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  at,
  createThread,
  ended,
  messageAdded,
  started,
  text,
  thread,
  turn,
  turnWithCalls,
} from './thread-script.ts'
import { numberEvents } from '../../core/event.ts'

/** Seqs at which a reader may resume, and how many rows it reads at a time; row by row near the end. */
function resumePoints(seed: number, seq: Seq): readonly (readonly [after: Seq, limit: number])[] {
  const random = createRandom(seed)
  const anywhere = Array.from({ length: 12 }, () => [random.int(seq + 1), 7 + random.int(500)])
  return [
    [0, 10_000],
    [0, 11],
    [Math.max(0, seq - 12), 1],
    [Math.max(0, seq - 9), 2],
    [seq, 1],
  ].concat(anywhere) as [number, number][]
}

export const changeRules: readonly StoreRule[] = [
  {
    id: 'RS2',
    claim: 'brings a reader from any seq to the state of the page, however few rows at a time',
    async check({ open }) {
      for (let seed = 300; seed < 304; seed++) {
        const ledger = randomLedger(seed, { turns: 3, shape: seed % 3 === 0 ? 'crashed' : 'any' })
        const store = await open()
        await createThread(store)
        if (seed % 4 === 0) await writeWholeLedger(store, ledger)
        else await writeLedger(store, seed, ledger)
        const { messages, seq } = await readPage(store)
        assert.equal(seq, ledger.length)
        for (const [after, limit] of resumePoints(seed, seq)) {
          const changes = await followChanges(store, after, limit)
          const order = changes.map((change) => change.seq)
          assert.deepEqual(
            order,
            order.toSorted((left, right) => left - right),
          )
          assert.equal(new Set(order).size, order.length)
          assert.ok(order.every((number) => number > after && number <= seq))
          const view = foldThread(foldEvents(ledger.slice(0, after)), changes)
          assert.deepEqual(newestFirst(view), messages, `seed ${seed}, after ${after}`)
        }
      }
    },
  },
  {
    id: 'RS2',
    claim: 'returns every event of a turn that has not ended, and an ended turn as one state',
    async check({ open }) {
      const ledger = randomLedger(320, { turns: 4 })
      const store = await open()
      await createThread(store)
      let written = 0
      for (const part of splitAppends(320, ledger)) {
        await append(store, part)
        const events = await readChanges(store, written)
        written += part.length
        const over = endedTurns(part)
        const open = numberEvents(part, written - part.length + 1).flatMap((event) => {
          const isOpen = !('turnId' in event) || !over.has(event.turnId)
          return isOpen ? [{ kind: 'event', seq: event.seq, event }] : []
        })
        assert.deepEqual(
          events.changes.flatMap(({ commit, ...change }) =>
            change.kind === 'turn' ? [] : [change],
          ),
          open,
        )
      }
      const snapshotted = endedTurns(ledger)
      assert.ok(snapshotted.size > 1)
      const { changes, reached } = await readChanges(store, 0)
      assert.equal(reached, ledger.length)
      const states = changes.flatMap((change) => (change.kind === 'turn' ? [change.turn] : []))
      assert.deepEqual(new Set(states.map((state) => state.id)), snapshotted)
      for (const state of states) {
        assert.deepEqual(await store.readMessage(thread, state.id), state)
      }
    },
  },
  {
    id: 'RS2',
    claim: 'returns with every change the commit that it came with',
    async check({ open, reopen }) {
      for (let seed = 330; seed < 333; seed++) {
        const ledger = randomLedger(seed, { turns: 3 })
        const first = await open()
        await createThread(first)
        const commits: number[] = []
        for (const part of splitAppends(seed, ledger)) {
          const { seq } = await append(first, part)
          commits.push(...part.map(() => seq))
        }
        const { changes } = await readChanges(await reopen(first), 0)
        assert.deepEqual(
          changes.map((change) => [change.seq, change.commit]),
          changes.map((change) => [change.seq, commits[change.seq - 1]]),
          `seed ${seed}`,
        )
      }
    },
  },
  {
    id: 'RS2',
    claim: 'returns how far it has read when the limit cuts it off',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const many = parseMessageId('many')
      await append(store, [messageAdded('Hello'), ...turnWithCalls(5, many)])
      const end = (await readPage(store)).seq
      await append(store, [started(), ...text('Hi')])
      const first = await readChanges(store, 0, 2)
      assert.deepEqual([first.reached, first.seq, first.changes.length], [end, end + 4, 2])
      const second = await readChanges(store, end, 3)
      assert.deepEqual([second.reached, second.changes.length], [end + 3, 3])
      const third = await readChanges(store, end + 3, 3)
      assert.deepEqual([third.reached, third.changes.length], [end + 4, 1])
      const none = { seq: end + 4, reached: end + 4, changes: [], queue: [] }
      assert.deepEqual(await readChanges(store, end + 4, 3), none)
    },
  },
  {
    id: 'RS2',
    claim: 'does not send a turn again that was retired before it ended',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const retired = { type: 'messages-retired', messageIds: [turn], at } as const
      const events = [messageAdded('Hello'), started(), ...text('Hi'), retired, ended()]
      await append(store, events.slice(0, -2))
      await append(store, [retired])
      await append(store, [ended()])
      for (let after = 0; after <= events.length; after++) {
        const changes = await followChanges(store, after, 2)
        const view = foldThread(foldEvents(events.slice(0, after)), changes)
        assert.deepEqual(newestFirst(view), (await readPage(store)).messages, `after ${after}`)
      }
    },
  },
]
