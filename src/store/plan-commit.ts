import { assertNever } from '../core/assert-never.ts'
import type { Call } from '../core/call.ts'
import {
  beginsTurn,
  isTurnEvent,
  type NewEvent,
  type LedgerEvent,
  type NumberedEvent,
  numberEvents,
  type TurnEvent,
} from '../core/event.ts'
import { emptyTurn, foldInSteps } from '../core/fold-turn.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { FileId } from '../core/file.ts'
import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import {
  type CallLifecycle,
  callTransition,
  isCallEvent,
  isOpenLifecycle,
  lifecycleOf,
  turnTransition,
} from '../core/lifecycle.ts'
import { callsOf, findCall, type Message, type Turn, type TurnStatus } from '../core/message.ts'
import { filesInEvent, filesInMessage } from '../core/named-files.ts'
import { findEventFault } from '../core/parse-event.ts'
import { type PausableWork, portionsOf, runToEnd } from '../core/pausable-work.ts'
import { foldQueueEvents, isAboutQueue, joinedInputs } from '../core/queue.ts'
import type { InputQueue } from '../core/queued-input.ts'
import { foldFlags, type ThreadFlags } from '../core/thread-flags.ts'
import type { ForkOrigin } from '../core/thread.ts'
import { createBatchEncoder, type EventBatch } from './event-batch.ts'
import type { LeaseUse } from './lease.ts'
import { type PlannedCallRow, planCalls } from './plan-calls.ts'
import {
  type ChangedMessageRow,
  isEnded,
  type NewMessageRow,
  type PlannedMessages,
  planMessages,
} from './plan-messages.ts'

export type { ChangedMessageRow, NewMessageRow, PlannedCallRow }

/** What a writer wants to add to a thread, and the state of the thread that the writer has read. */
export interface Append {
  readonly threadId: ThreadId
  /** May be empty, to acquire, renew or release a lease only. */
  readonly events: readonly NewEvent[]
  /** The thread's seq that the writer has read. Required with events. */
  readonly expectedSeq?: Seq
  /**
   * The incarnation of the thread that the writer has read (OP6): on a thread that was deleted and created again under its
   * id, even to the same seq, nothing is stored. Absent, undefined or empty: there was no thread, or it is not known, and it
   * is not compared.
   */
  readonly incarnation?: string | undefined
  /** The existing turns that the events belong to, as of `expectedSeq`. */
  readonly turns?: readonly Turn[]
  /**
   * The messages that the events withdraw, as of `expectedSeq`: they are removed from the versions of others (VR1).
   * @default none of them has versions
   */
  readonly withdrawn?: readonly Message[]
  /**
   * The waiting inputs as of `expectedSeq`. Required with events about the queue, and with a message that may be a waiting
   * input.
   * @default none
   */
  readonly queue?: InputQueue
  /**
   * The thread to create in the same transaction if it does not exist; it is not created if the append is
   * refused. An existing thread of another owner counts as `no-thread`.
   */
  readonly create?: ThreadToCreate
  readonly lease?: LeaseUse
  /** The rows of all calls of its turns are stored already, and its events have no values of them: see `WholePortion`. */
  readonly hasCalls?: true
}

/** The thread that an append creates. */
export interface ThreadToCreate {
  readonly ownerId: OwnerId
  readonly title: string
  /** The title is a placeholder that no person and no model set; a model's title may replace it (FK3). */
  readonly isPlaceholder?: true
  readonly at: number
}

/**
 * An append as rows. A store compares `expectedSeq` and the lease with the thread's row and writes these
 * rows, or nothing: it looks up nothing else and has no rules of its own about calls and turns.
 */
export interface PlannedCommit extends PlannedMessages {
  readonly append: Append
  readonly size: number
  readonly title: string | null
  /** Whether the new title comes from a model. */
  readonly isTitledByModel: boolean
  /** The flags to set; an absent one does not change (FK2). */
  readonly flags: ThreadFlags
  /** Null: unchanged. */
  readonly forkedFrom: ForkOrigin | null
  /** Set where the thread moves to the top of the list: a message was added, or a turn began or ended. */
  readonly activityAt: number | null
  /** The waiting inputs after this commit; null: unchanged. */
  readonly queue: InputQueue | null
  readonly batches: readonly PlannedBatch[]
  readonly calls: readonly PlannedCallRow[]
  /**
   * The files that its messages refer to: kept as long as the thread is, if they belong to its owner (FL2). The store
   * compares the owners in the statement that records the use, so that no writer can forget to.
   */
  readonly files: readonly FileId[]
  /** Those of `files` that only queued inputs of this commit refer to: they may be released again. */
  readonly queuedFiles: readonly FileId[]
  /**
   * Files that a queued input referred to until this commit, which withdrew or changed it. Released unless a message of the
   * thread, or another thread, refers to them; then kept as long as a new upload.
   */
  readonly releasedFiles: readonly FileId[]
  /** Inputs that never get a message of their own: they are found by their ids (IN6). */
  readonly inputs: readonly PlannedInput[]
  /** The turns that the events belong to, as of this commit. */
  readonly turns: ReadonlyMap<MessageId, Turn>
  /** The events of the append, with the seqs that they have once it is committed. */
  readonly numbered: readonly LedgerEvent[]
}

/** An input that joined a turn; with null, one that was withdrawn. */
export interface PlannedInput {
  readonly id: MessageId
  readonly turnId: MessageId | null
}

/** `turnSeq`: the seq of the turn that the events belong to. */
export interface PlannedBatch extends EventBatch {
  readonly turnSeq: Seq | null
}

/** An event that the state of its call, turn or message does not allow. */
export interface IllegalAppend {
  readonly kind: 'illegal'
  readonly subject: 'call' | 'turn' | 'message'
  readonly id: string
  readonly state: string
}

/**
 * The rows that one append writes, as a pure function of the events and of the turns before them. They are
 * right only for a thread at exactly `expectedSeq`, so nothing has to be looked up in the transaction, and
 * every store writes the same rows.
 */
export function planCommit(append: Append): PlannedCommit | IllegalAppend {
  return runToEnd(planInSteps(append))
}

/** The same with pauses, for an append that may have a turn of thousands of calls in it, or hide thousands of messages (OP7). */
export function* planInSteps(append: Append): PausableWork<PlannedCommit | IllegalAppend> {
  const { events, expectedSeq } = append
  if (events.length > 0 && expectedSeq === undefined) {
    throw new HoldfastError(
      'bad-event',
      'An append needs the expected seq: `expectedSeq` is missing.',
    )
  }
  for (const portion of portionsOf(events)) {
    for (const event of portion) {
      const fault = findEventFault(event)
      if (fault !== undefined) throw new HoldfastError('bad-event', fault)
    }
    yield
  }
  const known = new Map(append.turns?.map((turn) => [turn.id, turn]))
  const illegal = findIllegal(known, events)
  if (illegal !== undefined) return illegal
  yield
  const numbered: readonly NumberedEvent[] = numberEvents(events, (expectedSeq ?? 0) + 1)
  yield
  const turns = yield* foldTurns(known, numbered)
  const renamed = events.findLast((event) => event.type === 'thread-renamed')
  const queue = planQueue(append)
  yield
  const messages = yield* planMessages(known, turns, numbered, append.withdrawn)
  yield
  return {
    append,
    size: events.length,
    title: renamed?.title ?? null,
    isTitledByModel: renamed?.by === 'model',
    flags: events.reduce<ThreadFlags>(foldFlags, {}),
    forkedFrom: events.findLast((event) => event.type === 'thread-forked')?.from ?? null,
    activityAt: events.findLast((event) => movesThread.has(event.type))?.at ?? null,
    queue,
    ...messages,
    batches: planBatches(turns, numbered),
    calls: append.hasCalls === true ? [] : yield* planCalls(known, turns, events),
    ...(yield* planFiles(append, queue)),
    inputs: events.flatMap(settledInputs),
    turns,
    numbered,
  }
}

const movesThread: ReadonlySet<NewEvent['type']> = new Set([
  'message-added',
  'turn-started',
  'turn-ended',
  'thread-forked',
])

function settledInputs(event: NewEvent): readonly PlannedInput[] {
  switch (event.type) {
    case 'input-joined':
      return [{ id: event.messageId, turnId: event.turnId }]
    case 'input-withdrawn':
      return [{ id: event.messageId, turnId: null }]
    case 'turn-copied':
      return joinedInputs(event.turn).map((id) => ({ id, turnId: event.turnId }))
    default:
      return []
  }
}

const noFiles = { files: [], queuedFiles: [], releasedFiles: [] } as const

function* planFiles(
  { events, queue: before = [] }: Append,
  after: InputQueue | null,
): PausableWork<Pick<PlannedCommit, 'files' | 'queuedFiles' | 'releasedFiles'>> {
  const named = new Set<FileId>()
  const queued = new Set<FileId>()
  for (const portion of portionsOf(events)) {
    for (const event of portion) {
      const isQueued = event.type === 'input-queued' || event.type === 'input-revised'
      for (const id of filesInEvent(event)) (isQueued ? queued : named).add(id)
    }
    yield
  }
  const filesIn = (queue: InputQueue) => queue.flatMap(filesInMessage)
  const kept = new Set(after === null ? [] : filesIn(after))
  const left = new Set(after === null ? [] : filesIn(before))
  if (named.size + queued.size + left.size === 0) return noFiles
  return {
    files: [...new Set([...named, ...queued])],
    queuedFiles: [...queued].filter((id) => !named.has(id)),
    releasedFiles: [...left].filter((id) => !kept.has(id) && !named.has(id)),
  }
}

function planQueue({ queue, events }: Append): InputQueue | null {
  if (queue === undefined && events.some(isAboutQueue)) {
    throw new HoldfastError(
      'bad-event',
      'Events about the queue need the current queue: `queue` is missing.',
    )
  }
  const before = queue ?? []
  const after = foldQueueEvents(before, events)
  return after === before ? null : after
}

/** Checks the events against the transition tables of calls and turns (CL2). */
function findIllegal(
  known: ReadonlyMap<MessageId, Turn>,
  events: readonly NewEvent[],
): IllegalAppend | undefined {
  // `calls`: the calls that these events change, with their new state; the others are as in the turn.
  const states = new Map<MessageId, { status: TurnStatus | 'absent'; readonly calls: Calls }>()
  const added = new Set<MessageId>()
  const stateOf = (id: MessageId) => {
    let state = states.get(id)
    if (state === undefined) {
      state = { status: known.get(id)?.progress.status ?? 'absent', calls: new Map() }
      states.set(id, state)
    }
    return state
  }
  const callStateOf = (id: MessageId, callId: CallId): CallLifecycle | 'absent' => {
    const changed = stateOf(id).calls.get(callId)
    if (changed !== undefined) return changed
    const turn = known.get(id)
    const call = turn === undefined ? undefined : findCall(turn, callId)
    return call === undefined ? 'absent' : lifecycleOf(call)
  }
  const hasOpenCall = (id: MessageId): boolean => {
    const { calls } = stateOf(id)
    const turn = known.get(id)
    const isOpenStill = (call: Call) => !calls.has(call.id) && isOpenLifecycle(lifecycleOf(call))
    return (
      [...calls.values()].some(isOpenLifecycle) ||
      (turn !== undefined && callsOf(turn).some(isOpenStill))
    )
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
      const lifecycle = callStateOf(id, event.callId)
      const { from, to } = callTransition(event, lifecycle as CallLifecycle)
      if (!from.includes(lifecycle)) {
        return { kind: 'illegal', subject: 'call', id: event.callId, state: lifecycle }
      }
      state.calls.set(event.callId, to)
    }
    const { from, to } = turnTransition(event)
    if (!from.includes(state.status)) {
      return { kind: 'illegal', subject: 'turn', id, state: state.status }
    }
    if (beginsTurn(event)) {
      const illegal = add(id)
      if (illegal !== undefined) return illegal
    }
    // A call that is open after the end of its turn would be shown as running for ever.
    if (event.type === 'turn-ended' && hasOpenCall(id)) {
      return { kind: 'illegal', subject: 'turn', id, state: 'open-calls' }
    }
    state.status = to ?? state.status
  }
  return undefined
}

type Calls = Map<CallId, CallLifecycle>

function* foldTurns(
  known: ReadonlyMap<MessageId, Turn>,
  events: readonly NumberedEvent[],
): PausableWork<ReadonlyMap<MessageId, Turn>> {
  const own = new Map<MessageId, TurnEvent[]>()
  for (const event of events) {
    if (!isTurnEvent(event)) continue
    const list = own.get(event.turnId)
    if (list === undefined) own.set(event.turnId, [event])
    else list.push(event)
  }
  const turns = new Map<MessageId, Turn>()
  for (const [id, list] of own) {
    const [{ seq, at }] = list as [TurnEvent, ...TurnEvent[]]
    turns.set(id, yield* foldInSteps(known.get(id) ?? emptyTurn(id, seq, at), list))
  }
  return turns
}

function planBatches(
  turns: ReadonlyMap<MessageId, Turn>,
  events: readonly NumberedEvent[],
): readonly PlannedBatch[] {
  const encoder = createBatchEncoder()
  for (const event of events) {
    const { seq } = event
    if (isTurnEvent(event)) {
      if (!isEnded(turns.get(event.turnId))) encoder.add(event, event.turnId, seq)
      continue
    }
    switch (event.type) {
      // Stored in its row of `messages` only.
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
