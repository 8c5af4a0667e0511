import { assertNever } from '../core/assert-never.ts'
import type { ThreadId } from '../core/ids.ts'
import type { AuditThread, StoreAudit } from '../store/audit.ts'
import { ThreadCheck } from './check-thread.ts'
import type { Problem } from './problem.ts'

/** What was found in one thread; `thread` is null for rows that no thread has. */
export interface Finding {
  readonly thread: AuditThread | null
  readonly problems: readonly Problem[]
}

/** One pass over all threads, or over one, in one snapshot. */
export async function* findProblems(
  audit: StoreAudit,
  now: number,
  only?: ThreadId,
  onRows: (rows: number) => void = () => {},
): AsyncGenerator<Finding> {
  let check: ThreadCheck | undefined
  const finish = (): Finding | undefined =>
    check === undefined ? undefined : { thread: check.thread, problems: check.finish() }
  for await (const rows of audit.scan(only)) {
    onRows(rows.length)
    for (const row of rows) {
      switch (row.kind) {
        case 'thread': {
          const finding = finish()
          if (finding !== undefined) yield finding
          check = new ThreadCheck(row, now)
          break
        }
        case 'message':
          check?.addMessage(row)
          break
        case 'event':
          check?.addEvent(row)
          break
        case 'orphan-call':
          check?.addOrphanCall(row.callId)
          break
        case 'orphan-rows': {
          const what = `${row.rows} rows of a thread (${row.key}) that does not exist.`
          const mend = { kind: 'remove-orphans', key: row.key } as const
          yield { thread: null, problems: [{ kind: 'orphan-rows', threadId: null, what, mend }] }
          break
        }
        default:
          assertNever(row)
      }
    }
  }
  const finding = finish()
  if (finding !== undefined) yield finding
}
