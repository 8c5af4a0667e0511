import assert from 'node:assert/strict'
import { parseCallId } from '../../core/ids.ts'
import { randomLedger } from '../random-ledger.ts'
import {
  endedTurns,
  foldEvents,
  newestFirst,
  readChanges,
  readPage,
  splitAppends,
} from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  begun,
  call,
  createThread,
  ended,
  turnEvent,
  recorded,
  resumed,
  messageAdded,
  settled,
  started,
  succeeded,
  text,
  thread,
  turn,
} from './thread-script.ts'

const seeds = Array.from({ length: 25 }, (_, index) => 100 + index)

export const snapshotRules: readonly StoreRule[] = [
  {
    id: 'LG4',
    claim: 'shows after every commit what the events so far fold to, ended or not',
    async check({ open }) {
      let over = 0
      for (const seed of seeds.slice(0, 6)) {
        const ledger = randomLedger(seed, { turns: 2 })
        const store = await open()
        await createThread(store)
        let written = 0
        for (const part of splitAppends(seed, ledger)) {
          await append(store, part)
          over += endedTurns(part).size
          written += part.length
          const expected = newestFirst(foldEvents(ledger.slice(0, written)))
          const page = await readPage(store)
          assert.deepEqual(page.messages, expected, `seed ${seed}, after ${written}`)
          assert.equal(page.seq, written)
        }
      }
      assert.ok(over > 6, 'turns have ended')
    },
  },
  {
    id: 'LG4',
    claim: 'follows the events of a turn that is reopened after its end, and ended again',
    async check({ open, reopen }) {
      let store = await open()
      await createThread(store)
      const unknown = settled({ state: 'unknown', cause: 'crashed' })
      const at = 1
      const retry = { kind: 'retry', by: 'ana', at } as const
      const rounds = [
        [messageAdded('Hello'), started(), ...text('One'), recorded(), begun(), unknown, ended()],
        [resumed(), turnEvent({ type: 'call-resolved', callId: call, resolution: retry })],
        [begun(), succeeded('at last'), ...text('Two')],
        [ended()],
        // A turn that is resumed and ended in one append keeps its status.
        [resumed(), ...text('Three'), ended()],
      ]
      const written: Parameters<typeof foldEvents>[0][number][] = []
      for (const [index, round] of rounds.entries()) {
        written.push(...round)
        await append(store, round)
        store = await reopen(store)
        const expected = newestFirst(foldEvents(written))
        assert.deepEqual((await readPage(store)).messages, expected, `round ${index}`)
        assert.deepEqual(await store.readMessage(thread, turn), expected[0])
      }
      const { changes } = await readChanges(store, 0)
      assert.deepEqual(
        changes.map((change) => [change.kind, change.seq]),
        [
          ['event', 1],
          ['turn', written.length],
        ],
      )
    },
  },
  {
    id: 'LG4',
    claim: 'stores a turn of thousands of calls, and one of megabytes, as every other',
    async check({ open, reopen }) {
      const values = [
        ...Array.from({ length: 1_200 }, (_, nth) => `"Found" at \\${nth}, in {braces}`),
        ...Array.from({ length: 3 }, (_, nth) => `${nth}`.padEnd(400_000, 'é"')),
      ]
      const calls = values.map((_, nth) => parseCallId(`call-${nth}`))
      const outcomes = values.map((value, nth) =>
        settled({ state: 'succeeded', output: { kind: 'inline', value } }, calls[nth]),
      )
      const begins = calls.flatMap((id) => [recorded(id), begun(id)])
      const events = [started(), ...begins, ...outcomes, ended()]
      const store = await open()
      await createThread(store)
      await append(store, events)
      const expected = newestFirst(foldEvents(events))
      assert.deepEqual((await readPage(store)).messages, expected)
      assert.deepEqual((await readPage(await reopen(store))).messages, expected)
    },
  },
]
