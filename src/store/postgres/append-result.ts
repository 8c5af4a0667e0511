import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MessageId } from '../../core/ids.ts'
import type { Append, AppendResult } from '../store.ts'
import type { PlannedAppend } from './encode-appends.ts'
import { readSqlState } from './postgres-error.ts'

/** What `commit_appends` says of one append. */
export interface ResultRow {
  readonly nth: number
  readonly result: AppendResult['kind']
  readonly reached: number
  readonly fencing: number
  readonly stopping: boolean
  /** The kind, then what it is about; see `commit_appends`. */
  readonly refusal: readonly string[] | null
}

export function toResult({ append: { lease }, plan }: PlannedAppend, row: ResultRow): AppendResult {
  const { reached: seq, fencing: fence } = row
  const [, about = '', id = '', state = ''] = row.refusal ?? []
  switch (row.result) {
    case 'appended':
      return {
        kind: 'appended',
        firstSeq: seq - plan.size + 1,
        seq,
        ...(lease === undefined ? {} : { fence }),
        stopRequested: row.stopping,
      }
    case 'no-thread':
      return { kind: 'no-thread' }
    case 'stale':
      return { kind: 'stale', seq }
    case 'fenced':
      return { kind: 'fenced', fence }
    case 'leased':
      return { kind: 'leased', holder: id, turnId: about as MessageId, fence: Number(state) }
    case 'illegal':
      return { kind: 'illegal', subject: about as 'call' | 'turn' | 'message', id, state }
  }
}

/** An append that the database itself will not take (class 22 or 23, or our own HF001). */
export function toRefusal(error: unknown, { threadId }: Append): AppendResult | undefined {
  const cause = error instanceof HoldfastError ? error.cause : error
  const sqlState = readSqlState(cause) ?? ''
  const {
    message = '',
    detail = '',
    table,
  } = (cause ?? {}) as {
    readonly message?: string
    readonly detail?: string
    readonly table?: string
  }
  if (sqlState === 'HF001') {
    return { kind: 'illegal', subject: 'turn', id: detail, state: message }
  }
  if (!/^2[23]/.test(sqlState)) return undefined
  const subject = table === 'calls' ? 'call' : 'message'
  return { kind: 'illegal', subject, id: threadId, state: 'unstorable' }
}
