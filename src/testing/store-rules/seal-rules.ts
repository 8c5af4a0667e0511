import assert from 'node:assert/strict'
import { parseMessageId } from '../../core/ids.ts'
import type { Turn } from '../../core/message.ts'
import { randomLedger } from '../random-ledger.ts'
import {
  endedTurns,
  foldFacts,
  newestFirst,
  readChanges,
  readPage,
  splitAppends,
  writeOpenLedger,
} from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  begun,
  call,
  createThread,
  ended,
  fact,
  recorded,
  resumed,
  say,
  settled,
  started,
  succeeded,
  text,
  thread,
  tryAppend,
  turn,
  user,
} from './thread-script.ts'

const seeds = Array.from({ length: 25 }, (_, index) => 100 + index)

export const sealRules: readonly StoreRule[] = [
  {
    id: 'LG4',
    claim: 'shows after every commit what the facts so far fold to, sealed or not',
    async check({ open }) {
      let sealed = 0
      for (const seed of seeds.slice(0, 6)) {
        const ledger = randomLedger(seed, { turns: 2 })
        const store = await open()
        await createThread(store)
        let written = 0
        for (const part of splitAppends(seed, ledger)) {
          const seal = [...endedTurns(part)]
          await append(store, part, { seal })
          sealed += seal.length
          written += part.length
          const expected = newestFirst(foldFacts(ledger.slice(0, written)))
          const page = await readPage(store)
          assert.deepEqual(page.messages, expected, `seed ${seed}, after ${written}`)
          assert.equal(page.seq, written)
        }
      }
      assert.ok(sealed > 6, 'turns were sealed')
    },
  },
  {
    id: 'LG4',
    claim: 'shows the same turns before and after they are sealed, and after reopening',
    async check({ open, reopen }) {
      for (const seed of seeds) {
        const ledger = randomLedger(seed)
        const first = await open()
        await createThread(first)
        await writeOpenLedger(first, ledger)
        const before = await readPage(first)
        assert.deepEqual(before.messages, newestFirst(foldFacts(ledger)), `seed ${seed}, open`)
        await append(first, [], { seal: [...endedTurns(ledger)] })
        assert.deepEqual(await readPage(first), before, `seed ${seed}, sealed`)
        const store = await reopen(first)
        assert.deepEqual(await readPage(store), before, `seed ${seed}, reopened`)
      }
    },
  },
  {
    id: 'LG4',
    claim: 'keeps to the facts of a turn that is reopened after its seal, and sealed again',
    async check({ open, reopen }) {
      let store = await open()
      await createThread(store)
      const unknown = settled({ state: 'unknown', cause: 'crashed' })
      const at = 1
      const retry = { kind: 'retry', by: 'ana', at } as const
      const rounds = [
        [say('Hello'), started(), ...text('One'), recorded(), begun(), unknown, ended()],
        [resumed(), fact({ type: 'call-resolved', callId: call, resolution: retry })],
        [begun(), succeeded('at last'), ...text('Two')],
        [ended()],
        // A whole reopening in one append leaves the status as it was.
        [resumed(), ...text('Three'), ended()],
      ]
      const written: Parameters<typeof foldFacts>[0][number][] = []
      for (const [index, round] of rounds.entries()) {
        written.push(...round)
        await append(store, round, { seal: index === 0 || index === 3 ? [turn] : [] })
        store = await reopen(store)
        const expected = newestFirst(foldFacts(written))
        assert.deepEqual((await readPage(store)).messages, expected, `round ${index}`)
        assert.deepEqual(await store.readMessage(thread, turn), expected[0])
      }
      const before = await readPage(store)
      await append(store, [], { seal: [turn] })
      assert.deepEqual(await readPage(store), before)
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
    claim: 'takes the fold of a writer that has seen every fact, and of no other',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      const begin = [say('Hello'), started(), ...text('One'), recorded(), begun(), succeeded('it')]
      const { seq } = await append(first, begin)
      const expected = foldFacts([...begin, ended()])
      const folded = expected.messages.find(({ id }) => id === turn) as Turn
      // A writer that does not say where it stands may have missed something.
      const stale = { ...folded, steps: [] }
      assert.equal(
        (await tryAppend(first, [ended()], { seal: [turn], folded, expectedSeq: seq - 1 })).kind,
        'stale',
      )
      await append(first, [ended()], { seal: [turn], folded, expectedSeq: seq })
      const store = await reopen(first)
      assert.deepEqual((await readPage(store)).messages, newestFirst(expected))
      const again = [resumed(), ...text('Two')]
      await append(store, again)
      await append(store, [ended()], { seal: [turn], folded: stale })
      assert.deepEqual(
        (await readPage(store)).messages,
        newestFirst(foldFacts([...begin, ended(), ...again, ended()])),
      )
      const { changes } = await readChanges(store, 0)
      assert.deepEqual(
        changes.map(({ kind }) => kind),
        ['event', 'turn'],
      )
    },
  },
  {
    id: 'LG3',
    claim: 'seals only a turn that has ended, and may be told to twice',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const refusal = { kind: 'illegal', subject: 'turn', id: turn }
      assert.deepEqual(await tryAppend(store, [say('Hello')], { seal: [turn] }), {
        ...refusal,
        state: 'absent',
      })
      assert.deepEqual(await tryAppend(store, [started()], { seal: [turn] }), {
        ...refusal,
        state: 'running',
      })
      assert.equal((await readPage(store)).seq, 0)
      await append(store, [say('Hello'), started()])
      for (const id of [turn, user, parseMessageId('nothing')]) {
        assert.equal((await tryAppend(store, [], { seal: [id] })).kind, 'illegal')
      }
      await append(store, [ended()], { seal: [turn] })
      const sealed = await readPage(store)
      await append(store, [], { seal: [turn] })
      assert.deepEqual(await readPage(store), sealed)
      assert.equal((await tryAppend(store, [resumed()], { seal: [turn] })).kind, 'illegal')
      assert.deepEqual(await readPage(store), sealed)
    },
  },
]
