import { assertNever } from '../core/assert-never.ts'
import type { CallOutput } from '../core/call.ts'
import {
  isTurnEvent,
  type NewEvent,
  type NewThreadEvent,
  type NewTurnEvent,
} from '../core/event.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { CallId, MessageId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import { type CallLife, isCallEvent } from '../core/life.ts'
import type { TurnStatus, UserMessage } from '../core/message.ts'
import { findEventFault } from '../core/parse-event.ts'
import { createPackBuilder, type PlannedPack } from './event-pack.ts'
import { extendCallPaths, extendTurnPaths, noPaths, type Paths } from './paths.ts'

/**
 * What one append does to the rows, worked out before the transaction. Which states it may start
 * from is data (`paths`), so a store only has to look up the state it finds: no store has a life
 * cycle of its own.
 */
export interface AppendPlan {
  readonly packs: readonly PlannedPack[]
  readonly messages: readonly PlannedMessage[]
  readonly turns: ReadonlyMap<MessageId, PlannedTurn>
  readonly calls: ReadonlyMap<CallId, PlannedCall>
  readonly retired: readonly MessageId[]
  readonly title: string | null
  /** Moves the thread to the top of the list: a message came, or a turn began or ended. */
  readonly activityAt: number | null
  readonly size: number
}

/** `offset` is the event's place in the append: its seq is the thread's seq before, plus offset, plus one. */
export type PlannedMessage =
  | {
      readonly offset: number
      readonly id: MessageId
      readonly role: UserMessage['role']
      readonly at: number
      readonly body: string
    }
  | {
      readonly offset: number
      readonly id: MessageId
      readonly role: 'assistant'
      readonly at: number
      readonly body: null
    }

export interface PlannedTurn {
  readonly paths: Paths<TurnStatus>
  readonly ends: boolean
}

export interface PlannedCall {
  readonly turnId: MessageId
  /** The offset of the first event of the call in this append; its order if the call is new. */
  readonly offset: number
  readonly paths: Paths<CallLife>
  /** For the call's own row; null where the append does not say it. */
  readonly name: string | null
  readonly input: string | null
  readonly output: string | null
  readonly modelOutput: string | null
}

export function planAppend(events: readonly NewEvent[]): AppendPlan {
  const builder = createPackBuilder()
  const messages: PlannedMessage[] = []
  const turns = new Map<MessageId, PlannedTurn>()
  const calls = new Map<CallId, PlannedCall>()
  const retired: MessageId[] = []
  let title: string | null = null
  let activityAt: number | null = null

  for (const [offset, event] of events.entries()) {
    const fault = findEventFault(event)
    if (fault !== undefined) throw new HoldfastError('bad-event', fault)
    if (isTurnEvent(event)) {
      if (event.type === 'turn-started') {
        const { turnId: id, at } = event
        messages.push({ offset, id, role: 'assistant', at, body: null })
      }
      if (event.type === 'turn-started' || event.type === 'turn-ended') activityAt = event.at
      turns.set(event.turnId, planTurn(turns.get(event.turnId), event))
      if (isCallEvent(event)) {
        calls.set(event.callId, planCall(calls.get(event.callId), event, offset))
      }
      builder.add(event, event.turnId, offset)
      continue
    }
    switch (event.type) {
      case 'message-added':
        activityAt = event.at
        messages.push(toMessage(event, offset))
        break
      case 'messages-retired':
        // What a rewrite took out has no row any more that could be marked.
        if (event.from === undefined) retired.push(...event.messageIds)
        builder.add(event, null, offset)
        break
      case 'thread-renamed':
        title = event.title
        builder.add(event, null, offset)
        break
      default:
        assertNever(event)
    }
  }
  const packs = builder.packs()
  return { packs, messages, turns, calls, retired, title, activityAt, size: events.length }
}

function planTurn(planned: PlannedTurn | undefined, event: NewTurnEvent): PlannedTurn {
  const paths = extendTurnPaths(planned?.paths, event)
  const ends =
    event.type === 'turn-ended' || (planned?.ends === true && event.type !== 'turn-resumed')
  // Most facts of a turn leave it as it was.
  return planned?.paths === paths && planned.ends === ends ? planned : { paths, ends }
}

function planCall(
  planned: PlannedCall | undefined,
  event: Extract<NewTurnEvent, { readonly callId: CallId }>,
  offset: number,
): PlannedCall {
  const isElsewhere = planned !== undefined && planned.turnId !== event.turnId
  const columns = callColumns(event)
  return {
    turnId: planned?.turnId ?? event.turnId,
    offset: planned?.offset ?? offset,
    paths: isElsewhere ? noPaths : extendCallPaths(planned?.paths, event),
    name: columns?.name ?? planned?.name ?? null,
    input: columns?.input ?? planned?.input ?? null,
    output: columns?.output ?? planned?.output ?? null,
    modelOutput: columns?.modelOutput ?? planned?.modelOutput ?? null,
  }
}

type Columns = Partial<Pick<PlannedCall, 'name' | 'input' | 'output' | 'modelOutput'>>

function callColumns(
  event: Extract<NewTurnEvent, { readonly callId: CallId }>,
): Columns | undefined {
  switch (event.type) {
    case 'call-announced':
      return { name: event.call.name }
    case 'call-recorded':
      return { name: event.call.name, input: JSON.stringify(event.input) }
    case 'call-revised':
      return { name: event.name, input: JSON.stringify(event.input) }
    case 'call-decided':
      return event.editedInput === undefined
        ? undefined
        : { input: JSON.stringify(event.editedInput) }
    case 'call-settled':
      if (event.outcome.state !== 'succeeded') return undefined
      return {
        output: textOfOutput(event.outcome.output),
        modelOutput: textOf(event.outcome.modelOutput),
      }
    case 'call-resolved':
      if (event.resolution.kind !== 'done') return undefined
      return { output: textOfOutput(event.output ?? { kind: 'inline', value: null }) }
    default:
      return undefined
  }
}

const textOf = (value: Json | undefined): string | null =>
  value === undefined ? null : JSON.stringify(value)

function textOfOutput(output: CallOutput): string {
  if (output.kind === 'omitted') {
    throw new HoldfastError('bad-event', 'A lazily read result cannot be stored again.')
  }
  return JSON.stringify(output.value)
}

function toMessage(
  event: Extract<NewThreadEvent, { readonly type: 'message-added' }>,
  offset: number,
): PlannedMessage {
  const { messageId: id, role, at, parts, metadata } = event
  return { offset, id, role, at, body: JSON.stringify({ parts, metadata }) }
}
