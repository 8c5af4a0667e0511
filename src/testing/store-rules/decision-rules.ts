import assert from 'node:assert/strict'
import type { Decision } from '../../core/call.ts'
import type { NewEvent } from '../../core/event.ts'
import type { StoreRule } from './store-rule.ts'
import {
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

const decide = (decision: Decision, editedInput?: { readonly city: string }): NewEvent =>
  turnEvent({
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

export const decisionRules: readonly StoreRule[] = [
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
        for (const decision of order) {
          assert.equal((await tryAppend(store, [decide(decision)])).kind, 'illegal')
        }
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
        await append(first, [ended()])
        const found = (await (await reopen(first)).readCall(thread, call))?.call
        assert.deepEqual(found?.decision, decision)
        assert.deepEqual(found.input, { kind: 'complete', value: edited ?? input })
        assert.deepEqual(found.proposedInput, edited === undefined ? undefined : input)
      }
    },
  },
]
