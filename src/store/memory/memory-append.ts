import { beginsTurn, isTurnEvent, numberEvents } from '../../core/event.ts'
import { toUserMessage } from '../../core/fold-thread.ts'
import type { MessageId } from '../../core/ids.ts'
import { parseQueue, toQueueText } from '../../core/queue.ts'
import { isHeld, judgeAppend, type LeaseClock, toAppended, useLease } from '../lease.ts'
import { markOf } from '../place-evidence.ts'
import type { PlannedCommit } from '../plan-commit.ts'
import type { AppendResult } from '../store.ts'
import { nextTitleGiver } from '../thread-row.ts'
import { findConflict, type StoredKeys } from '../thread-rows.ts'
import {
  type MemoryMessage,
  type MemoryThread,
  readMemoryCalls,
  readMemoryTurn,
} from './memory-thread.ts'

export interface AppendContext extends LeaseClock {
  readonly nextActivity: () => number
}

/** Checks everything before it writes anything, so a refused append leaves no trace. */
export function appendToMemory(
  stored: MemoryThread,
  commit: PlannedCommit,
  context: AppendContext,
): AppendResult {
  const { append, size, activityAt, title, queue, flags, forkedFrom } = commit
  const { now, nextActivity } = context
  const refusal =
    judgeAppend(stored.head, (head) => isHeld(head, context), append) ??
    findConflict(keysOf(stored), commit)
  if (refusal !== null) return refusal

  write(stored, commit)
  for (const { id, turnId } of commit.inputs) stored.inputs.set(id, turnId)
  if (size > 0) stored.mark = markOf(commit)
  const lease = useLease(stored.head, append.lease, now(), nextActivity)
  stored.head = { ...lease, seq: lease.seq + size }
  stored.thread = {
    ...stored.thread,
    ...(activityAt === null ? {} : { activity: nextActivity(), updatedAt: activityAt }),
    seq: stored.head.seq,
    title: title ?? stored.thread.title,
    titledBy: nextTitleGiver(stored.thread, commit),
    ...flags,
    // A copy through JSON, as a database returns it: shared with no caller.
    ...(queue === null ? {} : { queue: parseQueue(toQueueText(queue)) }),
    ...(forkedFrom === null ? {} : { forkedFrom }),
  }
  for (const [id, turn] of commit.turns) {
    if (turn.progress.status === 'ended') snapshotTurn(stored, id)
  }
  return toAppended(stored.head, size, append.lease)
}

function keysOf(stored: MemoryThread): StoredKeys {
  let calls: ReturnType<typeof readMemoryCalls> | undefined
  const turnOfCall: StoredKeys['turnOfCall'] = (id) => {
    calls ??= readMemoryCalls(stored)
    return calls.get(id)?.turnId
  }
  return { messages: stored.messages, turnOfCall }
}

function write(stored: MemoryThread, planned: PlannedCommit): void {
  const { append } = planned
  const mark = markOf(planned)
  const commit = stored.head.seq + append.events.length
  // A copy through JSON, as a database returns it: shared with no caller.
  const events = JSON.parse(JSON.stringify(append.events)) as typeof append.events
  for (const event of numberEvents(events, stored.head.seq + 1)) {
    const { seq } = event
    const row = planned.newMessages.find((message) => message.seq === seq)
    const { parentSeq = null, versions = null } = row ?? {}
    const columns = { seq, commit, mark, retiredSeq: null, parentSeq, versions }
    if (event.type === 'message-added') {
      const user = toUserMessage(event)
      stored.messages.push({ ...columns, id: user.id, user })
      continue
    }
    if (beginsTurn(event) && isTurnEvent(event)) {
      const { turnId: id, at: createdAt } = event
      stored.messages.push({ ...columns, id, snapshot: null, createdAt })
    }
    if (event.type === 'messages-retired' && event.from === undefined) {
      const gone = new Set(event.messageIds)
      for (const entry of stored.messages) if (gone.has(entry.id)) entry.retiredSeq ??= seq
    }
    if (event.type === 'messages-shown') {
      const shown = new Set(event.places)
      for (const entry of stored.messages) if (shown.has(entry.seq)) entry.retiredSeq = null
    }
    stored.events.push({ event, commit, mark })
  }
  const bySeq = new Map(
    planned.changedMessages.length === 0 ? [] : stored.messages.map((entry) => [entry.seq, entry]),
  )
  for (const { id, seq: at, retiredSeq, parentSeq, versions } of planned.changedMessages) {
    const isChanged = (entry: MemoryMessage) => entry.id === id && entry.retiredSeq === retiredSeq
    const entry = at === null ? stored.messages.find(isChanged) : bySeq.get(at)
    if (entry === undefined) continue
    if (retiredSeq !== null) entry.parentSeq = parentSeq
    entry.versions = versions ?? entry.versions
  }
}

function snapshotTurn(stored: MemoryThread, id: MessageId): void {
  const turn = readMemoryTurn(stored, id)
  const entry = stored.messages.find((message) => message.id === id)
  if (turn === null || entry === undefined || 'user' in entry) return
  entry.snapshot = { turn, commit: stored.head.seq, mark: stored.mark }
  stored.events = stored.events.filter(({ event }) => !(isTurnEvent(event) && event.turnId === id))
}
