import type { Seq } from '../../core/ids.ts'
import { type PausableWork, portionsOf } from '../../core/pausable-work.ts'
import { toQueueText } from '../../core/queue.ts'
import type { ThreadFlags } from '../../core/thread-flags.ts'
import {
  isHeld,
  judgeAppend,
  type LeaseClock,
  newThreadHead,
  type ThreadHead,
  toAppended,
  useLease,
} from '../lease.ts'
import { drawMark, markOf } from '../place-evidence.ts'
import type { ChangedMessageRow, PlannedCallRow, PlannedCommit } from '../plan-commit.ts'
import type { AppendResult } from '../store.ts'
import { releaseQueuedFiles, useFiles } from './file-records.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import type { ThreadKey } from './prepared-statement.ts'
import { toForkText, toTitleNote } from '../thread-row.ts'
import { toVersionsText } from '../version-path.ts'

export interface WriteContext extends LeaseClock {
  /** The next number of the whole store: see `readCounter`. */
  readonly nextCounter: () => number
}

/**
 * Compares one planned commit with the thread's row and writes it, inside the transaction of its group. Pauses between
 * its messages and calls.
 */
export function* writeCommit(
  statements: LedgerStatements,
  commit: PlannedCommit,
  context: WriteContext,
): PausableWork<AppendResult> {
  const { append, size } = commit
  const found = statements.readHead.get(append.threadId)
  const { create } = append
  const head = found ?? (create === undefined ? null : newThreadHead(create.ownerId, drawMark()))
  const refusal = judgeAppend(head, (lease) => isHeld(lease, context), append)
  if (refusal !== null || head === null) return refusal ?? { kind: 'no-thread' }
  const { thread, after } = writeThread(statements, commit, found, head, context)
  if (commit.forkedFrom !== null) statements.setFork.run(toForkText(commit.forkedFrom), thread)
  writeFlags(statements, commit.flags, thread)
  if (size > 0) yield* writeRows(statements, commit, thread, after.seq)
  return toAppended(after, size, append.lease)
}

/**
 * Writes the thread's row after the commit. It is one UPDATE, and the common case (a run adds events) sets as
 * few columns as possible: SQLite rewrites every index whose columns an UPDATE sets.
 */
function writeThread(
  statements: LedgerStatements,
  commit: PlannedCommit,
  found: (ThreadHead & { readonly thread: ThreadKey }) | undefined,
  head: ThreadHead,
  { now, nextCounter }: WriteContext,
): { readonly thread: ThreadKey; readonly after: ThreadHead } {
  const { append, size, activityAt, title, queue } = commit
  const { threadId: id, create, lease: use } = append
  const mark = size === 0 ? null : markOf(commit)
  const isRenewal = use?.kind === 'hold' && use.renewMs !== undefined
  const movesCounter = found === undefined || size > 0 || use?.kind === 'acquire'
  const counter = movesCounter || use?.kind === 'release' ? nextCounter() : 0
  const lease = useLease(head, use, now(), () => counter)
  const after = { ...lease, seq: head.seq + size }
  const { fence, holder, turnId, until, stopFence, seq } = after
  if (found === undefined) {
    const { ownerId = head.ownerId, title: firstTitle = '', at = 0 } = create ?? {}
    const { lastInsertRowid } = statements.insertThread.run({
      id,
      ownerId,
      title: title ?? firstTitle,
      at,
      updatedAt: activityAt ?? at,
      seq,
      counter,
      fence,
      holder,
      turnId,
      until,
      incarnation: head.incarnation,
      mark: mark ?? '',
      titleNote: toTitleNote(commit),
    })
    if (queue !== null) statements.setQueue.run(toQueueText(queue), Number(lastInsertRowid))
    return { thread: Number(lastInsertRowid), after }
  }
  const { thread } = found
  if (title !== null) statements.renameThread.run(title, toTitleNote(commit), thread)
  if (queue !== null) statements.setQueue.run(toQueueText(queue), thread)
  if (activityAt !== null || use?.kind === 'acquire' || use?.kind === 'release') {
    const activity = activityAt === null ? null : counter
    statements.changeThread.run({
      thread,
      seq,
      counter,
      activity,
      activityAt,
      fence,
      holder,
      turnId,
      until,
      stopFence,
      mark,
    })
    return { thread, after }
  }
  if (mark !== null) statements.advanceThread.run(seq, counter, mark, thread)
  if (isRenewal) statements.renewLease.run(until, thread)
  return { thread, after }
}

function writeFlags(
  statements: LedgerStatements,
  { pinned, archived }: ThreadFlags,
  thread: ThreadKey,
): void {
  if (pinned === undefined && archived === undefined) return
  const toNumber = (flag: boolean | undefined) => (flag === undefined ? null : Number(flag))
  statements.setFlags.run({ thread, pinned: toNumber(pinned), archived: toNumber(archived) })
}

function* writeRows(
  statements: LedgerStatements,
  commit: PlannedCommit,
  thread: ThreadKey,
  commitSeq: Seq,
): PausableWork<void> {
  const { newMessages, changedMessages, shownMessages, batches, calls, inputs } = commit
  const { files, queuedFiles, releasedFiles } = commit
  const mark = markOf(commit)
  // Before the new rows are inserted, which may have the same ids.
  for (const portion of portionsOf(changedMessages)) {
    for (const row of portion) changeMessage(statements, row, { thread, commitSeq, mark })
    yield
  }
  for (const portion of portionsOf(shownMessages)) {
    for (const seq of portion) statements.showMessage.run(thread, seq)
    yield
  }
  for (const row of newMessages) {
    const { seq, id, role, status, at, body, bodySeq, retiredSeq, parentSeq, versions } = row
    const isSnapshot = body === null ? 0 : 1
    yield
    statements.insertMessage.run(
      thread,
      seq,
      id,
      role,
      status,
      isSnapshot,
      bodySeq,
      commitSeq,
      at,
      body,
      retiredSeq,
      mark,
      parentSeq,
      toVersionsText(versions),
    )
  }
  yield* useFiles(statements, thread, files, queuedFiles)
  const at = commit.append.events.at(-1)?.at ?? 0
  releaseQueuedFiles(statements, thread, releasedFiles, at)
  for (const portion of portionsOf(inputs)) {
    for (const { id, turnId } of portion) statements.addInput.run(thread, id, turnId)
    yield
  }
  for (const { seq, size, turnSeq, at: batchAt, payload } of batches) {
    statements.insertBatch.run(thread, seq, size, commitSeq, turnSeq, batchAt, payload, mark)
  }
  yield* writeCalls(statements, thread, calls)
}

function changeMessage(
  statements: LedgerStatements,
  { id, seq, status, snapshot, retiredSeq, parentSeq, versions }: ChangedMessageRow,
  { thread, commitSeq, mark }: { thread: ThreadKey; commitSeq: Seq; mark: string },
): void {
  if (seq !== null && snapshot !== null) {
    statements.snapshotTurn.run(snapshot.body, snapshot.seq, commitSeq, mark, thread, seq)
    statements.deleteTurnBatches.run({ thread, turn: seq, last: snapshot.seq })
  } else if (seq !== null && status !== null) statements.setStatus.run(status, thread, seq)
  if (retiredSeq !== null && seq === null) {
    statements.retireMessage.run(retiredSeq, parentSeq, thread, id)
  } else if (retiredSeq !== null && seq !== null) {
    statements.retireMessageAt.run(retiredSeq, parentSeq, thread, seq, id)
  }
  if (seq !== null && versions !== null) {
    statements.setVersions.run(toVersionsText(versions), thread, seq)
  }
}

export function* writeCalls(
  { insertCall, upsertCall }: LedgerStatements,
  thread: ThreadKey,
  calls: readonly PlannedCallRow[],
): PausableWork<void> {
  for (const portion of portionsOf(calls)) {
    for (const row of portion) {
      const { callId, turnSeq, seq, name, lifecycle, input, output, modelOutput } = row
      const statement = row.isNew ? insertCall : upsertCall
      statement.run(thread, callId, turnSeq, seq, name, lifecycle, input, output, modelOutput)
    }
    yield
  }
}
