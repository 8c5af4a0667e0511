import type { Seq, ThreadId } from '../../core/ids.ts'
import type { PausableWork } from '../../core/pausable-work.ts'
import { toQueueText } from '../../core/queue.ts'
import type { LeaseUse } from '../lease.ts'
import { markOf } from '../place-evidence.ts'
import type { PlannedCallRow, PlannedCommit } from '../plan-commit.ts'
import { toForkText, toTitleNote } from '../thread-row.ts'
import { toVersionsText } from '../version-path.ts'
import {
  batchColumns,
  callColumns,
  changedColumns,
  fileColumns,
  headColumns,
  inputColumns,
  newColumns,
  releasedColumns,
  shownColumns,
  threadColumns,
} from './commit-columns.ts'
import { type CommitKind, type CommitPart, hasPart } from './commit-statement.ts'
import { toPlainText } from './statement.ts'

/** The parameters of `commitStatement`, an array for each column. Pauses between them: a commit may have 40,000 rows. */
export function* commitValues(
  commits: readonly PlannedCommit[],
  kind: CommitKind,
): PausableWork<readonly unknown[]> {
  const heads = commits.map((commit) => [
    ...headValues(commit),
    ...(hasPart(kind, 'thread') ? threadValues(commit) : []),
  ])
  const end = ({ append, size }: PlannedCommit) => (append.expectedSeq ?? 0) + size
  const batches = commits.flatMap((commit) =>
    commit.batches.map(({ seq, size, turnId, at, payload }) => [
      commit.append.threadId,
      seq,
      size,
      turnId,
      at,
      payload,
    ]),
  )
  const headCount = headColumns.length + (hasPart(kind, 'thread') ? threadColumns.length : 0)
  const values = [...toArrays(heads, headCount), ...toArrays(batches, batchColumns.length)]
  const add = function* (part: CommitPart, width: number, toRows: (commit: PlannedCommit) => Rows) {
    if (!hasPart(kind, part)) return
    const rows = commits.flatMap(toRows)
    for (let column = 0; column < width; column++) {
      yield
      values.push(toColumn(rows, column))
    }
  }
  // In the order of the statement's parts.
  yield* add('calls', callColumns.length, ({ append, calls }) =>
    calls.map((row) => callValues(append.threadId, row)),
  )
  yield* add('changedMessages', changedColumns.length, (commit) =>
    changedOnly(commit).map((row) => [
      commit.append.threadId,
      row.id,
      row.seq,
      row.status,
      row.snapshot?.body ?? null,
      row.snapshot?.seq ?? null,
      end(commit),
      row.retiredSeq,
      row.parentSeq,
      toVersionsText(row.versions),
    ]),
  )
  yield* add('shownMessages', shownColumns.length, (commit) => {
    const versions = new Map(commit.changedMessages.map((row) => [row.seq, row.versions]))
    return commit.shownMessages.map((seq) => [
      commit.append.threadId,
      seq,
      toVersionsText(versions.get(seq) ?? null),
    ])
  })
  yield* add('newMessages', newColumns.length, (commit) =>
    commit.newMessages.map((row) => [
      commit.append.threadId,
      row.seq,
      row.id,
      row.role,
      row.status,
      row.body,
      row.bodySeq,
      end(commit),
      row.at,
      row.retiredSeq,
      row.parentSeq,
      toVersionsText(row.versions),
    ]),
  )
  yield* add('files', fileColumns.length, ({ append, files, queuedFiles }) =>
    files.map((id) => [append.threadId, id, queuedFiles.includes(id)]),
  )
  yield* add('files', releasedColumns.length, ({ append, releasedFiles }) =>
    releasedFiles.map((id) => [append.threadId, id, append.events.at(-1)?.at ?? 0]),
  )
  yield* add('inputs', inputColumns.length, ({ append, inputs }) =>
    inputs.map(({ id, turnId }) => [append.threadId, id, turnId]),
  )
  return values
}

/** A statement writes a row once: one that is shown again gets its versions where it is shown. */
function changedOnly({ changedMessages, shownMessages }: PlannedCommit) {
  const shown = new Set<Seq | null>(shownMessages)
  return changedMessages.filter(({ seq }) => !shown.has(seq))
}

/** A row of `calls`, in the order of `callColumns`. */
export const callValues = (threadId: ThreadId, row: PlannedCallRow): readonly unknown[] => {
  const { callId, turnId, seq, name, lifecycle, input, output, modelOutput } = row
  const values = [callId, turnId, seq, toPlainText(name), lifecycle, input, output, modelOutput]
  return [threadId, ...values]
}

type Rows = readonly (readonly unknown[])[]

const headValues = (commit: PlannedCommit): readonly unknown[] => {
  const { threadId, expectedSeq = null, incarnation = '', lease } = commit.append
  const claim = [expectedSeq, incarnation === '' ? null : incarnation]
  return [threadId, ...claim, commit.size, markOf(commit), fenceOf(lease), leaseMsOf(lease)]
}

const threadValues = (commit: PlannedCommit): readonly unknown[] => {
  const { append, title, activityAt, queue, forkedFrom } = commit
  const { create, lease } = append
  const { pinned = null, archived = null } = commit.flags
  const note = toTitleNote(withPlainTitles(commit))
  return [
    lease?.kind ?? null,
    ...(lease?.kind === 'acquire' ? [toPlainText(lease.holder), lease.turnId] : [null, null]),
    title === null ? null : toPlainText(title),
    activityAt,
    queue === null ? null : toQueueText(queue),
    ...createValues(create),
    toForkText(forkedFrom),
    note,
    pinned,
    archived,
  ]
}

/** Titles as they are stored: a note counts only if its title equals the stored one. */
const withPlainTitles = (commit: PlannedCommit): Parameters<typeof toTitleNote>[0] => {
  const { title, append, isTitledByModel } = commit
  const { create } = append
  return {
    isTitledByModel,
    title: title === null ? null : toPlainText(title),
    append:
      create === undefined
        ? append
        : { ...append, create: { ...create, title: toPlainText(create.title) } },
  }
}

/** Rows as one array for each column. */
export const toArrays = (rows: Rows, width: number): unknown[][] =>
  Array.from({ length: width }, (_, column) => toColumn(rows, column))

const toColumn = (rows: Rows, column: number): unknown[] => rows.map((row) => row[column])

/** The fence that the thread must have, or with `acquire` may have. */
const fenceOf = (use: LeaseUse | undefined): number | null =>
  (use?.kind === 'acquire' ? use.overFence : use?.fence) ?? null

/** How long the lease lasts from now. Null: unchanged. */
function leaseMsOf(use: LeaseUse | undefined): number | null {
  const ms = use?.kind === 'acquire' ? use.ttlMs : use?.kind === 'hold' ? use.renewMs : undefined
  return ms === undefined ? null : Math.ceil(ms)
}

const createValues = (create: PlannedCommit['append']['create']): readonly unknown[] =>
  create === undefined ? [null, null, null] : [create.ownerId, toPlainText(create.title), create.at]
