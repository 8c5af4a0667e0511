import {
  readShareNames,
  type SharedText,
  type ShareRecords,
  toShareNames,
} from '../share-records.ts'
import type { AsyncConnection } from './connection.ts'
import { removeHidden } from './remove-hidden.ts'

export function createSqliteShareRecords({
  read,
  write,
}: Pick<AsyncConnection, 'read' | 'write'>): ShareRecords {
  return {
    async begin({ id, threadId, at, most, unfinishedBefore: before }) {
      const hidden = await write(({ shares }) => shares.hideUnfinished.run({ threadId, before }))
      if (Number(hidden.changes) > 0) await removeHidden({ read, write })
      return write(({ readKey, shares }) => {
        if (readKey.get(threadId) === undefined) return 'no-thread'
        if ((shares.countShares.get(threadId)?.count ?? 0) >= most) return 'full'
        shares.beginShare.run({ id, threadId, at })
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
    list: (threadId) =>
      read(({ shares }) => shares.listShares.all(threadId).map((row) => ({ ...row }))),
    async remove(threadId, id) {
      const hidden = await write(({ shares }) => shares.hideShare.run({ id, threadId }))
      if (Number(hidden.changes) === 0) return false
      await removeHidden({ read, write })
      return true
    },
  }
}
