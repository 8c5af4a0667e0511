import { assertNever } from '../core/assert-never.ts'
import type { Call, CallOutput } from '../core/call.ts'
import {
  beginsTurn,
  isTurnEvent,
  type NewEvent,
  numberEvents,
  type TurnEvent,
} from '../core/event.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import { type FileId, fileIdOf, fileIdsIn } from '../core/file.ts'
import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import {
  type CallLifecycle,
  callTransition,
  isCallEvent,
  isOpenLifecycle,
  lifecycleOf,
  turnTransition,
} from '../core/lifecycle.ts'
import { callsOf, type Turn, type TurnStatus, type UserPart } from '../core/message.ts'
import { findEventFault } from '../core/parse-event.ts'
import { foldQueueEvents, isAboutQueue } from '../core/queue.ts'
import type { InputQueue } from '../core/queued-input.ts'
import { foldFlags, type ThreadFlags } from '../core/thread-flags.ts'
import type { ForkOrigin } from '../core/thread.ts'
import { createBatchEncoder, type EventBatch } from './event-batch.ts'
import type { LeaseUse } from './lease.ts'
import {
  type ChangedMessageRow,
  isEnded,
  type NewMessageRow,
  type PlannedMessages,
  planMessages,
  statusOf,
} from './plan-messages.ts'

export type { ChangedMessageRow, NewMessageRow }

/** What a writer wants to add to a thread, and what it knows of it. */
export interface Append {
  readonly threadId: ThreadId
  /** May be empty, to acquire, renew or release a lease only. */
  readonly events: readonly NewEvent[]
  /** Where the thread stands, as the writer knows it. Must be given with events. */
  readonly expectedSeq?: Seq
  /** The turns that the events are about and that exist already, as they stand at `expectedSeq`. */
  readonly turns?: readonly Turn[]
  /**
   * The inputs that wait, as they stand at `expectedSeq`. Must be given with events about them, and with a message that
   * may be one of them.
   * @default none
   */
  readonly queue?: InputQueue
  /**
   * Made first, in the same transaction, if there is no such thread; not if the append is refused. One
   * that exists and is another owner's is none to this append.
   */
  readonly create?: ThreadToCreate
  readonly lease?: LeaseUse
}

export interface ThreadToCreate {
  readonly ownerId: OwnerId
  readonly title: string
  /** Nobody gave the title: it only stands for one, and may be replaced by one that a model makes (FK3). */
  readonly isPlaceholder?: true
  readonly at: number
}

/**
 * An append as rows. A store compares `expectedSeq` and the lease with the thread's row and writes these
 * rows, or nothing: it looks for nothing else and has no rules of its own about calls and turns.
 */
export interface PlannedCommit extends PlannedMessages {
  readonly append: Append
  readonly size: number
  readonly title: string | null
  /** Of a new title: a model made it. */
  readonly isTitledByModel: boolean
  /** What becomes of the flags; what is absent stays (FK2). */
  readonly flags: ThreadFlags
  /** Null: as it was. */
  readonly forkedFrom: ForkOrigin | null
  /** Moves the thread to the top of the list: a message came, or a turn began or ended. */
  readonly activityAt: number | null
  /** The inputs that wait once this is stored; null: as before. */
  readonly queue: InputQueue | null
  readonly batches: readonly PlannedBatch[]
  readonly calls: readonly PlannedCallRow[]
  /** The files that its messages name: kept for as long as the thread is (FL2). */
  readonly files: readonly FileId[]
  /** The turns that were written about, as they are once this is stored. */
  readonly turns: ReadonlyMap<MessageId, Turn>
}

/** `turnSeq`: the place of the turn that the events are about. */
export interface PlannedBatch extends EventBatch {
  readonly turnSeq: Seq | null
}

/** A row of `calls` as it is once this is stored, whether it was there before or not. */
export interface PlannedCallRow {
  readonly callId: CallId
  readonly turnId: MessageId
  readonly turnSeq: Seq
  /** Its order among the calls of its turn. */
  readonly seq: Seq
  readonly name: string
  readonly lifecycle: CallLifecycle
  readonly input: string | null
  readonly output: string | null
  readonly modelOutput: string | null
}

/** An event that may not happen in the state its subject is in. */
export interface IllegalAppend {
  readonly kind: 'illegal'
  readonly subject: 'call' | 'turn' | 'message'
  readonly id: string
  readonly state: string
}

/**
 * What one append does to the rows, as a pure function of the events and of the turns before them. It
 * holds for exactly the thread that stands at `expectedSeq`, so nothing has to be looked up in the
 * transaction, and every store writes the same rows.
 */
export function planCommit(append: Append): PlannedCommit | IllegalAppend {
  const { events, expectedSeq } = append
  if (events.length > 0 && expectedSeq === undefined) {
    throw new HoldfastError('bad-event', 'Events are added at a place: `expectedSeq` is missing.')
  }
  for (const event of events) {
    const fault = findEventFault(event)
    if (fault !== undefined) throw new HoldfastError('bad-event', fault)
  }
  const known = new Map(append.turns?.map((turn) => [turn.id, turn]))
  const illegal = findIllegal(known, events)
  if (illegal !== undefined) return illegal
  const first = (expectedSeq ?? 0) + 1
  const turns = foldTurns(known, events, first)
  const renamed = events.findLast((event) => event.type === 'thread-renamed')
  return {
    append,
    size: events.length,
    title: renamed?.title ?? null,
    isTitledByModel: renamed?.by === 'model',
    flags: events.reduce<ThreadFlags>(foldFlags, {}),
    forkedFrom: events.findLast((event) => event.type === 'thread-forked')?.from ?? null,
    activityAt: events.findLast((event) => movesThread.has(event.type))?.at ?? null,
    queue: planQueue(append),
    ...planMessages(known, turns, events, first),
    batches: planBatches(turns, events, first),
    calls: planCalls(known, turns, events),
    files: namedFiles(events),
    turns,
  }
}

const movesThread: ReadonlySet<NewEvent['type']> = new Set([
  'message-added',
  'turn-started',
  'turn-ended',
  'thread-forked',
])

function namedFiles(events: readonly NewEvent[]): readonly FileId[] {
  const named = new Set<FileId>()
  for (const event of events) {
    for (const part of partsIn(event)) {
      const id = part.type === 'file' ? fileIdOf(part.url) : undefined
      if (id !== undefined) named.add(id)
    }
    // A copy names what its origin names, or deleting the origin would delete it.
    if (event.type === 'turn-copied') {
      for (const id of fileIdsIn(JSON.stringify(event.turn))) named.add(id)
    }
  }
  return [...named]
}

/** A file is kept from the moment on at which the message that names it waits. */
function partsIn(event: NewEvent): readonly UserPart[] {
  if (event.type === 'message-added' || event.type === 'input-joined') return event.parts
  if (event.type === 'input-queued') return event.input.parts
  return event.type === 'input-revised' ? (event.parts ?? []) : []
}

function planQueue({ queue, events }: Append): InputQueue | null {
  if (queue === undefined && events.some(isAboutQueue)) {
    throw new HoldfastError('bad-event', 'Events about the queue need it: `queue` is missing.')
  }
  const before = queue ?? []
  const after = foldQueueEvents(before, events)
  return after === before ? null : after
}

/** Walks the events through the transition tables of calls and turns (CL2). */
function findIllegal(
  known: ReadonlyMap<MessageId, Turn>,
  events: readonly NewEvent[],
): IllegalAppend | undefined {
  const states = new Map<MessageId, { status: TurnStatus | 'absent'; calls?: Calls }>()
  const added = new Set<MessageId>()
  const stateOf = (id: MessageId) => {
    let state = states.get(id)
    if (state === undefined) {
      state = { status: known.get(id)?.progress.status ?? 'absent' }
      states.set(id, state)
    }
    return state
  }
  /** Looked at only where an event is about a call, or ends the turn: most are about text. */
  const callsIn = (id: MessageId): Calls => {
    const state = stateOf(id)
    const turn = known.get(id)
    state.calls ??= new Map(
      turn === undefined ? [] : [...callsOf(turn)].map((call) => [call.id, lifecycleOf(call)]),
    )
    return state.calls
  }
  const add = (id: MessageId): IllegalAppend | undefined => {
    if (added.has(id)) return { kind: 'illegal', subject: 'message', id, state: 'exists' }
    added.add(id)
    return undefined
  }

  for (const event of events) {
    if (!isTurnEvent(event)) {
      const illegal = event.type === 'message-added' ? add(event.messageId) : undefined
      if (illegal !== undefined) return illegal
      if (event.type === 'messages-retired') for (const id of event.messageIds) added.delete(id)
      continue
    }
    const { turnId: id } = event
    const state = stateOf(id)
    if (isCallEvent(event)) {
      const calls = callsIn(id)
      const lifecycle = calls.get(event.callId) ?? 'absent'
      const { from, to } = callTransition(event, lifecycle as CallLifecycle)
      if (!from.includes(lifecycle)) {
        return { kind: 'illegal', subject: 'call', id: event.callId, state: lifecycle }
      }
      calls.set(event.callId, to)
    }
    const { from, to } = turnTransition(event)
    if (!from.includes(state.status)) {
      return { kind: 'illegal', subject: 'turn', id, state: state.status }
    }
    if (beginsTurn(event)) {
      const illegal = add(id)
      if (illegal !== undefined) return illegal
    }
    // Its end would leave a spinner for ever.
    if (event.type === 'turn-ended' && [...callsIn(id).values()].some(isOpenLifecycle)) {
      return { kind: 'illegal', subject: 'turn', id, state: 'open-calls' }
    }
    state.status = to ?? state.status
  }
  return undefined
}

type Calls = Map<CallId, CallLifecycle>

function foldTurns(
  known: ReadonlyMap<MessageId, Turn>,
  events: readonly NewEvent[],
  first: Seq,
): ReadonlyMap<MessageId, Turn> {
  const own = new Map<MessageId, TurnEvent[]>()
  for (const event of numberEvents(events, first)) {
    if (!isTurnEvent(event)) continue
    const list = own.get(event.turnId)
    if (list === undefined) own.set(event.turnId, [event])
    else list.push(event)
  }
  const turns = new Map<MessageId, Turn>()
  for (const [id, list] of own) {
    const [{ seq, at }] = list as [TurnEvent, ...TurnEvent[]]
    turns.set(id, foldTurn(known.get(id) ?? emptyTurn(id, seq, at), list))
  }
  return turns
}

function planBatches(
  turns: ReadonlyMap<MessageId, Turn>,
  events: readonly NewEvent[],
  first: Seq,
): readonly PlannedBatch[] {
  const encoder = createBatchEncoder()
  for (const [index, event] of events.entries()) {
    const seq = first + index
    if (isTurnEvent(event)) {
      if (!isEnded(turns.get(event.turnId))) encoder.add(event, event.turnId, seq)
      continue
    }
    switch (event.type) {
      // Its row of `messages` is its one home.
      case 'message-added':
        break
      case 'messages-retired':
      case 'messages-shown':
      case 'thread-renamed':
      case 'thread-flagged':
      case 'input-queued':
      case 'input-revised':
      case 'input-withdrawn':
      case 'queue-held':
      case 'queue-released':
      case 'thread-forked':
        encoder.add(event, null, seq)
        break
      default:
        assertNever(event)
    }
  }
  return encoder.batches().map((batch) => ({
    ...batch,
    turnSeq: batch.turnId === null ? null : (turns.get(batch.turnId)?.seq ?? null),
  }))
}

/**
 * A call has a row that is up to date whenever it waits for a person, has ended, or its turn does not
 * run: whenever anybody but its run may ask for it. Between the model and its result it is in the events
 * of its turn, and a row that it has from before (a retry, an approval) is brought up to date with its
 * end. So most calls are written once, with their result.
 */
const needsRow = (turn: Turn, call: Call): boolean =>
  turn.progress.status !== 'running' || !isInFlight(lifecycleOf(call))

/** Between the model and its result. */
export const isInFlight = (lifecycle: CallLifecycle): boolean =>
  lifecycle === 'streaming' || lifecycle === 'ready' || lifecycle === 'running'

function planCalls(
  known: ReadonlyMap<MessageId, Turn>,
  turns: ReadonlyMap<MessageId, Turn>,
  events: readonly NewEvent[],
): readonly PlannedCallRow[] {
  const named = new Set<MessageId>()
  for (const event of events) {
    if (isTurnEvent(event) && isCallEvent(event)) named.add(event.turnId)
  }
  const rows: PlannedCallRow[] = []
  for (const [id, turn] of turns) {
    const before = known.get(id)
    // Most commits add text: then nothing changes for calls, and none is looked at.
    if (!named.has(id) && statusOf(before) === statusOf(turn)) continue
    const callsBefore = new Map<CallId, Call>()
    for (const call of before === undefined ? [] : callsOf(before)) callsBefore.set(call.id, call)
    let order = turn.seq
    for (const call of callsOf(turn)) {
      order++
      const old = callsBefore.get(call.id)
      const had = before !== undefined && old !== undefined && needsRow(before, old)
      const needs = needsRow(turn, call)
      // The fold shares what it did not change, so another object is a changed call.
      if ((old !== call && (needs || had)) || (needs && !had)) rows.push(toRow(turn, call, order))
    }
  }
  return rows
}

function toRow(turn: Turn, call: Call, seq: Seq): PlannedCallRow {
  const isDone = call.state === 'succeeded'
  return {
    callId: call.id,
    turnId: turn.id,
    turnSeq: turn.seq,
    seq,
    name: call.name,
    lifecycle: lifecycleOf(call),
    input: call.input.kind === 'complete' ? JSON.stringify(call.input.value) : null,
    output: isDone ? outputText(call.output) : null,
    modelOutput: isDone && call.modelOutput !== undefined ? JSON.stringify(call.modelOutput) : null,
  }
}

function outputText(output: CallOutput): string {
  if (output.kind === 'omitted') {
    throw new HoldfastError('bad-event', 'A lazily read result cannot be stored again.')
  }
  return JSON.stringify(output.value)
}
