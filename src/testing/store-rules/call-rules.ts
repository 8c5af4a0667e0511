import assert from 'node:assert/strict'
import { type Call, type Decision, isOpenCall } from '../../core/call.ts'
import type { NewEvent } from '../../core/event.ts'
import { parseCallId, parseMessageId, parseThreadId } from '../../core/ids.ts'
import { callsOf, isTurn } from '../../core/message.ts'
import { randomLedger } from '../random-ledger.ts'
import { readPage, writeLedger, writeWholeLedger } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import { withoutMarks } from './without-marks.ts'
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
  started,
  succeeded,
  thread,
  tryAppend,
} from './thread-script.ts'

const byAna: Decision = { kind: 'accepted', by: 'ana', at: at + 5, inputHash: 'hash-1' }
const accepted = turnEvent({ type: 'call-decided', callId: call, decision: byAna })

export const callRules: readonly StoreRule[] = [
  {
    id: 'CL8',
    claim: 'reads one call whole, with its turn, at every point of its lifecycle',
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
        [accepted, { state: 'ready', decision }],
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
      const whole = await store.readCall(thread, call)
      await append(store, [ended()])
      assert.deepEqual((await store.readCall(thread, call))?.call, whole?.call)
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
      for (let seed = 10; seed < 16; seed++) {
        const threadId = await createThread(first, parseThreadId(`thread-${seed}`))
        await writeWholeLedger(first, randomLedger(seed, { turns: 3 }), threadId)
      }
      const store = await reopen(first)
      let calls = 0
      for (let seed = 10; seed < 16; seed++) {
        const threadId = parseThreadId(`thread-${seed}`)
        const { messages, seq } = await readPage(store, { threadId })
        for (const message of messages.filter(isTurn)) {
          const found = { threadId, ownerId: ana, seq, queue: [], turn: message }
          assert.deepEqual(withoutMarks(await store.findTurn(message.id)), found)
          assert.deepEqual(await store.readMessage(threadId, message.id), message)
          for (const one of callsOf(message)) {
            calls += 1
            const foundCall = withoutMarks(await store.readCall(threadId, one.id))
            assert.deepEqual(foundCall, { ...found, call: one })
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
      await append(first, [succeeded(1), succeeded(2, twin), ended()])
      await append(first, [started(later)])
      const again = [recorded(call, { turnId: later }), succeeded(3, call, later)]
      const refusal = { kind: 'illegal', subject: 'call', id: call, state: 'exists' }
      assert.deepEqual(await tryAppend(first, again), refusal)
      await append(first, [recorded(third, { turnId: later })])
      // Two turns that both run: an event of one cannot belong to a call of the other.
      const aside = parseMessageId('aside')
      const fourth = parseCallId('fourth')
      await append(first, [started(aside)])
      for (const events of [
        [begun(third, aside)],
        [begun(third, later), succeeded(3, third, aside)],
        [recorded(fourth, { turnId: aside }), begun(fourth, later)],
      ]) {
        assert.deepEqual((await tryAppend(first, events)).kind, 'illegal')
      }
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
    id: 'CL9',
    claim: 'has nothing open in a turn that has ended, in whatever way',
    async check({ open }) {
      for (let seed = 20; seed < 26; seed++) {
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
