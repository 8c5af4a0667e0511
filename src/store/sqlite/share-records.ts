import type { DatabaseSync } from 'node:sqlite'
import type { ThreadId } from '../../core/ids.ts'
import type { Share, ShareId, StoredShare } from '../../core/share.ts'
import { isAnother } from '../../core/thread-place.ts'
import { runSlice } from '../pacer.ts'
import {
  readShareNames,
  type SharedText,
  type ShareRecords,
  toShareNames,
} from '../share-records.ts'
import { type KeyStatements, prepareOn, type StatementAccess } from './prepared-statement.ts'

/** The thread of links that are being deleted: no id of a thread has a control character. */
const deletedThread = '\u0001deleted'

/**
 * All statements on the tables of links. A link counts only while its thread is the incarnation that it was
 * made of.
 */
const ofThread = 'JOIN threads t ON t.id = s.thread_id AND t.incarnation = s.incarnation'

/** Of any thread with this id, or of the one that was read. */
const ofKnown = (column: string): string => `(:known IS NULL OR ${column} = :known)`

export const shareSql = {
  hideUnfinished: `UPDATE shares SET thread_id = '${deletedThread}'
    WHERE thread_id = :threadId AND seq IS NULL AND created_at < :before`,
  countShares: `SELECT count(*) AS count FROM shares s ${ofThread} WHERE s.thread_id = ?`,
  beginShare: `INSERT INTO shares (id, thread_id, incarnation, created_at) VALUES (:id, :threadId, :incarnation, :at)`,
  addText: `INSERT OR IGNORE INTO share_messages (share_id, nth, body)
    SELECT id, :nth, :body FROM shares WHERE id = :id AND seq IS NULL`,
  finishShare: `UPDATE shares SET seq = :seq, title = :title, names = :names WHERE id = :id
    AND EXISTS (SELECT 1 FROM threads t WHERE t.id = thread_id AND t.incarnation = shares.incarnation)`,
  readShare: `SELECT s.id, s.thread_id AS threadId, t.owner_id AS ownerId, s.created_at AS createdAt, s.seq, s.title,
    s.names FROM shares s ${ofThread} WHERE s.id = ? AND s.seq IS NOT NULL`,
  readShareTexts: `SELECT nth, body FROM share_messages WHERE share_id = ? AND nth < ?
    ORDER BY nth DESC`,
  listShares: `SELECT s.id, s.thread_id AS threadId, s.created_at AS createdAt, s.seq FROM shares s ${ofThread}
    WHERE s.thread_id = :threadId AND ${ofKnown('s.incarnation')} AND s.seq IS NOT NULL
    ORDER BY s.created_at DESC, s.id DESC`,
  hideShare: `UPDATE shares SET thread_id = '${deletedThread}'
    WHERE id = :id AND thread_id = :threadId AND ${ofKnown('incarnation')}`,
  hideSharesOfThread: `UPDATE shares SET thread_id = '${deletedThread}' WHERE thread_id = ?`,
  findHiddenShare: `SELECT id FROM shares WHERE thread_id = '${deletedThread}' LIMIT 1`,
  deleteSomeShareTexts: `DELETE FROM share_messages WHERE share_id = :id AND nth IN (
    SELECT nth FROM share_messages WHERE share_id = :id LIMIT 1)`,
  deleteHiddenShare: `DELETE FROM shares WHERE id = ? AND thread_id = '${deletedThread}'`,
} as const

type ShareRow = Omit<StoredShare, 'files' | 'calls'> & { readonly names: string }

export type ShareStatements = ReturnType<typeof prepareShareStatements>

export function prepareShareStatements(db: DatabaseSync) {
  const prepare = prepareOn(db)
  return {
    hideUnfinished: prepare<{ threadId: ThreadId; before: number }>(shareSql.hideUnfinished),
    countShares: prepare<[ThreadId], { count: number }>(shareSql.countShares),
    beginShare: prepare<{ id: ShareId; threadId: ThreadId; incarnation: string; at: number }>(
      shareSql.beginShare,
    ),
    addText: prepare<{ id: ShareId; nth: number; body: string }>(shareSql.addText),
    finishShare: prepare<{ id: ShareId; seq: number; title: string; names: string }>(
      shareSql.finishShare,
    ),
    readShare: prepare<[ShareId], ShareRow>(shareSql.readShare),
    readShareTexts: prepare<[ShareId, before: number], SharedText>(shareSql.readShareTexts),
    listShares: prepare<{ threadId: ThreadId; known: string | null }, Share>(shareSql.listShares),
    hideShare: prepare<{ id: ShareId; threadId: ThreadId; known: string | null }>(
      shareSql.hideShare,
    ),
    hideSharesOfThread: prepare<[ThreadId]>(shareSql.hideSharesOfThread),
    findHiddenShare: prepare<[], { id: ShareId }>(shareSql.findHiddenShare),
    deleteSomeShareTexts: prepare<{ id: ShareId }>(shareSql.deleteSomeShareTexts),
    deleteHiddenShare: prepare<[ShareId]>(shareSql.deleteHiddenShare),
  }
}

type ShareAccess = StatementAccess<KeyStatements & { readonly shares: ShareStatements }>

/** Removes the texts of deleted links, whose copies of a thread are as long as it is, in slices (OP7). */
export async function removeHiddenShares({ read, write }: ShareAccess): Promise<void> {
  for (;;) {
    const found = await read(({ shares }) => shares.findHiddenShare.get())
    if (found === undefined) return
    while (!(await write(({ shares }) => removeOfShare(shares, found.id))));
  }
}

/** False: there are more rows. */
function removeOfShare(
  { deleteSomeShareTexts, deleteHiddenShare }: ShareStatements,
  id: ShareId,
): boolean {
  if (!runSlice([() => Number(deleteSomeShareTexts.run({ id }).changes)])) return false
  deleteHiddenShare.run(id)
  return true
}

export function createSqliteShareRecords({ read, write }: ShareAccess): ShareRecords {
  return {
    async begin({ id, threadId, incarnation: known = '', at, most, unfinishedBefore: before }) {
      const hidden = await write(({ shares }) => shares.hideUnfinished.run({ threadId, before }))
      if (Number(hidden.changes) > 0) await removeHiddenShares({ read, write })
      return write(({ readKey, shares }) => {
        const incarnation = readKey.get(threadId)?.incarnation
        if (incarnation === undefined || isAnother(known, incarnation)) return 'no-thread'
        if ((shares.countShares.get(threadId)?.count ?? 0) >= most) return 'full'
        shares.beginShare.run({ id, threadId, incarnation, at })
        return 'begun'
      })
    },
    add: async (id, texts) => {
      await write(({ shares }) => {
        for (const { nth, body } of texts) shares.addText.run({ id, nth, body })
      })
    },
    finish: (share) =>
      write(({ shares }) => {
        const { id, seq, title } = share
        const names = toShareNames(share)
        return Number(shares.finishShare.run({ id, seq, title, names }).changes) > 0
      }),
    read: (id) =>
      read(({ shares }) => {
        const row = shares.readShare.get(id)
        if (row === undefined) return null
        const { names, ...share } = row
        return { ...share, ...readShareNames(names) }
      }),
    readTexts: ({ id, before, limit, maxBytes }) =>
      read(({ shares }) => {
        const texts: SharedText[] = []
        let bytes = 0
        for (const row of shares.readShareTexts.iterate(id, before ?? Number.MAX_SAFE_INTEGER)) {
          if (texts.length === limit || (texts.length > 0 && bytes >= maxBytes)) {
            return { texts, hasMore: true }
          }
          texts.push({ nth: row.nth, body: row.body })
          bytes += row.body.length
        }
        return { texts, hasMore: false }
      }),
    list: (threadId, known) =>
      read(({ shares }) =>
        shares.listShares.all({ threadId, known: known ?? null }).map((row) => ({ ...row })),
      ),
    async remove(threadId, id, known) {
      const values = { id, threadId, known: known ?? null }
      const hidden = await write(({ shares }) => shares.hideShare.run(values))
      if (Number(hidden.changes) === 0) return false
      await removeHiddenShares({ read, write })
      return true
    },
  }
}
