import { toQueueText } from '../../core/queue.ts'
import type { LeaseUse } from '../lease.ts'
import { markOf } from '../place-evidence.ts'
import type { PlannedCommit } from '../plan-commit.ts'
import { toForkText, toTitleNote } from '../thread-row.ts'
import { toVersionsText } from '../version-path.ts'
import { type Statement, toPlainText } from './statement.ts'

/**
 * A group of commits as one statement, for one or for two hundred, at most one of each thread. The
 * thread's row is compared and moved on first (`moved`, or `made` where the thread is new); every other
 * row is written only if its thread's was, so a refusal needs no rollback.
 *
 * A row that somebody else has locked is skipped, not waited for (`head`): one thread that is held must
 * not hold the others of its group. Whoever wanted it is told `busy`.
 */
export type CommitTables = 'events' | 'calls' | 'all'

/** Which tables a group writes: the statement of each is prepared by itself, as a multi-table one costs more to start. */
export function tablesOf(commits: readonly PlannedCommit[]): CommitTables {
  const isMultiTable = commits.some(
    ({ append, newMessages, changedMessages, shownMessages, files, forkedFrom, title, flags }) =>
      append.create !== undefined ||
      forkedFrom !== null ||
      title !== null ||
      Object.keys(flags).length > 0 ||
      newMessages.length + changedMessages.length + shownMessages.length + files.length > 0,
  )
  if (isMultiTable) return 'all'
  return commits.some(({ calls }) => calls.length > 0) ? 'calls' : 'events'
}

/** What the statement says of one commit. `headSeq` is null where there is no such thread, or it is locked. */
export interface CommitRow {
  readonly nth: number
  readonly seq: number | null
  readonly fence: number | null
  readonly isStopping: boolean | null
  readonly incarnation: string | null
  readonly exists: boolean
  readonly headSeq: number | null
  readonly headOwner: string | null
  readonly headFence: number | null
  readonly headHolder: string | null
  readonly headTurn: string | null
  readonly isHeld: boolean | null
}

interface Column {
  readonly name: string
  readonly type: string
}
const columns = (list: string): readonly Column[] =>
  list.split(',').map((each) => {
    const [name = '', type = ''] = each.trim().split(' ')
    return { name, type }
  })

const headColumns = columns(`id text, expected bigint, size bigint, title text, activity_at bigint,
  mark text, queue text, lease text, fence bigint, holder text, turn text, ms bigint`)
const createColumns = columns(`owner text, first_title text, made_at bigint, forked_from text,
  title_note text, pinned boolean, archived boolean`)
const batchColumns = columns(`thread text, seq bigint, size integer, commit_seq bigint,
  message_id text, at bigint, payload text`)
const callColumns = columns(`thread text, call_id text, message_id text, seq bigint, name text,
  life text, input text, output text, model_output text`)
const changedColumns = columns(`thread text, message_id text, seq bigint, status text, body text,
  body_seq bigint, commit_seq bigint, retired_seq bigint, parent_seq bigint, versions text`)
const shownColumns = columns('thread text, seq bigint')
const newColumns = columns(`thread text, seq bigint, message_id text, role text, status text,
  body text, body_seq bigint, commit_seq bigint, created_at bigint, retired_seq bigint, parent_seq bigint,
  versions text`)
const fileColumns = columns('thread text, file_id text')

/** `schema` is quoted. */
export function commitStatement(schema: string, tables: CommitTables): Statement {
  let parameters = 0
  const rows = (name: string, list: readonly Column[]): string => {
    const arrays = list.map(({ type }) => `$${(parameters += 1)}::${type}[]`)
    return `unnest(${arrays.join(', ')}) AS ${name}(${list.map((column) => column.name).join(', ')})`
  }
  const isMultiTable = tables === 'all'
  const until = `clock_timestamp() + i.ms * interval '1 millisecond'`
  const input = `unnest(${[...headColumns, ...(isMultiTable ? createColumns : [])]
    .map(({ type }) => `$${(parameters += 1)}::${type}[]`)
    .join(', ')}) WITH ORDINALITY AS i(${[...headColumns, ...(isMultiTable ? createColumns : [])]
    .map(({ name }) => name)
    .join(', ')}, nth)`
  const parts = [
    `input AS MATERIALIZED (SELECT * FROM ${input})`,
    `head AS MATERIALIZED (
       SELECT id, owner_id, seq, fence, lease_holder, lease_turn,
         coalesce(lease_until > clock_timestamp(), false) AS is_held
       FROM ${schema}.threads WHERE id = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED)`,
    // The conditions are those of \`judgeAppend\`, which names the reason where they do not hold.
    `moved AS (
       UPDATE ${schema}.threads AS t SET
         seq = t.seq + i.size,
         mark = CASE WHEN i.size > 0 THEN i.mark ELSE t.mark END,
         title = coalesce(i.title, t.title),
         queue = coalesce(i.queue, t.queue),
         ${
           isMultiTable
             ? `forked_from = coalesce(i.forked_from, t.forked_from),
         title_note = CASE WHEN i.title IS NULL THEN t.title_note ELSE i.title_note END,
         pinned = coalesce(i.pinned, t.pinned), archived = coalesce(i.archived, t.archived),`
             : ''
         }
         updated_at = coalesce(i.activity_at, t.updated_at),
         activity = CASE WHEN i.activity_at IS NULL THEN t.activity
           ELSE nextval('${schema}.activity') END,
         fence = CASE i.lease WHEN 'acquire'
           THEN greatest(t.fence + 1, nextval('${schema}.activity')) ELSE t.fence END,
         stop_fence = CASE i.lease WHEN 'acquire' THEN NULL ELSE t.stop_fence END,
         lease_holder = CASE i.lease WHEN 'acquire' THEN i.holder WHEN 'release' THEN NULL
           ELSE t.lease_holder END,
         lease_turn = CASE i.lease WHEN 'acquire' THEN i.turn WHEN 'release' THEN NULL
           ELSE t.lease_turn END,
         lease_until = CASE WHEN i.ms IS NOT NULL THEN ${until}
           WHEN i.lease = 'release' THEN NULL ELSE t.lease_until END
       FROM input AS i JOIN head AS h ON h.id = i.id
       WHERE t.id = i.id AND (i.expected IS NULL OR i.expected = h.seq)
         ${isMultiTable ? 'AND (i.owner IS NULL OR i.owner = h.owner_id)' : ''}
         AND CASE i.lease
           WHEN 'acquire' THEN h.lease_holder IS NULL OR NOT h.is_held OR h.fence = i.fence
           ELSE i.lease IS NULL OR (h.lease_holder IS NOT NULL AND h.fence = i.fence) END
       RETURNING t.id, t.seq, t.fence, t.incarnation, t.mark,
         t.lease_holder IS NOT NULL AND t.stop_fence IS NOT DISTINCT FROM t.fence AS is_stopping)`,
    ...(isMultiTable
      ? [
          `made AS (
             INSERT INTO ${schema}.threads (id, owner_id, title, created_at, updated_at, seq, mark, queue,
               forked_from, title_note, pinned, archived,
               fence, lease_holder, lease_turn, lease_until)
             SELECT i.id, i.owner, coalesce(i.title, i.first_title), i.made_at,
               coalesce(i.activity_at, i.made_at), i.size,
               CASE WHEN i.size > 0 THEN i.mark ELSE '' END, coalesce(i.queue, '[]'),
               i.forked_from, i.title_note, coalesce(i.pinned, false), coalesce(i.archived, false),
               CASE i.lease WHEN 'acquire' THEN nextval('${schema}.activity') ELSE 0 END,
               CASE i.lease WHEN 'acquire' THEN i.holder END,
               CASE i.lease WHEN 'acquire' THEN i.turn END,
               CASE i.lease WHEN 'acquire' THEN ${until} END
             FROM input AS i
             WHERE i.owner IS NOT NULL AND coalesce(i.expected, 0) = 0
               AND coalesce(i.lease, 'acquire') = 'acquire'
               AND (SELECT true FROM ${schema}.threads AS x WHERE x.id = i.id) IS NULL
             ORDER BY i.id
             ON CONFLICT (id) DO NOTHING
             RETURNING id, seq, fence, incarnation, mark, false AS is_stopping)`,
          'written AS (SELECT * FROM moved UNION ALL SELECT * FROM made)',
        ]
      : ['written AS (SELECT * FROM moved)']),
    `batches AS (
       INSERT INTO ${schema}.events (thread_id, seq, size, commit_seq, message_id, at, payload,
         mark)
       SELECT b.*, w.mark FROM ${rows('b', batchColumns)} JOIN written AS w ON w.id = b.thread)`,
    ...(tables === 'events'
      ? []
      : [
          // A call of another turn is not overwritten: its key has no NULL.
          `calls AS (
             INSERT INTO ${schema}.calls AS c
               (thread_id, call_id, message_id, seq, name, life, input, output, model_output)
             SELECT n.* FROM ${rows('n', callColumns)} JOIN written AS w ON w.id = n.thread
             ON CONFLICT (thread_id, call_id) DO UPDATE SET
               message_id = CASE WHEN c.message_id = excluded.message_id THEN c.message_id END,
               name = excluded.name, life = excluded.life, input = excluded.input,
               output = excluded.output, model_output = excluded.model_output)`,
        ]),
    ...(isMultiTable
      ? [
          `changing AS MATERIALIZED (
             SELECT m.thread_id, m.seq AS place, w.mark, n.* FROM ${rows('n', changedColumns)}
             JOIN written AS w ON w.id = n.thread
             CROSS JOIN LATERAL (
               SELECT thread_id, seq FROM ${schema}.messages
               WHERE thread_id = n.thread AND message_id = n.message_id
                 AND CASE WHEN n.seq IS NULL THEN retired_seq IS NULL ELSE seq = n.seq END
               LIMIT 1) AS m)`,
          `changed AS (
             UPDATE ${schema}.messages AS m SET
               status = coalesce(n.status, m.status),
               body = coalesce(n.body, m.body),
               body_seq = coalesce(n.body_seq, m.body_seq),
               commit_seq = CASE WHEN n.body IS NULL THEN m.commit_seq ELSE n.commit_seq END,
               mark = CASE WHEN n.body IS NULL THEN m.mark ELSE n.mark END,
               is_sealed = CASE WHEN n.status IS NULL THEN m.is_sealed ELSE n.body IS NOT NULL END,
               retired_seq = coalesce(n.retired_seq, m.retired_seq),
               parent_seq = CASE WHEN n.retired_seq IS NULL THEN m.parent_seq ELSE n.parent_seq END,
               versions = coalesce(n.versions, m.versions)
             FROM changing AS n WHERE m.thread_id = n.thread_id AND m.seq = n.place
             RETURNING m.seq)`,
          `emptied AS (
             DELETE FROM ${schema}.events AS e USING changing AS n
             WHERE n.body IS NOT NULL AND e.thread_id = n.thread_id
               AND e.seq BETWEEN n.place AND n.body_seq AND e.message_id = n.message_id)`,
          // After the others have been retired, which may have the same ids.
          `shown AS (
             UPDATE ${schema}.messages AS m SET retired_seq = NULL
             FROM ${rows('s', shownColumns)} JOIN written AS w ON w.id = s.thread
             WHERE m.thread_id = s.thread AND m.seq = s.seq
               AND (SELECT count(*) FROM changed) >= 0
             RETURNING m.seq)`,
          `added AS (
             INSERT INTO ${schema}.messages (thread_id, seq, message_id, role, status, body, body_seq,
               commit_seq, created_at, retired_seq, parent_seq, versions, is_sealed, mark)
             SELECT n.*, n.body IS NOT NULL, w.mark FROM ${rows('n', newColumns)}
             JOIN written AS w ON w.id = n.thread
             WHERE (SELECT count(*) FROM changed) + (SELECT count(*) FROM shown) >= 0)`,
          `naming AS MATERIALIZED (
             SELECT n.* FROM ${rows('n', fileColumns)} JOIN written AS w ON w.id = n.thread)`,
          `used AS (
             INSERT INTO ${schema}.file_uses (thread_id, file_id) SELECT thread, file_id FROM naming
             ON CONFLICT DO NOTHING)`,
          `kept AS (
             UPDATE ${schema}.files AS f SET is_used = true, reserved_at = 0 FROM naming AS n
             WHERE f.id = n.file_id AND (NOT f.is_used OR f.reserved_at > 0))`,
        ]
      : []),
  ]
  // A scalar subquery: PostgreSQL may answer an EXISTS in this place by hashing the whole table.
  const text = `WITH ${parts.join(', ')}
    SELECT i.nth::integer, w.seq, w.fence, w.is_stopping AS "isStopping", w.incarnation,
      (SELECT true FROM ${schema}.threads AS x WHERE x.id = i.id) IS NOT NULL AS "exists",
      h.seq AS "headSeq", h.owner_id AS "headOwner", h.fence AS "headFence",
      h.lease_holder AS "headHolder", h.lease_turn AS "headTurn", h.is_held AS "isHeld"
    FROM input AS i LEFT JOIN written AS w ON w.id = i.id LEFT JOIN head AS h ON h.id = i.id`
  return { name: `holdfast-commit-${tables}`, text: text.replaceAll(/\s+/g, ' ') }
}

/** The parameters of `commitStatement`, an array for each column. */
export function commitValues(
  commits: readonly PlannedCommit[],
  tables: CommitTables,
): readonly unknown[] {
  const heads = commits.map((commit) => headValues(commit, tables))
  const end = ({ append, size }: PlannedCommit) => (append.expectedSeq ?? 0) + size
  const batches = commits.flatMap((commit) =>
    commit.batches.map(({ seq, size, turnId, at, payload }) => [
      commit.append.threadId,
      seq,
      size,
      end(commit),
      turnId,
      at,
      payload,
    ]),
  )
  const headCount = headColumns.length + (tables === 'all' ? createColumns.length : 0)
  const values = [...toArrays(heads, headCount), ...toArrays(batches, batchColumns.length)]
  if (tables === 'events') return values
  const calls = commits.flatMap(({ append, calls: rows }) =>
    rows.map(({ callId, turnId, seq, name, lifecycle, input, output, modelOutput }) => [
      append.threadId,
      callId,
      turnId,
      seq,
      toPlainText(name),
      lifecycle,
      input,
      output,
      modelOutput,
    ]),
  )
  values.push(...toArrays(calls, callColumns.length))
  if (tables === 'calls') return values
  const changed = commits.flatMap((commit) =>
    commit.changedMessages.map((row) => [
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
  const shown = commits.flatMap(({ append, shownMessages }) =>
    shownMessages.map((seq) => [append.threadId, seq]),
  )
  const added = commits.flatMap((commit) =>
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
  const files = commits.flatMap(({ append, files: ids }) => ids.map((id) => [append.threadId, id]))
  values.push(
    ...toArrays(changed, changedColumns.length),
    ...toArrays(shown, shownColumns.length),
    ...toArrays(added, newColumns.length),
    ...toArrays(files, fileColumns.length),
  )
  return values
}

const headValues = (commit: PlannedCommit, tables: CommitTables): readonly unknown[] => {
  const { append, size, title, activityAt, queue } = commit
  return [
    append.threadId,
    append.expectedSeq ?? null,
    size,
    title === null ? null : toPlainText(title),
    activityAt,
    markOf(commit),
    queue === null ? null : toQueueText(queue),
    ...leaseValues(append.lease),
    ...(tables === 'all' ? threadValues(commit) : []),
  ]
}

const threadValues = (commit: PlannedCommit): readonly unknown[] => {
  const { create } = commit.append
  const { pinned = null, archived = null } = commit.flags
  const note = toTitleNote(withPlainTitles(commit))
  return [...createValues(create), toForkText(commit.forkedFrom), note, pinned, archived]
}

/** As they are stored: a note counts only for the title that it names. */
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
const toArrays = (rows: readonly (readonly unknown[])[], width: number): unknown[][] =>
  Array.from({ length: width }, (_, column) => rows.map((row) => row[column]))

function leaseValues(use: LeaseUse | undefined): readonly unknown[] {
  switch (use?.kind) {
    case undefined:
      return [null, null, null, null, null]
    case 'acquire': {
      const { overFence = null, holder, turnId, ttlMs } = use
      return ['acquire', overFence, toPlainText(holder), turnId, Math.ceil(ttlMs)]
    }
    case 'hold': {
      const { fence, renewMs } = use
      return ['hold', fence, null, null, renewMs === undefined ? null : Math.ceil(renewMs)]
    }
    case 'release':
      return ['release', use.fence, null, null, null]
  }
}

const createValues = (create: PlannedCommit['append']['create']): readonly unknown[] =>
  create === undefined ? [null, null, null] : [create.ownerId, toPlainText(create.title), create.at]
