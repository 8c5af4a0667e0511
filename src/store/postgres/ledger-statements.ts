import { toCompactStatement } from './statement.ts'

export type LedgerStatements = ReturnType<typeof createLedgerStatements>

/** `schema` is quoted. In each read of rows, $1 is the most bytes of a result to load. */
export function createLedgerStatements(schema: string) {
  const { messageRows, eventRows, callRows, batchRows, batchCallRows, threadRows } = rowsOf(schema)
  /** The size of a message with its calls; a result that is left out counts as $1, and as nothing for `noCalls`. */
  const messageBytes = `CROSS JOIN LATERAL (
      SELECT coalesce(octet_length(m.body), 0) + coalesce(octet_length(m.versions), 0) + coalesce(sum(coalesce(octet_length(c.input), 0)
        + least(coalesce(octet_length(c.output), 0), greatest($1, 0))), 0) AS bytes
      FROM ${schema}.calls c WHERE c.thread_id = m.thread_id AND c.message_id = m.message_id
    ) b`
  /** True for the first row, and for every row before which the sum of bytes is still below the limit. */
  const isRead = (bytes: string, order: string, max: string) =>
    `coalesce(sum(${bytes}) OVER (ORDER BY ${order} ROWS BETWEEN
       UNBOUNDED PRECEDING AND 1 PRECEDING), 0) < ${max} AS is_read`
  const details = (from: string) =>
    [messageRows(from), eventRows(from), callRows(from)].join(' UNION ALL ')

  /**
   * thread, position where the page before ended, places, limit, whether to leave out the running turn,
   * bytes, edge
   */
  const pageOf = (isAfter: string, order: 'ASC' | 'DESC') =>
    `WITH found AS MATERIALIZED (
       SELECT * FROM ${schema}.messages
       WHERE thread_id = $2 AND ${isAfter} AND retired_seq IS NULL
         AND NOT ($6 AND status IS NOT DISTINCT FROM 'running')
       ORDER BY seq ${order} LIMIT $4
     ), places AS MATERIALIZED (
       SELECT m.*, ${isRead('b.bytes', `m.seq ${order}`, '$7')} FROM found m ${messageBytes}
     ), inside AS MATERIALIZED (
       SELECT * FROM places WHERE is_read ORDER BY seq ${order} LIMIT $5)
     ${threadRows(`t.id = $2`, {
       messageId: `CASE WHEN $6 THEN (
          SELECT m.message_id FROM ${schema}.messages m
          WHERE m.thread_id = $2 AND m.status = 'running' AND m.retired_seq IS NULL
          ORDER BY m.seq DESC LIMIT 1) END`,
       newest: `(SELECT m.message_id FROM ${schema}.messages m
          WHERE m.thread_id = $2 ORDER BY m.seq DESC LIMIT 1)`,
       // As a range with an order, which only the key of the table has: with "=", other indexes that begin with the
       // thread are as good to the planner while the table is small.
       edge: `(SELECT m.message_id FROM ${schema}.messages m
          WHERE m.thread_id = $2 AND m.seq BETWEEN $8 AND $8 ORDER BY m.seq LIMIT 1)`,
     })}
     UNION ALL ${messageRows('places', 'm.is_read')}
     UNION ALL ${eventRows('inside')}
     UNION ALL ${callRows('inside')}`

  return {
    readNewest: toCompactStatement('read-newest', pageOf('seq < $3', 'DESC')),
    readOldest: toCompactStatement('read-oldest', pageOf('seq > $3', 'ASC')),
    // A turn that ended after it was retired must not be sent again to a reader that dropped it. The limit
    // counts events; of the first batch, only those after the reader's seq may be needed.
    /** thread, after, limit, bytes */
    readChanges: toCompactStatement(
      'read-changes',
      `WITH found AS MATERIALIZED (
         SELECT * FROM ${schema}.messages WHERE thread_id = $2 AND body_seq > $3
           AND (retired_seq IS NULL OR retired_seq > body_seq)
         ORDER BY body_seq LIMIT $4
       ), places AS MATERIALIZED (
         SELECT m.*, ${isRead('b.bytes', 'm.body_seq', '$5')} FROM found m ${messageBytes}
       ), bodies AS MATERIALIZED (SELECT * FROM places WHERE is_read),
       batches AS MATERIALIZED (
         SELECT * FROM (
           SELECT *, ${isRead('octet_length(payload)', 'seq', '$5')},
             sum(least(size, seq - $3)) OVER (ORDER BY seq ROWS BETWEEN
             UNBOUNDED PRECEDING AND 1 PRECEDING) AS events_before
           FROM ${schema}.events WHERE thread_id = $2 AND seq > $3 ORDER BY seq LIMIT $4
         ) AS e WHERE coalesce(events_before, 0) < $4
       )
       ${threadRows('t.id = $2')}
       UNION ALL ${messageRows('places', 'm.is_read')}
       UNION ALL ${batchRows('batches', 'e.is_read')}
       UNION ALL ${callRows('bodies')}
       UNION ALL ${batchCallRows('(SELECT * FROM batches WHERE is_read)')}`,
    ),
    /** thread, message */
    readMessage: toCompactStatement(
      'read-message',
      `WITH found AS MATERIALIZED (
         SELECT * FROM ${schema}.messages WHERE thread_id = $2 AND message_id = $3
         ORDER BY retired_seq IS NULL DESC, seq DESC LIMIT 1
       ) ${details('found')}`,
    ),
    // A call without a row belongs to a running turn. The turn is found by subqueries and not by a join: while the tables
    // are small the planner joins by going over all turns, and that plan stays in use when they have grown.
    /** thread, call */
    readCall: toCompactStatement(
      'read-call',
      `WITH wanted AS MATERIALIZED (
         SELECT m.* FROM (SELECT (SELECT message_id FROM ${schema}.calls
           WHERE thread_id = $2 AND call_id = $3) AS id) AS turn
         CROSS JOIN LATERAL (
           (SELECT * FROM ${schema}.messages
             WHERE thread_id = $2 AND message_id = turn.id OFFSET 0)
           UNION ALL (SELECT * FROM ${schema}.messages
             WHERE turn.id IS NULL AND thread_id = $2 AND status = 'running' AND retired_seq IS NULL
             ORDER BY seq DESC LIMIT 100)) AS m
         WHERE m.role = 'assistant'
       )
       ${threadRows('t.id = $2')} UNION ALL ${details('wanted')}`,
    ),
    /** thread, seq */
    readPlace: toCompactStatement(
      'read-place',
      `SELECT t.incarnation, t.owner_id AS "ownerId", t.seq AS "threadSeq", n.message_id AS "newestId",
         n.body_seq AS "newestBodySeq",
         CASE WHEN t.seq = $2 THEN t.mark WHEN e.seq - e.size < $2 THEN e.mark
           ELSE coalesce(
             (SELECT mark FROM ${schema}.messages
               WHERE thread_id = $1 AND body_seq = $2 AND body_seq IS NOT NULL LIMIT 1),
             CASE WHEN n.seq = $2 AND n.body_seq IS NULL THEN n.mark END) END AS mark
       FROM ${schema}.threads t
       LEFT JOIN LATERAL (SELECT seq, size, mark FROM ${schema}.events
         WHERE thread_id = $1 AND seq >= $2 ORDER BY seq LIMIT 1) e ON true
       LEFT JOIN LATERAL (SELECT message_id, seq, body_seq, mark FROM ${schema}.messages
         WHERE thread_id = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1) n ON true
       WHERE t.id = $1`,
    ),
    /** thread, message, and where the id contains a seq: seq, message */
    readPath: toCompactStatement('read-path', pathStatement(schema)),
    /** thread, calls */
    readOutputs: toCompactStatement(
      'read-outputs',
      `SELECT call_id AS "callId", output, model_output AS "modelOutput" FROM ${schema}.calls
       WHERE thread_id = $1 AND call_id = ANY($2::text[])`,
    ),
    /** turn */
    findTurn: toCompactStatement(
      'find-turn',
      `WITH found AS MATERIALIZED (
         SELECT * FROM ${schema}.messages WHERE message_id = $2 AND role = 'assistant' LIMIT 1
       )
       ${threadRows('t.id = (SELECT thread_id FROM found)')} UNION ALL ${details('found')}`,
    ),
  }
}

/**
 * The walk of `walkPath` as one statement: up to a message that is shown, and down along what was hidden last. Either path
 * is one row, as JSON in the column of the id: thousands of rows would take the driver several times as long (OP7).
 */
const pathStatement = (schema: string): string => {
  const columns = 'seq, message_id, parent_seq, retired_seq, role'
  const list = `json_agg(json_build_object('id', message_id, 'seq', seq) ORDER BY seq)::text`
  return `WITH RECURSIVE target AS MATERIALIZED (
      SELECT ${columns} FROM (
        SELECT 1 AS rank, ${columns} FROM ${schema}.messages
        WHERE thread_id = $1 AND seq = $3::bigint AND message_id = $4
        UNION ALL (SELECT 2, ${columns} FROM ${schema}.messages
          WHERE thread_id = $1 AND message_id = $2
          ORDER BY retired_seq IS NULL DESC, retired_seq DESC, seq DESC LIMIT 1)
      ) AS t ORDER BY rank LIMIT 1
    ), up AS (
      SELECT * FROM target
      UNION ALL SELECT m.seq, m.message_id, m.parent_seq, m.retired_seq, m.role
      FROM up JOIN ${schema}.messages m
        ON m.thread_id = $1 AND m.seq = up.parent_seq AND m.seq < up.seq
      WHERE up.retired_seq IS NOT NULL
    ), down AS (
      SELECT * FROM target WHERE retired_seq IS NOT NULL
      UNION ALL SELECT c.* FROM down CROSS JOIN LATERAL (
        SELECT ${columns} FROM ${schema}.messages
        WHERE thread_id = $1 AND parent_seq = down.seq AND retired_seq IS NOT NULL
          AND seq > down.seq
        ORDER BY retired_seq DESC, seq DESC LIMIT 1) AS c
    ), fork AS MATERIALIZED (
      SELECT seq, is_hidden FROM (
        SELECT CASE WHEN retired_seq IS NULL THEN seq WHEN parent_seq = 0 THEN 0 END AS seq,
          (SELECT retired_seq IS NOT NULL FROM target) AS is_hidden
        FROM up ORDER BY up.seq LIMIT 1) AS top WHERE seq IS NOT NULL
    )
    SELECT 'thread' AS part, owner_id AS "ownerId", seq, incarnation AS id, NULL::text AS role
    FROM ${schema}.threads WHERE id = $1
    UNION ALL SELECT 'wanted', NULL, seq, message_id, role FROM target
    UNION ALL SELECT 'fork', NULL, seq, NULL, NULL FROM fork
    UNION ALL SELECT 'hide', NULL, 0, ${list}, NULL FROM ${schema}.messages m
      WHERE m.thread_id = $1 AND m.seq > (SELECT seq FROM fork WHERE is_hidden)
        AND m.retired_seq IS NULL
    UNION ALL SELECT 'show', NULL, 0, ${list}, NULL FROM (
      SELECT seq, message_id FROM up WHERE retired_seq IS NOT NULL
      UNION SELECT seq, message_id FROM down) AS s`
}

function rowsOf(schema: string) {
  const call = {
    messageId: 'c.message_id',
    callId: 'c.call_id',
    seq: 'c.seq',
    name: 'c.name',
    state: 'c.life',
    content: 'c.input',
    // The length is in the row; a result that is left out is not loaded from the TOAST table.
    output: 'CASE WHEN octet_length(c.output) <= $1 THEN c.output END',
    outputBytes: 'octet_length(c.output)',
    modelOutput: 'CASE WHEN octet_length(c.output) <= $1 THEN c.model_output END',
  }
  const event = {
    messageId: 'e.message_id',
    seq: 'e.seq',
    size: 'e.size',
    commitSeq: 'e.commit_seq',
    mark: 'e.mark',
    at: 'e.at',
    content: 'e.payload',
    isRead: 'true',
  }
  // OFFSET 0 keeps each of these an index probe per message, whatever the planner estimates.
  return {
    threadRows: (condition: string, more: Parameters<typeof selectRows>[1] = {}) =>
      `${selectRows('thread', {
        threadId: 't.id',
        ownerId: 't.owner_id',
        seq: 't.seq',
        incarnation: 't.incarnation',
        mark: 't.mark',
        content: 't.queue',
        ...more,
      })} FROM ${schema}.threads t WHERE ${condition}`,
    messageRows: (from: string, isRead = 'true') =>
      `${selectRows('message', {
        messageId: 'm.message_id',
        role: 'm.role',
        state: 'm.status',
        seq: 'm.seq',
        bodySeq: 'm.body_seq',
        commitSeq: 'm.commit_seq',
        mark: 'm.mark',
        at: 'm.created_at',
        content: isRead === 'true' ? 'm.body' : `CASE WHEN ${isRead} THEN m.body END`,
        versions: 'm.versions',
        isRead,
      })} FROM ${from} m`,
    eventRows: (from: string) =>
      `${selectRows('event', event)} FROM ${from} m CROSS JOIN LATERAL (
         SELECT * FROM ${schema}.events
         WHERE thread_id = m.thread_id AND seq >= m.seq AND message_id = m.message_id
         ORDER BY seq OFFSET 0
       ) e WHERE m.role = 'assistant' AND NOT m.is_sealed`,
    callRows: (from: string) =>
      `${selectRows('call', call)} FROM ${from} m CROSS JOIN LATERAL (
         SELECT * FROM ${schema}.calls
         WHERE thread_id = m.thread_id AND message_id = m.message_id ORDER BY seq OFFSET 0
       ) c WHERE m.role = 'assistant' AND ($1 >= 0 OR NOT m.is_sealed)`,
    batchRows: (from: string, isRead: string) =>
      `${selectRows('event', {
        ...event,
        content: `CASE WHEN ${isRead} THEN e.payload END`,
        isRead,
      })} FROM ${from} e`,
    // Searched in the text, because a damaged line cannot be parsed here. In an id, JSON escapes characters
    // only with a backslash before them.
    batchCallRows: (from: string) =>
      `${selectRows('call', call)} FROM (
         SELECT DISTINCT p.thread_id, regexp_replace(found[1], '\\\\(.)', '\\1', 'g') AS call_id
         FROM ${from} p CROSS JOIN LATERAL unnest(string_to_array(p.payload, chr(10))) AS line
         CROSS JOIN LATERAL regexp_matches(line, '"callId":"((?:[^"\\\\]|\\\\.)*)"', 'g') AS found
         WHERE line LIKE '%"call-settled"%' OR line LIKE '%"call-resolved"%'
       ) f CROSS JOIN LATERAL (
         SELECT * FROM ${schema}.calls
         WHERE thread_id = f.thread_id AND call_id = f.call_id OFFSET 0
       ) c`,
  }
}

/**
 * One statement reads rows of several tables, so that each verb is one round trip and one snapshot: see `LedgerRow`. A
 * column that a kind of row does not have is null.
 */
const types = {
  threadId: 'text',
  ownerId: 'text',
  messageId: 'text',
  callId: 'text',
  role: 'text',
  name: 'text',
  state: 'text',
  seq: 'bigint',
  size: 'integer',
  bodySeq: 'bigint',
  commitSeq: 'bigint',
  at: 'bigint',
  content: 'text',
  output: 'text',
  outputBytes: 'integer',
  modelOutput: 'text',
  isRead: 'boolean',
  incarnation: 'text',
  mark: 'text',
  newest: 'text',
  edge: 'text',
  versions: 'text',
} as const

/** The select list of one kind of row, the same columns in the same order for each. */
function selectRows(
  kind: 'thread' | 'message' | 'event' | 'call',
  columns: Partial<Record<keyof typeof types, string>>,
): string {
  const list = Object.entries(types).map(
    ([name, type]) => `${columns[name as keyof typeof types] ?? `NULL::${type}`} AS "${name}"`,
  )
  return `SELECT '${kind}' AS kind, ${list.join(', ')}`
}
