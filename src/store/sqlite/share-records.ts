import type { DatabaseSync } from 'node:sqlite'
import type { ThreadId } from '../../core/ids.ts'
import type { Share, ShareId, StoredShare } from '../../core/share.ts'
import {
  readShareNames,
  type SharedText,
  type ShareRecords,
  toShareNames,
} from '../share-records.ts'
import type { AsyncConnection } from './connection.ts'
import type { NamedParams, Statement } from './ledger-statements.ts'
import { shareSql as sql } from './share-sql.ts'

export type ShareStatements = ReturnType<typeof prepareShareStatements>

type ShareRow = Omit<StoredShare, 'files' | 'calls'> & { readonly names: string }

export function prepareShareStatements(db: DatabaseSync) {
  const prepare = <Params extends readonly (string | number)[] | NamedParams, Row = never>(
    text: string,
  ) => db.prepare(text) as unknown as Statement<Params, Row>
  type Unfinished = { threadId: ThreadId; before: number }
  return {
    dropUnfinishedTexts: prepare<Unfinished>(sql.dropUnfinishedTexts),
    dropUnfinished: prepare<Unfinished>(sql.dropUnfinished),
    countShares: prepare<[ThreadId], { count: number }>(sql.countShares),
    beginShare: prepare<{ id: ShareId; threadId: ThreadId; at: number }>(sql.beginShare),
    addText: prepare<{ id: ShareId; nth: number; body: string }>(sql.addText),
    finishShare: prepare<{ id: ShareId; seq: number; title: string; names: string }>(
      sql.finishShare,
    ),
    readShare: prepare<[ShareId], ShareRow>(sql.readShare),
    readShareTexts: prepare<[ShareId, before: number], SharedText>(sql.readShareTexts),
    listShares: prepare<[ThreadId], Share>(sql.listShares),
    deleteShareTexts: prepare<[ShareId]>(sql.deleteShareTexts),
    deleteShare: prepare<{ id: ShareId; threadId: ThreadId }>(sql.deleteShare),
    deleteTextsOfThread: prepare<[ThreadId]>(sql.deleteTextsOfThread),
    deleteSharesOfThread: prepare<[ThreadId]>(sql.deleteSharesOfThread),
  }
}

/** In the transaction that deletes the thread. */
export function deleteThreadShares(statements: ShareStatements, threadId: ThreadId): void {
  statements.deleteTextsOfThread.run(threadId)
  statements.deleteSharesOfThread.run(threadId)
}

export function createSqliteShareRecords({
  read,
  write,
}: Pick<AsyncConnection, 'read' | 'write'>): ShareRecords {
  return {
    begin: ({ id, threadId, at, most, unfinishedBefore: before }) =>
      write(({ readKey, shares }) => {
        if (readKey.get(threadId) === undefined) return 'no-thread'
        shares.dropUnfinishedTexts.run({ threadId, before })
        shares.dropUnfinished.run({ threadId, before })
        if ((shares.countShares.get(threadId)?.count ?? 0) >= most) return 'full'
        shares.beginShare.run({ id, threadId, at })
        return 'begun'
      }),
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
    list: (threadId) =>
      read(({ shares }) => shares.listShares.all(threadId).map((row) => ({ ...row }))),
    remove: (threadId, id) =>
      write(({ shares }) => {
        const isThere = Number(shares.deleteShare.run({ id, threadId }).changes) > 0
        if (isThere) shares.deleteShareTexts.run(id)
        return isThere
      }),
  }
}
