/** All that is asked of the tables of links. A link counts only while its thread is the one that it was made of. */
const ofThread = 'JOIN threads t ON t.id = s.thread_id AND t.incarnation = s.incarnation'

export const shareSql = {
  dropUnfinishedTexts: `DELETE FROM share_messages WHERE share_id IN (SELECT id FROM shares
    WHERE thread_id = :threadId AND seq IS NULL AND created_at < :before)`,
  dropUnfinished:
    'DELETE FROM shares WHERE thread_id = :threadId AND seq IS NULL AND created_at < :before',
  countShares: `SELECT count(*) AS count FROM shares s ${ofThread} WHERE s.thread_id = ?`,
  beginShare: `INSERT INTO shares (id, thread_id, incarnation, created_at)
    SELECT :id, id, incarnation, :at FROM threads WHERE id = :threadId`,
  addText: `INSERT OR IGNORE INTO share_messages (share_id, nth, body)
    SELECT id, :nth, :body FROM shares WHERE id = :id AND seq IS NULL`,
  finishShare: `UPDATE shares SET seq = :seq, title = :title, names = :names WHERE id = :id
    AND EXISTS (SELECT 1 FROM threads t WHERE t.id = thread_id AND t.incarnation = shares.incarnation)`,
  readShare: `SELECT s.id, s.thread_id AS threadId, t.owner_id AS ownerId, s.created_at AS createdAt, s.seq, s.title,
    s.names FROM shares s ${ofThread} WHERE s.id = ? AND s.seq IS NOT NULL`,
  readShareTexts: `SELECT nth, body FROM share_messages WHERE share_id = ? AND nth < ?
    ORDER BY nth DESC`,
  listShares: `SELECT s.id, s.thread_id AS threadId, s.created_at AS createdAt, s.seq FROM shares s ${ofThread}
    WHERE s.thread_id = ? AND s.seq IS NOT NULL ORDER BY s.created_at DESC, s.id DESC`,
  deleteShareTexts: 'DELETE FROM share_messages WHERE share_id = ?',
  deleteShare: 'DELETE FROM shares WHERE id = :id AND thread_id = :threadId',
  deleteTextsOfThread: `DELETE FROM share_messages WHERE share_id IN (
    SELECT id FROM shares WHERE thread_id = ?)`,
  deleteSharesOfThread: 'DELETE FROM shares WHERE thread_id = ?',
} as const
