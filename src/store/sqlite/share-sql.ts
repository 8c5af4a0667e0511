import type { DatabaseSync } from 'node:sqlite'
import type { ThreadId } from '../../core/ids.ts'
import type { Share, ShareId, StoredShare } from '../../core/share.ts'
import type { SharedText } from '../share-records.ts'
import type { NamedParams, Statement } from './prepared-statement.ts'

/** The thread of links that are being deleted: no id of a thread has a control character. */
const deletedThread = '\u0001deleted'

/**
 * All statements on the tables of links. A link counts only while its thread is the incarnation that it was
 * made of.
 */
const ofThread = 'JOIN threads t ON t.id = s.thread_id AND t.incarnation = s.incarnation'

export const shareSql = {
  hideUnfinished: `UPDATE shares SET thread_id = '${deletedThread}'
    WHERE thread_id = :threadId AND seq IS NULL AND created_at < :before`,
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
  hideShare: `UPDATE shares SET thread_id = '${deletedThread}' WHERE id = :id AND thread_id = :threadId`,
  hideSharesOfThread: `UPDATE shares SET thread_id = '${deletedThread}' WHERE thread_id = ?`,
  findHiddenShare: `SELECT id FROM shares WHERE thread_id = '${deletedThread}' LIMIT 1`,
  deleteSomeShareTexts: `DELETE FROM share_messages WHERE share_id = :id AND nth IN (
    SELECT nth FROM share_messages WHERE share_id = :id LIMIT 1)`,
  deleteHiddenShare: `DELETE FROM shares WHERE id = ? AND thread_id = '${deletedThread}'`,
} as const

export type ShareStatements = ReturnType<typeof prepareShareStatements>

type ShareRow = Omit<StoredShare, 'files' | 'calls'> & { readonly names: string }

export function prepareShareStatements(db: DatabaseSync) {
  const prepare = <Params extends readonly (string | number)[] | NamedParams, Row = never>(
    text: string,
  ) => db.prepare(text) as unknown as Statement<Params, Row>
  return {
    hideUnfinished: prepare<{ threadId: ThreadId; before: number }>(shareSql.hideUnfinished),
    countShares: prepare<[ThreadId], { count: number }>(shareSql.countShares),
    beginShare: prepare<{ id: ShareId; threadId: ThreadId; at: number }>(shareSql.beginShare),
    addText: prepare<{ id: ShareId; nth: number; body: string }>(shareSql.addText),
    finishShare: prepare<{ id: ShareId; seq: number; title: string; names: string }>(
      shareSql.finishShare,
    ),
    readShare: prepare<[ShareId], ShareRow>(shareSql.readShare),
    readShareTexts: prepare<[ShareId, before: number], SharedText>(shareSql.readShareTexts),
    listShares: prepare<[ThreadId], Share>(shareSql.listShares),
    hideShare: prepare<{ id: ShareId; threadId: ThreadId }>(shareSql.hideShare),
    hideSharesOfThread: prepare<[ThreadId]>(shareSql.hideSharesOfThread),
    findHiddenShare: prepare<[], { id: ShareId }>(shareSql.findHiddenShare),
    deleteSomeShareTexts: prepare<{ id: ShareId }>(shareSql.deleteSomeShareTexts),
    deleteHiddenShare: prepare<[ShareId]>(shareSql.deleteHiddenShare),
  }
}
