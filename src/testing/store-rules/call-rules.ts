import assert from 'node:assert/strict'
import type { Call, Decision } from '../../core/call.ts'
import type { NewEvent } from '../../core/event.ts'
import { parseCallId, parseMessageId, parseThreadId } from '../../core/ids.ts'
import { callsOf, isTurn } from '../../core/message.ts'
import { isOpenCall } from '../../core/call.ts'
import { randomLedger } from '../random-ledger.ts'
import { readPage, writeLedger } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  ana,
  append,
  at,
  begun,
  call,
  createThread,
  ended,
  fact,
  recorded,
  started,
  succeeded,
  thread,
  tryAppend,
  turn,
} from './thread-script.ts'

const decide = (decision: Decision, editedInput?: { readonly city: string }): NewEvent =>
  fact({
    type: 'call-decided',
    callId: call,
    decision,
    ...(editedInput === undefined ? {} : { editedInput }),
  })
const byAna: Decision = { kind: 'accepted', by: 'ana', at: at + 5, inputHash: 'hash-1' }
const byBen: Decision = {
  kind: 'rejected',
  by: 'ben',
  at: at + 6,
  inputHash: 'hash-1',
  feedback: 'Not today.',
}

export const callRules: readonly StoreRule[] = [
  {
    id: 'CL8',
    claim: 'reads one call whole, with its turn, at every point of its life',
    async check({ open, reopen }) {
      let store = await open()
      await createThread(store)
      const other = await createThread(store, parseThreadId('other'))
      const input = { city: 'Oslo' }
      const base = {
        type: 'call',
        id: call,
        providerCallId: 'call_0',
        name: 'look_up',
        step: 0,
        input: { kind: 'complete', value: input },
        approval: 'required',
        createdAt: at,
      }
      const output = { kind: 'inline', value: { degrees: 20 } } as const
      const decision = byAna
      const stages: readonly (readonly [NewEvent, object])[] = [
        [recorded(call, { input, approval: 'required' }), { state: 'awaiting-approval' }],
        [decide(byAna), { state: 'ready', decision }],
        [
          { ...begun(), at: at + 7 },
          { state: 'running', decision, startedAt: at + 7 },
        ],
        [
          { ...succeeded({ degrees: 20 }), at: at + 9 },
          { state: 'succeeded', decision, startedAt: at + 7, output, endedAt: at + 9 },
        ],
      ]
      await append(store, [started()])
      for (const [event, expected] of stages) {
        await append(store, [event])
        store = await reopen(store)
        const found = await store.readCall(thread, call)
        assert.deepEqual(found?.call, { ...base, ...expected })
        assert.deepEqual([...callsOf(found.turn)], [found.call])
      }
      const open4 = await store.readCall(thread, call)
      await append(store, [ended()], { seal: [turn] })
      assert.deepEqual((await store.readCall(thread, call))?.call, open4?.call)
      assert.equal(await store.readCall(thread, parseCallId('no such call')), null)
      assert.equal(await store.readCall(other, call), null)
      assert.equal(await store.readCall(parseThreadId('nowhere'), call), null)
    },
  },
  {
    id: 'CL9',
    claim: 'finds a turn by its id alone, its calls in order, none open once it has ended',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      let ledger: readonly NewEvent[] = []
      for (let seed = 10; seed < 16; seed++) {
        ledger = randomLedger(seed, { turns: 3 })
        const threadId = await createThread(first, parseThreadId(`thread-${seed}`))
        await append(first, ledger, { threadId })
      }
      assert.ok(ledger.length > 0)
      const store = await reopen(first)
      let calls = 0
      for (let seed = 10; seed < 16; seed++) {
        const threadId = parseThreadId(`thread-${seed}`)
        const { messages } = await readPage(store, { threadId })
        for (const message of messages.filter(isTurn)) {
          const found = await store.findTurn(message.id)
          assert.deepEqual(found, { threadId, ownerId: ana, turn: message })
          assert.deepEqual(await store.readMessage(threadId, message.id), message)
          for (const one of callsOf(message)) {
            calls += 1
            assert.deepEqual(await store.readCall(threadId, one.id), { call: one, turn: message })
            assert.ok(message.progress.status !== 'ended' || !isOpenCall(one))
          }
        }
        for (const message of messages.filter((one) => !isTurn(one))) {
          assert.equal(await store.findTurn(message.id), null)
          assert.deepEqual(await store.readMessage(threadId, message.id), message)
        }
      }
      assert.ok(calls > 20, 'the ledgers had calls')
      assert.equal(await store.findTurn(parseMessageId('no such turn')), null)
      assert.equal(await store.readMessage(thread, parseMessageId('no such message')), null)
    },
  },
  {
    id: 'LG10',
    claim: 'has one call of an id in a thread, and keeps the ids of providers that repeat theirs',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      const other = await createThread(first, parseThreadId('other'))
      const later = parseMessageId('later')
      const twin = parseCallId('twin')
      const third = parseCallId('third')
      await append(first, [started(), recorded(), recorded(twin)])
      await append(first, [succeeded(1), succeeded(2, twin), ended()], { seal: [turn] })
      await append(first, [started(later)])
      const refusal = { kind: 'illegal', subject: 'call', id: call, state: 'succeeded' }
      assert.deepEqual(await tryAppend(first, [recorded(call, { turnId: later })]), refusal)
      await append(first, [recorded(third, { turnId: later })])
      const mixed = [begun(third, later), succeeded(3, third, turn)]
      assert.equal((await tryAppend(first, mixed)).kind, 'illegal')
      await append(first, [started(parseMessageId('elsewhere'))], { threadId: other })
      const elsewhere = recorded(call, { turnId: parseMessageId('elsewhere') })
      await append(first, [elsewhere], { threadId: other })

      const store = await reopen(first)
      const { messages } = await readPage(store)
      const calls = messages.filter(isTurn).flatMap((message): Call[] => [...callsOf(message)])
      assert.deepEqual(
        calls.map((one) => [one.id, one.providerCallId, one.state]),
        [
          [third, 'call_0', 'ready'],
          [call, 'call_0', 'succeeded'],
          [twin, 'call_0', 'succeeded'],
        ],
      )
      assert.equal((await store.readCall(other, call))?.call.state, 'ready')
    },
  },
  {
    id: 'AP2',
    claim: 'lets exactly one of two simultaneous deciders win',
    async check({ open }) {
      for (const order of [
        [byAna, byBen],
        [byBen, byAna],
      ]) {
        const store = await open()
        await createThread(store)
        await append(store, [started(), recorded(call, { approval: 'required' })])
        const results = await Promise.all(
          order.map((decision) => tryAppend(store, [decide(decision)])),
        )
        assert.deepEqual(results.map((result) => result.kind).sort(), ['appended', 'illegal'])
        const winner = order[results.findIndex((result) => result.kind === 'appended')]
        assert.deepEqual((await store.readCall(thread, call))?.call.decision, winner)
        const [first, second] = await store.commit(
          order.map((decision) => ({ threadId: thread, events: [decide(decision)] })),
        )
        assert.deepEqual([first?.kind, second?.kind], ['illegal', 'illegal'])
      }
    },
  },
  {
    id: 'AP7',
    claim: 'keeps who decided, when, on what and why, with the arguments before and after',
    async check({ open, reopen }) {
      for (const decision of [byAna, byBen]) {
        const first = await open()
        await createThread(first)
        const input = { city: 'Oslo' }
        const edited = decision.kind === 'accepted' ? { city: 'Bergen' } : undefined
        await append(first, [started(), recorded(call, { input, approval: 'required' })])
        await append(first, [decide(decision, edited)])
        if (edited !== undefined) await append(first, [begun(), succeeded(1)])
        await append(first, [ended()], { seal: [turn] })
        const found = (await (await reopen(first)).readCall(thread, call))?.call
        assert.deepEqual(found?.decision, decision)
        assert.deepEqual(found.input, { kind: 'complete', value: edited ?? input })
        assert.deepEqual(found.proposedInput, edited === undefined ? undefined : input)
      }
    },
  },
  {
    id: 'CL9',
    claim: 'has nothing open in a turn that has ended, in whatever way',
    async check({ open }) {
      for (let seed = 20; seed < 40; seed++) {
        const store = await open()
        await createThread(store)
        await writeLedger(store, seed, randomLedger(seed, { turns: 2 }))
        for (const message of (await readPage(store)).messages) {
          if (!isTurn(message) || message.progress.status !== 'ended') continue
          assert.deepEqual([...callsOf(message)].filter(isOpenCall), [])
        }
      }
    },
  },
]
