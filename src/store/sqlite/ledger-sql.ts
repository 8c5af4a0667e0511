import { longestTitle } from '../../core/thread.ts'

/** The columns of `ListedThreadRow`. */
export const listedColumns = (
  title: string,
) => `id, owner_id AS ownerId, ${title} AS title, metadata, created_at AS createdAt,
  updated_at AS updatedAt, seq, activity, forked_from AS forkedFrom, title_note AS titleNote, pinned, archived`

/** With the title as far as it is shown: a host may have stored a longer one. */
const threadColumns = listedColumns(`substr(title, 1, ${longestTitle})`)

const leaseColumns =
  'thread, seq, incarnation, fence, lease_holder AS holder, lease_turn AS turnId, lease_until AS until'

/** A long body is read as its bytes: Node takes ten times as long to read a text that is not in Latin letters (OP7). */
const messageColumns = `m.seq, m.message_id AS messageId, m.role, m.status, m.is_sealed AS isSnapshot,
  m.body_seq AS bodySeq, m.commit_seq AS commitSeq, m.mark, m.created_at AS createdAt, m.versions,
  CASE WHEN octet_length(m.body) > 65536 THEN CAST(m.body AS BLOB) ELSE m.body END AS body`

const pathColumns =
  'message_id AS id, seq, role, retired_seq AS retiredSeq, parent_seq AS parentSeq'

const batchColumns = 'seq, size, commit_seq AS commitSeq, mark, turn, at, payload'

/** Outputs over `:most` bytes are not read; their length is known without that. */
const outputColumns = `octet_length(output) AS outputBytes,
  CASE WHEN octet_length(output) <= :most THEN output END AS output,
  CASE WHEN octet_length(output) <= :most THEN model_output END AS modelOutput`

/** With `?` alone SQLite would prepare the whole statement again for every value that is bound to it. */
const limit = 'LIMIT ? + 0'

/** The last number of the store's counter. A number is never used twice, even if its thread is deleted. */
const lastCounter = `max(
    (SELECT least FROM counter WHERE id = 1),
    coalesce((SELECT max(changed) FROM threads), 0))`

/**
 * The owners of threads that are being deleted or not published yet (`hidden-threads.ts`).
 * No user's id has a control character.
 */
const deletedOwner = '\u0001deleted'
export const stagedOwner = '\u0001staged'
/** Both, in SQL: such a thread is in no view of the store. */
export const nobodys = `('${deletedOwner}', '${stagedOwner}')`

const insertCall = `INSERT INTO calls (thread, call_id, turn, seq, name, life, input, output, model_output)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** All statements of the store in one place, so that their query plans can be tested. */
export const ledgerSql = {
  readThread: `SELECT ${threadColumns}, queue, incarnation FROM threads WHERE id = ?`,
  readLedgerThread: `SELECT thread, id AS threadId, owner_id AS ownerId, seq, incarnation, mark,
    queue FROM threads WHERE id = ?`,
  readKey: 'SELECT thread, incarnation FROM threads WHERE id = ?',
  listThreads: `SELECT ${threadColumns} FROM threads WHERE owner_id = ? AND activity < ?
    ORDER BY activity DESC ${limit}`,
  listByArchive: `SELECT ${threadColumns} FROM threads WHERE owner_id = ? AND archived = ? AND activity < ?
    ORDER BY activity DESC ${limit}`,
  listPinned: `SELECT ${threadColumns} FROM threads
    WHERE owner_id = ? AND archived = ? AND activity < ? AND pinned = 1 ORDER BY activity DESC ${limit}`,
  readCounter: `SELECT ${lastCounter} AS last`,
  readLeast: 'SELECT least FROM counter WHERE id = 1',
  raiseCounter: 'UPDATE counter SET least = ? WHERE id = 1',
  findChanged: `SELECT id, seq, lease_holder IS NOT NULL AND stop_fence IS fence AS isStopping
    FROM threads WHERE changed > ? ORDER BY changed`,

  insertThread: `INSERT INTO threads (id, owner_id, title, created_at, updated_at, seq, activity,
    changed, fence, lease_holder, lease_turn, lease_until, incarnation, mark, title_note) VALUES (:id, :ownerId,
    :title, :at, :updatedAt, :seq, :counter, :counter, :fence, :holder, :turnId, :until,
    :incarnation, :mark, :titleNote)`,
  setMetadata: 'UPDATE threads SET metadata = :to WHERE id = :id AND metadata = :from',
  deleteThread: 'DELETE FROM threads WHERE thread = ?',
  // Its seq is 0, so that no listener is notified of it as a change.
  insertHidden: `INSERT INTO threads (thread, id, owner_id, title, created_at, updated_at, seq, activity,
    changed, fence, incarnation, mark) VALUES (:thread, :id, '${deletedOwner}', '', 0, 0, 0, :counter, :counter, 0, '', '')`,
  findStaged: `SELECT thread FROM threads WHERE owner_id = '${stagedOwner}' AND created_at < ? LIMIT 1`,
  readStaged: `SELECT thread, title, created_at AS at, updated_at AS updatedAt, seq, incarnation, mark,
    forked_from AS forkedFrom, title_note AS titleNote FROM threads WHERE id = ? AND owner_id = '${stagedOwner}'`,
  // With the key that its rows have already.
  insertPublished: `INSERT INTO threads (thread, id, owner_id, title, created_at, updated_at, seq, activity,
    changed, fence, incarnation, mark, forked_from, title_note) VALUES (:thread, :id, :ownerId, :title, :at, :updatedAt,
    :seq, :counter, :counter, 0, :incarnation, :mark, :forkedFrom, :titleNote)`,
  findHidden: `SELECT thread FROM threads WHERE owner_id = '${deletedOwner}' LIMIT 1`,
  isHidden: `SELECT 1 FROM threads WHERE thread = ? AND owner_id = '${deletedOwner}'`,
  countMessages: 'SELECT count(*) AS count FROM messages WHERE thread = ?',
  // The first one from a seq on: called until nothing is left of them. One by one, because a single row may have megabytes.
  deleteSomeMessages: `DELETE FROM messages WHERE thread = :thread AND seq IN (
    SELECT seq FROM messages WHERE thread = :thread AND seq >= :from ORDER BY seq LIMIT 1)`,
  deleteSomeEvents: `DELETE FROM events WHERE thread = :thread AND seq IN (
    SELECT seq FROM events WHERE thread = :thread AND seq >= :from ORDER BY seq LIMIT 1)`,
  deleteSomeCalls: `DELETE FROM calls WHERE rowid IN (
    SELECT rowid FROM calls WHERE thread = :thread AND turn >= :from LIMIT 1)`,
  deleteHidden: `DELETE FROM threads WHERE thread = ? AND owner_id = '${deletedOwner}'`,
  addInput:
    'INSERT INTO inputs (thread, message_id, turn_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  findInput: 'SELECT turn_id AS turnId FROM inputs WHERE thread = ? AND message_id = ?',
  deleteInputs: 'DELETE FROM inputs WHERE thread = ?',
  deleteInputsFrom: `DELETE FROM inputs WHERE thread = :thread AND EXISTS (SELECT 1 FROM messages m
    WHERE m.thread = :thread AND m.message_id = inputs.turn_id AND m.seq >= :from)`,

  // A statement beside `changeThread`, because SQLite rewrites every index whose columns an UPDATE sets.
  advanceThread: 'UPDATE threads SET seq = ?, changed = ?, mark = ? WHERE thread = ?',
  changeThread: `UPDATE threads SET seq = :seq, changed = :counter, fence = :fence,
    activity = ifnull(:activity, activity), updated_at = ifnull(:activityAt, updated_at),
    lease_holder = :holder, lease_turn = :turnId, lease_until = :until, stop_fence = :stopFence, mark = ifnull(:mark, mark)
    WHERE thread = :thread`,
  renameThread: 'UPDATE threads SET title = ?, title_note = ? WHERE thread = ?',
  // Each message sets `archived` to false, and most threads never were archived: the condition then avoids
  // the write.
  setFlags: `UPDATE threads SET pinned = ifnull(:pinned, pinned), archived = ifnull(:archived, archived)
    WHERE thread = :thread AND (pinned <> ifnull(:pinned, pinned) OR archived <> ifnull(:archived, archived))`,
  setQueue: 'UPDATE threads SET queue = ? WHERE thread = ?',
  setFork: 'UPDATE threads SET forked_from = ? WHERE thread = ?',
  renewLease: 'UPDATE threads SET lease_until = ? WHERE thread = ?',
  requestStop: 'UPDATE threads SET stop_fence = fence, changed = ? WHERE thread = ?',
  readHead: `SELECT ${leaseColumns}, owner_id AS ownerId, stop_fence AS stopFence,
    queue <> '[]' AS hasQueue FROM threads WHERE id = ?`,
  findLeases: `SELECT ${leaseColumns}, id AS threadId FROM threads WHERE lease_holder IS NOT NULL`,
  findLease: `SELECT ${leaseColumns}, id AS threadId FROM threads
    WHERE id = ? AND lease_holder IS NOT NULL`,

  insertMessage: `INSERT INTO messages (thread, seq, message_id, role, status, is_sealed, body_seq,
    commit_seq, created_at, body, retired_seq, mark, parent_seq, versions)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  setStatus: 'UPDATE messages SET status = ?, is_sealed = 0 WHERE thread = ? AND seq = ?',
  retireMessage: `UPDATE messages SET retired_seq = ?, parent_seq = ?
    WHERE thread = ? AND message_id = ? AND retired_seq IS NULL`,
  // By its place, of which it is one of thousands: neighbours are on one page, and ids are not.
  retireMessageAt: `UPDATE messages SET retired_seq = ?, parent_seq = ?
    WHERE thread = ? AND seq = ? AND +message_id = ? AND retired_seq IS NULL`,
  showMessage: 'UPDATE messages SET retired_seq = NULL WHERE thread = ? AND seq = ?',
  setVersions: `UPDATE messages SET versions = nullif(?, '[]') WHERE thread = ? AND seq = ?`,
  snapshotTurn: `UPDATE messages SET status = 'ended', body = ?, body_seq = ?, commit_seq = ?,
    mark = ?, is_sealed = 1 WHERE thread = ? AND seq = ?`,

  readPlaces: `SELECT seq FROM messages WHERE thread = ? AND seq < ? AND retired_seq IS NULL
    ORDER BY seq DESC ${limit}`,
  readPlacesUpward: `SELECT seq FROM messages WHERE thread = ? AND seq > ? AND retired_seq IS NULL
    ORDER BY seq ${limit}`,
  findRunning: `SELECT seq, message_id AS messageId FROM messages
    WHERE thread = ? AND status = 'running' AND retired_seq IS NULL ORDER BY seq DESC`,
  // With this index; otherwise every retired message between the edges would be read as well.
  readMessages: `SELECT ${messageColumns} FROM messages m INDEXED BY messages_shown
    WHERE thread = ? AND seq BETWEEN ? AND ? AND retired_seq IS NULL ORDER BY seq DESC`,
  readMessage: `SELECT ${messageColumns} FROM messages m WHERE thread = ? AND message_id = ?
    ORDER BY retired_seq IS NULL DESC, +seq DESC LIMIT 1`,
  readPathAt: `SELECT ${pathColumns} FROM messages WHERE thread = ? AND seq = ?`,
  readPathById: `SELECT ${pathColumns} FROM messages WHERE thread = ? AND message_id = ?
    ORDER BY retired_seq IS NULL DESC, retired_seq DESC, +seq DESC LIMIT 1`,
  readLastHidden: `SELECT ${pathColumns} FROM messages
    WHERE thread = ? AND parent_seq = ? AND retired_seq IS NOT NULL
    ORDER BY retired_seq DESC, seq DESC LIMIT 1`,
  readShownAfter: `SELECT ${pathColumns} FROM messages INDEXED BY messages_shown
    WHERE thread = ? AND seq > ? AND retired_seq IS NULL ORDER BY seq ${limit}`,
  readMessageAt: `SELECT ${messageColumns} FROM messages m WHERE thread = ? AND seq = ?`,
  readMessageId: 'SELECT message_id AS messageId FROM messages WHERE thread = ? AND seq = ?',
  findTurn: `SELECT ${messageColumns}, m.thread, t.id AS threadId, t.owner_id AS ownerId,
    t.seq AS threadSeq, t.incarnation, t.mark AS threadMark, t.queue FROM messages m JOIN threads t ON t.thread = m.thread
    WHERE m.message_id = ? AND m.role = 'assistant' AND t.owner_id NOT IN ${nobodys} LIMIT 1`,
  /** A turn that ended after it was retired must not be sent again to a reader that dropped it. */
  readBodies: `SELECT ${messageColumns} FROM messages m
    WHERE thread = ? AND body_seq > ? AND (retired_seq IS NULL OR retired_seq > body_seq)
    ORDER BY body_seq ${limit}`,

  // The batch that contains a seq: the first that does not end before it.
  readPlaceBatch: `SELECT seq, size, mark FROM events WHERE thread = ? AND seq >= ? ORDER BY seq LIMIT 1`,
  readPlaceBody: 'SELECT mark FROM messages WHERE thread = ? AND body_seq = ? LIMIT 1',
  readPlaceMessage: `SELECT message_id AS id, seq, body_seq AS bodySeq, mark FROM messages
    WHERE thread = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`,

  insertBatch: `INSERT INTO events (thread, seq, size, commit_seq, turn, at, payload, mark)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  readBatches: `SELECT ${batchColumns} FROM events WHERE thread = ? AND seq > ? ORDER BY seq`,
  // Skips events of other turns; those are few, because ended turns have none: they are snapshots.
  readTurnBatches: `SELECT ${batchColumns} FROM events
    WHERE thread = :thread AND seq >= :turn AND turn = :turn ORDER BY seq`,
  deleteTurnBatches: `DELETE FROM events
    WHERE thread = :thread AND seq BETWEEN :turn AND :last AND turn = :turn`,

  readCallTurn: 'SELECT turn FROM calls WHERE thread = ? AND call_id = ?',
  // Takes half the time of `upsertCall`, for which SQLite prepares to undo it because of the triggers.
  insertCall,
  // The order of a call does not change, and a trigger refuses another turn.
  upsertCall: `${insertCall}
    ON CONFLICT (thread, call_id) DO UPDATE SET turn = excluded.turn, name = excluded.name,
      life = excluded.life, input = excluded.input, output = excluded.output,
      model_output = excluded.model_output`,
  readCalls: `SELECT call_id AS callId, :turnId AS turnId, name, life AS lifecycle, input, ${outputColumns} FROM calls
    WHERE thread = :thread AND turn = :turn ORDER BY seq`,
  readCall: `SELECT call_id AS callId, name, life AS lifecycle, input, ${outputColumns} FROM calls
    WHERE thread = :thread AND call_id = :callId`,
} as const
