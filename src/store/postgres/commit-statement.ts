import { clockTime, leaseHeld } from './leases.ts'
import {
  batchColumns,
  callColumns,
  changedColumns,
  type Column,
  type CommitKind,
  type CommitPart,
  type GroupSize,
  fileColumns,
  hasPart,
  headColumns,
  inputColumns,
  newColumns,
  releasedColumns,
  shownColumns,
  threadColumns,
} from './commit-parameters.ts'
import { endUsesSql, useFilesSql } from './file-records.ts'
import { type Statement, toCompactStatement } from './statement.ts'

/**
 * The result row of one commit. `headSeq` is null where the thread does not exist or is locked. `incarnation` is that of the
 * thread, whether the commit was written or not.
 */
export interface CommitRow {
  readonly id: string
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
  /** What the database's clock showed, in milliseconds. */
  readonly clock: number
}

/**
 * A group of commits as one statement, whether it is one or two hundred, with at most one commit per thread. The thread's
 * row is compared and advanced first (`moved`, or `made` where the thread is new); every other row is written only if its
 * thread's row was, so a refusal needs no rollback.
 *
 * A row that another transaction has locked is skipped and not waited for (`input`), so that one locked thread does not
 * block the others of its group. The result of its commit is `busy`.
 *
 * @param schema quoted
 */
export function commitStatement(schema: string, kind: CommitKind, group: GroupSize): Statement {
  let parameters = 0
  const nextParameter = () => `$${(parameters += 1)}`
  const toRow = (name: string, list: readonly Column[]): string => {
    const columns = list.map((each) => `${nextParameter()}::${each.type} AS ${each.name}`)
    return `(SELECT ${columns.join(', ')}) AS ${name}`
  }
  /**
   * Arrays as rows, in the select list and not as one function in FROM: that fills a tuplestore of its own for each
   * array, and the memory of forty of them costs the server more than all rows of a commit.
   */
  const rows = (name: string, list: readonly Column[]): string => {
    const columns = list.map((each) => `unnest(${nextParameter()}::${each.type}[]) AS ${each.name}`)
    return `(SELECT ${columns.join(', ')}) AS ${name}`
  }
  const has = (part: CommitPart) => hasPart(kind, part)
  const when = (part: CommitPart, text: () => readonly string[]) => (has(part) ? text() : [])
  /** Messages that are shown or new come after those that are retired in the same commit and may have the same ids. */
  const after = (part: CommitPart, name: string) =>
    has(part) ? `(SELECT count(*) FROM ${name}) >= 0` : 'true'
  // A lease that is handed over is over by any clock.
  const until = `CASE i.ms WHEN 0 THEN to_timestamp(0)
    ELSE clock_timestamp() + i.ms * interval '1 millisecond' END`
  const commitColumns = has('thread') ? [...headColumns, ...threadColumns] : headColumns
  const input = (group === 'one' ? toRow : rows)('i', commitColumns)
  const isLeaseHeld = 'i.fence IS NULL OR (i.head_holder IS NOT NULL AND i.head_fence = i.fence)'
  // Without new threads, what was moved is all that was written: a further query over it would cost a part of its own.
  const moved = has('made') ? 'moved' : 'written'
  const parts = [
    // With the thread's row as it is now, which is locked until the end of the transaction.
    `input AS MATERIALIZED (
       SELECT i.*, h.* FROM ${input} LEFT JOIN LATERAL (
         SELECT owner_id AS head_owner, incarnation, seq AS head_seq, fence AS head_fence,
           lease_holder AS head_holder, lease_turn AS head_turn,
           ${has('thread') ? leaseHeld('i.latest') : 'NULL::boolean'} AS is_held
         FROM ${schema}.threads WHERE id = i.id FOR NO KEY UPDATE SKIP LOCKED) AS h ON true)`,
    // The same conditions as `judgeAppend`, which finds the reason where they do not hold.
    `${moved} AS (
       UPDATE ${schema}.threads AS t SET
         seq = t.seq + i.size,
         mark = CASE WHEN i.size > 0 THEN i.mark ELSE t.mark END,
         ${
           has('thread')
             ? `title = coalesce(i.title, t.title),
         queue = coalesce(i.queue, t.queue),
         forked_from = coalesce(i.forked_from, t.forked_from),
         title_note = CASE WHEN i.title IS NULL THEN t.title_note ELSE i.title_note END,
         pinned = coalesce(i.pinned, t.pinned), archived = coalesce(i.archived, t.archived),
         updated_at = coalesce(i.activity_at, t.updated_at),
         activity = CASE WHEN i.activity_at IS NULL THEN t.activity
           ELSE nextval('${schema}.activity') END,
         fence = CASE i.lease WHEN 'acquire'
           THEN greatest(t.fence + 1, nextval('${schema}.activity')) ELSE t.fence END,
         stop_fence = CASE i.lease WHEN 'acquire' THEN NULL ELSE t.stop_fence END,
         lease_holder = CASE i.lease WHEN 'acquire' THEN i.holder WHEN 'release' THEN NULL
           ELSE t.lease_holder END,
         lease_turn = CASE i.lease WHEN 'acquire' THEN i.turn WHEN 'release' THEN NULL
           ELSE t.lease_turn END,`
             : ''
         }
         lease_until = CASE WHEN i.ms IS NOT NULL THEN ${until}
           ${has('thread') ? `WHEN i.lease = 'release' THEN NULL` : ''} ELSE t.lease_until END
       FROM input AS i
       WHERE t.id = i.id AND i.head_seq IS NOT NULL
         AND (i.expected IS NULL OR i.expected = i.head_seq)
         AND (i.planned_on IS NULL OR i.planned_on = i.incarnation)
         AND ${
           has('thread')
             ? `(i.owner IS NULL OR i.owner = i.head_owner)
         AND CASE i.lease
           WHEN 'acquire' THEN i.head_holder IS NULL OR NOT i.is_held OR i.head_fence = i.fence
           ELSE ${isLeaseHeld} END`
             : `(${isLeaseHeld})`
         }
       RETURNING t.id, t.owner_id, t.seq, t.fence, ${has('made') ? 't.incarnation, ' : ''}t.mark,
         t.lease_holder IS NOT NULL AND t.stop_fence IS NOT DISTINCT FROM t.fence AS is_stopping)`,
    ...when('made', () => [
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
         WHERE i.owner IS NOT NULL AND coalesce(i.expected, 0) = 0 AND i.planned_on IS NULL
           AND coalesce(i.lease, 'acquire') = 'acquire'
           AND (SELECT true FROM ${schema}.threads AS x WHERE x.id = i.id) IS NULL
         ORDER BY i.id
         ON CONFLICT (id) DO NOTHING
         RETURNING id, owner_id, seq, fence, incarnation, mark, false AS is_stopping)`,
      'written AS (SELECT * FROM moved UNION ALL SELECT * FROM made)',
    ]),
    ...when('batches', () => [
      `batches AS (
         INSERT INTO ${schema}.events (thread_id, seq, size, commit_seq, message_id, at, payload,
           mark)
         SELECT b.thread, b.seq, b.size, w.seq, b.message_id, b.at, b.payload, w.mark
         FROM ${rows('b', batchColumns)} JOIN written AS w ON w.id = b.thread)`,
    ]),
    ...when('calls', () => [
      // A call of another turn is not overwritten: the `message_id` becomes NULL, which its key refuses.
      `calls AS (
         INSERT INTO ${schema}.calls AS c
           (thread_id, call_id, message_id, seq, name, life, input, output, model_output)
         SELECT n.* FROM ${rows('n', callColumns)} JOIN written AS w ON w.id = n.thread
         ON CONFLICT (thread_id, call_id) DO UPDATE SET
           message_id = CASE WHEN c.message_id = excluded.message_id THEN c.message_id END,
           name = excluded.name, life = excluded.life, input = excluded.input,
           output = excluded.output, model_output = excluded.model_output)`,
    ]),
    ...when('changedMessages', () => [
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
           versions = nullif(coalesce(n.versions, m.versions), '[]')
         FROM changing AS n
         WHERE m.thread_id = n.thread_id AND m.seq = n.place AND m.message_id = n.message_id
         RETURNING m.seq)`,
      `emptied AS (
         DELETE FROM ${schema}.events AS e USING changing AS n
         WHERE n.body IS NOT NULL AND e.thread_id = n.thread_id
           AND e.seq BETWEEN n.place AND n.body_seq AND e.message_id = n.message_id)`,
    ]),
    ...when('shownMessages', () => [
      `shown AS (
         UPDATE ${schema}.messages AS m SET retired_seq = NULL,
           versions = nullif(coalesce(s.versions, m.versions), '[]')
         FROM ${rows('s', shownColumns)} JOIN written AS w ON w.id = s.thread
         WHERE m.thread_id = s.thread AND m.seq = s.seq
           AND ${after('changedMessages', 'changed')}
         RETURNING m.seq)`,
    ]),
    ...when('newMessages', () => [
      `added AS (
         INSERT INTO ${schema}.messages (thread_id, seq, message_id, role, status, body, body_seq,
           commit_seq, created_at, retired_seq, parent_seq, versions, is_sealed, mark)
         SELECT n.*, n.body IS NOT NULL, w.mark FROM ${rows('n', newColumns)}
         JOIN written AS w ON w.id = n.thread
         WHERE ${after('changedMessages', 'changed')} AND ${after('shownMessages', 'shown')})`,
    ]),
    ...when('files', () => [
      ...useFilesSql(schema, `FROM ${rows('n', fileColumns)} JOIN written AS w ON w.id = n.thread`),
      // Kept as long as a new upload: who withdraws a message may be about to send it again.
      `freed AS (
         DELETE FROM ${schema}.file_uses AS u
         USING ${rows('r', releasedColumns)} JOIN written AS w ON w.id = r.thread
         WHERE u.thread_id = r.thread AND u.file_id = r.file_id AND u.queued
         RETURNING u.thread_id, u.file_id, r.at)`,
      `unused AS (${endUsesSql(schema, 'freed.at')})`,
    ]),
    ...when('inputs', () => [
      `settled AS (
         INSERT INTO ${schema}.inputs (thread_id, message_id, turn_id)
         SELECT n.* FROM ${rows('n', inputColumns)} JOIN written AS w ON w.id = n.thread
         ON CONFLICT DO NOTHING)`,
    ]),
  ]
  // A scalar subquery, because PostgreSQL may plan an EXISTS here as a hash of the whole table.
  const text = `WITH ${parts.join(', ')}
    SELECT i.id, w.seq, w.fence, w.is_stopping AS "isStopping",
      ${has('made') ? 'coalesce(i.incarnation, w.incarnation) AS incarnation' : 'i.incarnation'},
      CASE WHEN i.head_seq IS NULL
        THEN (SELECT true FROM ${schema}.threads AS x WHERE x.id = i.id) IS NOT NULL
        ELSE true END AS "exists",
      i.head_seq AS "headSeq", i.head_owner AS "headOwner", i.head_fence AS "headFence",
      i.head_holder AS "headHolder", i.head_turn AS "headTurn", i.is_held AS "isHeld",
      ${clockTime} AS clock
    FROM input AS i LEFT JOIN written AS w ON w.id = i.id`
  return toCompactStatement(`commit-${kind}-${group}`, text)
}
