import assert from 'node:assert/strict'
import type { CallOutcome } from '../../core/call.ts'
import type { NewEvent, NewTurnEvent, TurnEventBody } from '../../core/event.ts'
import {
  type CallId,
  type MessageId,
  parseCallId,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type ThreadId,
} from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import type { Append } from '../../store/plan-commit.ts'
import type { AppendResult, Store } from '../../store/store.ts'
import { appendEvents } from './append-events.ts'
import type { Message } from '../../core/message.ts'

/** All events of a rule share one date: nothing may depend on a clock (LG1). */
export const at = 1_760_000_000_000

export const ana = parseOwnerId('ana')
export const ben = parseOwnerId('ben')
export const thread = parseThreadId('thread')
export const turn = parseMessageId('turn')
export const user = parseMessageId('user')
export const call = parseCallId('call')

export type Appended = Extract<AppendResult, { readonly kind: 'appended' }>

export async function createThread(store: Store, id: ThreadId = thread): Promise<ThreadId> {
  const { kind } = await store.createThread({ id, ownerId: ana, title: '', at })
  assert.equal(kind, 'created')
  return id
}

/** One append that has to succeed. */
export async function append(
  store: Store,
  events: readonly NewEvent[],
  more: Omit<Append, 'events' | 'threadId'> & { readonly threadId?: ThreadId } = {},
): Promise<Appended> {
  const result = await tryAppend(store, events, more)
  assert.equal(result.kind, 'appended', JSON.stringify(result))
  return result
}

export async function tryAppend(
  store: Store,
  events: readonly NewEvent[],
  more: Omit<Append, 'events' | 'threadId'> & { readonly threadId?: ThreadId } = {},
): Promise<AppendResult> {
  return appendEvents(store, { threadId: thread, ...more, events })
}

/** The nth of many messages, with an id of its own. */
export const message = (number: number): NewEvent =>
  messageAdded(`Message ${number}`, parseMessageId(`message-${number}`))

export const idsOf = (messages: readonly Message[]) => messages.map((one) => one.id)

export function messageAdded(text: string, messageId: MessageId = user): NewEvent {
  return { type: 'message-added', messageId, role: 'user', parts: [{ type: 'text', text }], at }
}

export function turnEvent(inTurn: TurnEventBody, turnId: MessageId = turn): NewTurnEvent {
  return { ...inTurn, turnId, at }
}

export const started = (turnId?: MessageId): NewTurnEvent =>
  turnEvent({ type: 'turn-started', replyTo: null }, turnId)

export const ended = (turnId?: MessageId): NewTurnEvent =>
  turnEvent({ type: 'turn-ended', ending: { kind: 'completed' } }, turnId)

export const resumed = (turnId?: MessageId): NewTurnEvent =>
  turnEvent({ type: 'turn-resumed' }, turnId)

export function text(delta: string, turnId?: MessageId): readonly NewTurnEvent[] {
  return [
    turnEvent({ type: 'text-started', block: '0', kind: 'text' }, turnId),
    turnEvent({ type: 'text-appended', block: '0', delta }, turnId),
    turnEvent({ type: 'text-ended', block: '0' }, turnId),
  ]
}

export function recorded(
  callId: CallId = call,
  more: {
    readonly turnId?: MessageId
    readonly input?: Json
    readonly approval?: 'required' | 'not-required'
    readonly providerCallId?: string
  } = {},
): NewTurnEvent {
  const { input = {}, approval = 'not-required', providerCallId = 'call_0', turnId } = more
  const origin = { id: callId, providerCallId, name: 'look_up' }
  return turnEvent({ type: 'call-recorded', callId, call: origin, input, approval }, turnId)
}

export const begun = (callId: CallId = call, turnId?: MessageId): NewTurnEvent =>
  turnEvent({ type: 'call-started', callId }, turnId)

export const settled = (
  outcome: CallOutcome,
  callId: CallId = call,
  turnId?: MessageId,
): NewTurnEvent => turnEvent({ type: 'call-settled', callId, outcome }, turnId)

export const succeeded = (value: Json, callId: CallId = call, turnId?: MessageId): NewTurnEvent =>
  settled({ state: 'succeeded', output: { kind: 'inline', value } }, callId, turnId)

/** A turn of `count` parallel calls, all with results, ended. */
export function turnWithCalls(count: number, turnId: MessageId): readonly NewTurnEvent[] {
  const ids = Array.from({ length: count }, (_, index) => parseCallId(`${turnId}-${index}`))
  return [
    started(turnId),
    turnEvent({ type: 'step-started', step: 0 }, turnId),
    ...ids.map((id, index) => recorded(id, { turnId, input: { index } })),
    ...ids.map((id) => begun(id, turnId)),
    ...ids.toReversed().map((id) => succeeded(`result of ${id}`, id, turnId)),
    turnEvent({ type: 'step-ended', finishReason: 'tool-calls' }, turnId),
    ended(turnId),
  ]
}
