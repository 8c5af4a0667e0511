import { appendEvents } from '../../src/testing/store-rules/append-events.ts'
import { describe, expect, it } from 'vitest'
import {
  type CallOutcome,
  callsOf,
  parseCallId,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
} from 'holdfast'
import { type DatabaseKind, databases } from './databases.ts'
import { runHoldfast } from './run-holdfast.ts'

const kinds = Object.keys(databases) as readonly DatabaseKind[]
const threadId = parseThreadId('t')
const turnId = parseMessageId('a1')
const at = 1_700_000_000_000

/** What the version before stored of a stream that asked for approval and ended in good order. */
async function createOld(kind: DatabaseKind) {
  const database = await databases[kind]()
  const store = database.openStore()
  await store.createThread({ id: threadId, ownerId: parseOwnerId('local'), title: '', at })
  const [c1, c2] = [parseCallId('c1'), parseCallId('c2')]
  const call = (id: typeof c1) => ({ id, providerCallId: id, name: 'remove' })
  const of = { turnId, at }
  const recorded = { ...of, type: 'call-recorded', input: {}, approval: 'not-required' } as const
  const unknown: CallOutcome = { state: 'unknown', cause: 'crashed' }
  const output = { kind: 'inline', value: 1 } as const
  const succeeded: CallOutcome = { state: 'succeeded', output }
  const result = await appendEvents(store, {
    threadId,
    events: [
      { ...of, type: 'turn-started', replyTo: null, recorded: true },
      { ...of, type: 'step-started', step: 0 },
      { ...recorded, callId: c1, call: call(c1) },
      { ...of, type: 'call-started', callId: c1 },
      { ...recorded, callId: c2, call: call(c2) },
      { ...of, type: 'call-settled', callId: c2, outcome: succeeded },
      { ...of, type: 'call-settled', callId: c1, outcome: unknown },
      { ...of, type: 'step-ended', finishReason: 'tool-calls' },
      { ...of, type: 'turn-ended', ending: { kind: 'completed' } },
    ],
  })
  expect(result.kind).toBe('appended')
  await store.close()
  return database
}

describe.each(kinds)('holdfast check on a %s database of the version before', (kind) => {
  it('[CR6] names and mends a call that was said to be unknown though nothing had stopped', async () => {
    const database = await createOld(kind)
    const place = ['--db', database.place]
    const found = await runHoldfast(['check', ...place])
    expect(found.code).toBe(1)
    expect(found.out).toMatch(/^damaged false-unknown: thread t, message a1, call c1/)
    const mended = await runHoldfast(['check', '--repair', ...place])
    expect(mended.code).toBe(0)
    expect((await runHoldfast(['check', ...place])).out).toMatch(/^Healthy/)
    const store = database.openStore()
    const turn = await store.readMessage(threadId, turnId)
    expect(turn?.role === 'assistant' ? [...callsOf(turn)] : []).toMatchObject([
      { id: 'c1', state: 'interrupted', cause: 'no-result' },
      { id: 'c2', state: 'succeeded', output: { value: 1 } },
    ])
    await store.close()
  })
})
