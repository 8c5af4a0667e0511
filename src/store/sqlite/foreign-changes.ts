import type { ChangeNotification } from '../store.ts'
import type { Connection } from './connection.ts'
import type { ChangedRow, LedgerStatements } from './ledger-statements.ts'

/**
 * Notices what other processes commit to the same file. SQLite has no messages between processes;
 * asking it whether anything changed costs microseconds, and only then are threads looked at.
 */
export function watchForeignChanges(
  connection: Connection,
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
        // Which thread is gone cannot be read any more.
        ...(wasDeleted ? [{ threadId: null, seq: 0 }] : []),
      ])
    } catch {
      // Locked or closing: the marks stay where they were, and the next look finds the same and more.
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
