import type { Seq, ThreadId } from '../../core/ids.ts'
import type { PausableWork } from '../../core/pausable-work.ts'
import { toQueueText } from '../../core/queue.ts'
import type { LeaseUse } from '../lease.ts'
import { markOf } from '../place-evidence.ts'
import type { PlannedCallRow, PlannedCommit } from '../plan-commit.ts'
import { toForkText, toTitleNote } from '../thread-row.ts'
import { toVersionsText } from '../version-path.ts'
import { toPlainText } from './statement.ts'

/** Which of the prepared statements writes a group of commits. */
export type CommitKind = keyof typeof partsOfKind

/**
 * What a statement can write besides the thread's seq and lease time. `thread`: any other column of a thread; `made`: new
 * threads; `batches`: events.
 */
export type CommitPart =
  | 'batches'
  | 'thread'
  | 'made'
  | 'calls'
  | 'changedMessages'
  | 'newMessages'
  | 'shownMessages'
  | 'files'
  | 'inputs'

/**
 * Each kind has a statement of its own, because every table and every array parameter costs the server time before the
 * first row. The first five are what runs do all the time: a lease is renewed, text arrives, calls end, a turn begins, a
 * turn pauses, resumes or ends. A renewal needs the threads alone: were another table locked for longer than a lease, the
 * run would be taken from a living process (CR2).
 */
const partsOfKind = {
  renewal: [],
  events: ['batches'],
  calls: ['batches', 'calls'],
  begin: ['batches', 'thread', 'made', 'newMessages'],
  change: ['batches', 'thread', 'calls', 'changedMessages'],
  all: [
    'batches',
    'thread',
    'made',
    'calls',
    'changedMessages',
    'newMessages',
    'shownMessages',
    'files',
    'inputs',
  ],
} satisfies Readonly<Record<string, readonly CommitPart[]>>

export const commitKinds = Object.keys(partsOfKind) as readonly CommitKind[]

/** Whether statements of a kind write a part. */
export const hasPart = (kind: CommitKind, part: CommitPart): boolean =>
  (partsOfKind[kind] as readonly CommitPart[]).includes(part)

/**
 * A group of one has its thread as parameters and not as lists of one, which the server begins sooner: most groups are of one
 * until a process has many threads at work.
 */
export const groupSizes = ['one', 'many'] as const
export type GroupSize = (typeof groupSizes)[number]

export const groupSizeOf = (commits: readonly PlannedCommit[]): GroupSize =>
  commits.length === 1 ? 'one' : 'many'

/** The first kind whose statement writes everything that these commits write. */
export function kindOf(commits: readonly PlannedCommit[]): CommitKind {
  const needed = new Set(commits.flatMap(partsOf))
  const covers = (kind: CommitKind) => [...needed].every((part) => hasPart(kind, part))
  return commitKinds.find(covers) ?? 'all'
}

function partsOf(commit: PlannedCommit): readonly CommitPart[] {
  const { append, calls, newMessages, changedMessages, shownMessages, inputs } = commit
  const { files, releasedFiles } = commit
  const parts: CommitPart[] = []
  // Any other commit without events asks whether events can be written: `/api/ready` does.
  if (commit.size > 0 || append.lease?.kind !== 'hold') parts.push('batches')
  if (changesThread(commit)) parts.push('thread')
  if (append.create !== undefined) parts.push('made')
  if (calls.length > 0) parts.push('calls')
  if (changedMessages.length > 0) parts.push('changedMessages')
  if (newMessages.length > 0) parts.push('newMessages')
  if (shownMessages.length > 0) parts.push('shownMessages')
  if (files.length + releasedFiles.length > 0) parts.push('files')
  if (inputs.length > 0) parts.push('inputs')
  return parts
}

/** Whether a commit sets more of its thread than its seq, its mark and the end of its lease. */
function changesThread({ append, title, activityAt, queue, forkedFrom, flags }: PlannedCommit) {
  return (
    append.create !== undefined ||
    append.lease?.kind === 'acquire' ||
    append.lease?.kind === 'release' ||
    title !== null ||
    activityAt !== null ||
    queue !== null ||
    forkedFrom !== null ||
    Object.keys(flags).length > 0
  )
}

/** A column of the parameters of a commit: one array for each. */
export interface Column {
  readonly name: string
  readonly type: string
}
const columns = (list: string): readonly Column[] =>
  list.split(',').map((each) => {
    const [name = '', type = ''] = each.trim().split(' ')
    return { name, type }
  })

export const headColumns = columns(
  'id text, expected bigint, planned_on text, size bigint, mark text, fence bigint, ms bigint',
)
export const threadColumns =
  columns(`latest bigint, lease text, holder text, turn text, title text, activity_at bigint,
  queue text, owner text, first_title text, made_at bigint, forked_from text, title_note text,
  pinned boolean, archived boolean`)
export const batchColumns = columns(
  'thread text, seq bigint, size integer, message_id text, at bigint, payload text',
)
export const callColumns =
  columns(`thread text, call_id text, message_id text, seq bigint, name text,
  life text, input text, output text, model_output text`)
export const changedColumns =
  columns(`thread text, message_id text, seq bigint, status text, body text,
  body_seq bigint, commit_seq bigint, retired_seq bigint, parent_seq bigint, versions text`)
export const shownColumns = columns('thread text, seq bigint, versions text')
export const newColumns = columns(`thread text, seq bigint, message_id text, role text, status text,
  body text, body_seq bigint, commit_seq bigint, created_at bigint, retired_seq bigint, parent_seq bigint,
  versions text`)
export const fileColumns = columns('thread text, file_id text, queued boolean')
export const releasedColumns = columns('thread text, file_id text, at bigint')
export const inputColumns = columns('thread text, message_id text, turn_id text')

/**
 * The parameters of `commitStatement` for a group of this size, an array for each column. Pauses between them: a commit may
 * have 40,000 rows.
 * @param latest see `SteadyClock`
 */
export function* commitValues(
  commits: readonly PlannedCommit[],
  kind: CommitKind,
  latest: number | null,
): PausableWork<readonly unknown[]> {
  const heads = commits.map((commit) => [
    ...headValues(commit),
    ...(hasPart(kind, 'thread') ? [latest, ...threadValues(commit)] : []),
  ])
  const end = ({ append, size }: PlannedCommit) => (append.expectedSeq ?? 0) + size
  const headCount = headColumns.length + (hasPart(kind, 'thread') ? threadColumns.length : 0)
  const values = groupSizeOf(commits) === 'one' ? [...(heads[0] ?? [])] : toArrays(heads, headCount)
  const add = function* (part: CommitPart, width: number, toRows: (commit: PlannedCommit) => Rows) {
    if (!hasPart(kind, part)) return
    const rows = commits.flatMap(toRows)
    for (let column = 0; column < width; column++) {
      yield
      values.push(toColumn(rows, column))
    }
  }
  // In the order of the statement's parts.
  yield* add('batches', batchColumns.length, ({ append, batches }) =>
    batches.map(({ seq, size, turnId, at, payload }) => [
      append.threadId,
      seq,
      size,
      turnId,
      at,
      payload,
    ]),
  )
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
export function leaseMsOf(use: LeaseUse | undefined): number | null {
  const ms = use?.kind === 'acquire' ? use.ttlMs : use?.kind === 'hold' ? use.renewMs : undefined
  return ms === undefined ? null : Math.ceil(ms)
}

const createValues = (create: PlannedCommit['append']['create']): readonly unknown[] =>
  create === undefined ? [null, null, null] : [create.ownerId, toPlainText(create.title), create.at]
