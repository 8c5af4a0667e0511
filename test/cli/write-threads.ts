import type { NewEvent } from '../../src/core/event.ts'
import { parseCallId, parseMessageId, parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import type { Append } from '../../src/store/plan-commit.ts'
import type { Store } from '../../src/store/store.ts'
import { appendEvents } from '../../src/testing/store-rules/append-events.ts'

const at = 1_700_000_000_000
const ownerId = parseOwnerId('local')

/**
 * A healthy database: thread `t` with a turn `a1` (seq 2 to 10) that has ended and a turn `a2` (12 to 19)
 * that waits for a person, and thread `live`, whose turn `b1` is running right now. The events 12 and
 * 13 are batches of their own, those from 14 to 19 are one; 16 has a time of its own.
 */
export async function writeThreads(store: Store): Promise<void> {
  const threadId = parseThreadId('t')
  const live = parseThreadId('live')
  await store.createThread({ id: threadId, ownerId, title: 'One', at })
  await store.createThread({ id: live, ownerId, title: '', at })
  const b1 = parseMessageId('b1')
  const appends: readonly Append[] = [
    { threadId, events: [messageAdded('u1'), ...endedTurn()] },
    { threadId, events: [messageAdded('u2'), ...waitingTurn().slice(0, 1)] },
    { threadId, events: waitingTurn().slice(1, 2) },
    { threadId, events: waitingTurn().slice(2) },
    {
      threadId: live,
      events: [
        messageAdded('u3'),
        { type: 'turn-started', turnId: b1, at, replyTo: parseMessageId('u3') },
        { type: 'step-started', turnId: b1, at, step: 0 },
        ...recorded('b1', 'c5', 'not-required'),
        { type: 'call-started', turnId: b1, at, callId: parseCallId('c5') },
      ],
      lease: {
        kind: 'acquire',
        holder: store.holder?.() ?? 'somebody',
        ttlMs: 3_600_000,
        turnId: b1,
      },
    },
  ]
  for (const append of appends) {
    const result = await appendEvents(store, append)
    if (result.kind !== 'appended') throw new Error(JSON.stringify(result))
  }
}

const messageAdded = (id: string): NewEvent => ({
  type: 'message-added',
  messageId: parseMessageId(id),
  role: 'user',
  parts: [{ type: 'text', text: 'What is the weather?' }],
  at,
})

function endedTurn(): readonly NewEvent[] {
  const of = { turnId: parseMessageId('a1'), at }
  const [c1, c2] = [parseCallId('c1'), parseCallId('c2')]
  const output = { kind: 'inline', value: { degrees: 20 } } as const
  return [
    { ...of, type: 'turn-started', replyTo: parseMessageId('u1') },
    { ...of, type: 'step-started', step: 0 },
    ...recorded('a1', 'c1', 'not-required'),
    { ...of, type: 'call-started', callId: c1 },
    { ...of, type: 'call-settled', callId: c1, outcome: { state: 'succeeded', output } },
    ...recorded('a1', 'c2', 'not-required'),
    {
      ...of,
      type: 'call-settled',
      callId: c2,
      outcome: { state: 'failed', cause: 'tool-error', error: 'no' },
    },
    { ...of, type: 'step-ended', finishReason: 'tool-calls' },
    { ...of, type: 'turn-ended', ending: { kind: 'no-answer' } },
  ]
}

function waitingTurn(): readonly NewEvent[] {
  const of = { turnId: parseMessageId('a2'), at }
  const c3 = parseCallId('c3')
  const output = { kind: 'inline', value: null } as const
  return [
    { ...of, type: 'turn-started', replyTo: parseMessageId('u2') },
    { ...of, type: 'step-started', step: 0 },
    ...recorded('a2', 'c3', 'not-required'),
    { ...of, type: 'call-started', callId: c3 },
    {
      ...of,
      at: at + 5,
      type: 'call-settled',
      callId: c3,
      outcome: { state: 'succeeded', output },
    },
    ...recorded('a2', 'c4', 'required'),
    { ...of, type: 'step-ended', finishReason: 'tool-calls' },
    { ...of, type: 'turn-paused', waitingFor: 'approval' },
  ]
}

function recorded(
  turn: string,
  id: string,
  approval: 'required' | 'not-required',
): readonly NewEvent[] {
  const callId = parseCallId(id)
  const call = { id: callId, providerCallId: id, name: 'weather' }
  const turnId = parseMessageId(turn)
  return [{ type: 'call-recorded', turnId, at, callId, call, input: { city: 'Oslo' }, approval }]
}
