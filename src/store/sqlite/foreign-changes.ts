import type { ChangeNotification } from '../store.ts'
import type { SqliteConnection } from './connection.ts'
import type { ChangedRow, LedgerStatements } from './ledger-statements.ts'

/**
 * Notices what other processes commit to the same file. SQLite has no messages between processes; reading
 * `data_version` costs microseconds, and threads are read only if it changed.
 */
export function watchForeignChanges(
  connection: SqliteConnection,
  pollMs: number,
  post: (notifications: readonly ChangeNotification[]) => void,
): () => void {
  let version = connection.dataVersion()
  let marks = connection.read(readMarks)

  const poll = () => {
    try {
      const found = connection.dataVersion()
      if (found === version) return
      const { changed, next } = connection.read((statements) => ({
        changed: statements.findChanged.all(marks.last),
        next: readMarks(statements),
      }))
      const wasDeleted = next.least !== marks.least
      version = found
      marks = next
      post([
        ...changed.filter(({ seq }) => seq > 0).map(toNotification),
        // The id of a deleted thread can no longer be read, so every follower is notified.
        ...(wasDeleted ? [{ threadId: null, seq: 0 }] : []),
      ])
    } catch {
      // Locked or closing: the position stays, so the next poll finds these changes too.
    }
  }
  const timer = setInterval(poll, pollMs)
  timer.unref()
  return () => clearInterval(timer)
}

function readMarks({ readCounter, readLeast }: LedgerStatements) {
  return { last: readCounter.get()?.last ?? 0, least: readLeast.get()?.least ?? 0 }
}

const toNotification = ({ id: threadId, seq, isStopping }: ChangedRow): ChangeNotification =>
  isStopping === 1 ? { threadId, seq, stop: true } : { threadId, seq }
