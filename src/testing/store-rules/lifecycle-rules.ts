import assert from 'node:assert/strict'
import type { NewTurnEvent, TurnEventBody } from '../../core/event.ts'
import { parseCallId, parseMessageId, parseThreadId, type ThreadId } from '../../core/ids.ts'
import { type CallLifecycle, callTransition, turnTransition } from '../../core/lifecycle.ts'
import type { TurnStatus } from '../../core/message.ts'
import type { Store } from '../../store/store.ts'
import { callEvents, failed, stopped, callPaths } from './call-lifecycles.ts'
import { readChanges, readPage } from './read-thread.ts'
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
  settled,
  started,
  succeeded,
  text,
  tryAppend,
  turn,
} from './thread-script.ts'

const turnPaths: ReadonlyMap<TurnStatus | 'absent', readonly NewTurnEvent[]> = new Map<
  TurnStatus | 'absent',
  readonly NewTurnEvent[]
>([
  ['absent', []],
  ['running', [started()]],
  ['waiting', [started(), turnEvent({ type: 'turn-paused', waitingFor: 'approval' })]],
  ['ended', [started(), ended()]],
])

const turnEvents: readonly TurnEventBody[] = [
  { type: 'step-started', step: 0 },
  { type: 'text-started', block: '0', kind: 'text' },
  { type: 'item-added', item: { type: 'custom', kind: 'note' } },
  { type: 'step-ended', finishReason: 'stop' },
  { type: 'step-resumed' },
  { type: 'step-abandoned' },
  {
    type: 'model-replaced',
    model: 'one',
    by: 'two',
    error: { code: 'network', message: 'It could not be reached.' },
  },
  { type: 'turn-paused', waitingFor: 'client' },
  { type: 'turn-resumed' },
  { type: 'turn-ended', ending: { kind: 'stopped' } },
]

async function threadAt(
  store: Store,
  name: string,
  path: readonly NewTurnEvent[],
): Promise<ThreadId> {
  const threadId = await createThread(store, parseThreadId(name))
  if (path.length > 0) await append(store, path, { threadId })
  return threadId
}

export const lifecycleRules: readonly StoreRule[] = [
  {
    id: 'CL2',
    claim:
      'accepts for a call in any state exactly the events that can follow, alone or in one append',
    async check({ open }) {
      const store = await open()
      for (const [lifecycle, path] of callPaths) {
        const full = await threadAt(store, `${lifecycle} and stays`, [started(), ...path])
        const before = await readChanges(store, 0, 100, full)
        for (const [index, event] of callEvents.entries()) {
          const isLegal = callTransition(event, lifecycle as CallLifecycle).from.includes(lifecycle)
          const name = `${event.type} in ${lifecycle}, ${index}`
          const whole = await threadAt(store, name, [])
          const inOne = await tryAppend(store, [started(), ...path, event], { threadId: whole })
          assert.equal(inOne.kind, isLegal ? 'appended' : 'illegal', name)
          assert.equal((await store.readThread(whole))?.seq, isLegal ? path.length + 2 : 0, name)
          if (isLegal) {
            const threadId = await threadAt(store, `${name}, alone`, [started(), ...path])
            await append(store, [event], { threadId })
            continue
          }
          assert.deepEqual(await tryAppend(store, [event], { threadId: full }), {
            kind: 'illegal',
            subject: 'call',
            id: call,
            state: lifecycle,
          })
        }
        assert.deepEqual(await readChanges(store, 0, 100, full), before)
      }
    },
  },
  {
    id: 'CL2',
    claim: 'accepts for a turn in any state exactly the events that can follow',
    async check({ open }) {
      const store = await open()
      for (const [status, path] of turnPaths) {
        for (const event of turnEvents) {
          const name = `${event.type} in ${status}`
          const threadId = await threadAt(store, name, path)
          const isLegal = turnTransition(turnEvent(event)).from.includes(status)
          const result = await tryAppend(store, [turnEvent(event)], { threadId })
          if (isLegal) {
            assert.equal(result.kind, 'appended', name)
            continue
          }
          const refusal = { kind: 'illegal', subject: 'turn', id: turn, state: status }
          assert.deepEqual(result, refusal, name)
          assert.equal((await store.readThread(threadId))?.seq, path.length, name)
        }
      }
    },
  },
  {
    id: 'CL2',
    claim: 'does not end a turn that would leave a call open',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const second = parseCallId('second')
      await append(store, [started(), recorded(), recorded(second), begun()])
      const refusal = { kind: 'illegal', subject: 'turn', id: turn, state: 'open-calls' }
      assert.deepEqual(await tryAppend(store, [ended()]), refusal)
      assert.deepEqual(await tryAppend(store, [succeeded(1), ended()]), refusal)
      const third = recorded(parseCallId('third'))
      const both = [succeeded(1), settled(stopped, second)]
      assert.deepEqual(await tryAppend(store, [third, ...both, ended()]), refusal)
      assert.equal((await readPage(store)).seq, 4)
      await append(store, [...both, ended()])
    },
  },
  {
    id: 'CL2',
    claim: 'keeps the first end of a call when its turn is reopened',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      await append(first, [started(), recorded(), succeeded('first'), ended()])
      const store = await reopen(first)
      await append(store, [resumed(), ...text('More')])
      const again = await tryAppend(store, [settled(failed)])
      const refusal = { kind: 'illegal', subject: 'call', id: call, state: 'succeeded' }
      assert.deepEqual(again, refusal)
      const other = started(parseMessageId('other'))
      const elsewhere = await tryAppend(store, [other, begun(call, other.turnId)])
      assert.deepEqual(elsewhere, { ...refusal, state: 'absent' })
    },
  },
]
