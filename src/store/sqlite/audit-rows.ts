import type { DatabaseSync } from 'node:sqlite'
import type { CallId, MessageId, Seq, ThreadId } from '../../core/ids.ts'
import type { CallLifecycle } from '../../core/lifecycle.ts'
import type { TurnStatus } from '../../core/message.ts'
import type { AuditEvent, AuditRow } from '../audit.ts'
import { splitBatch } from '../event-batch.ts'
import { judgeJson } from '../json-column.ts'
import {
  type Fetch,
  type Keyed,
  mergeAuditRows,
  batchPortion,
  splitRows,
} from '../merge-audit-rows.ts'
import { auditSql } from './audit-sql.ts'
import { isHeld, type LeaseClock } from '../lease.ts'
import { iterateRows } from './iterate-rows.ts'
import type { ThreadKey } from './ledger-row.ts'

interface InThread {
  readonly key: ThreadKey
}
interface ThreadRow extends InThread {
  readonly threadId: ThreadId
  readonly seq: Seq
  readonly holder: string | null
  readonly turnId: MessageId | null
  readonly until: number | null
}
interface MessageRow extends InThread {
  readonly seq: Seq
  readonly messageId: MessageId
  readonly role: 'user' | 'system' | 'assistant'
  readonly status: TurnStatus | null
  readonly isSealed: 0 | 1
  readonly body: string | null
  readonly bodySeq: Seq | null
  readonly createdAt: number
}
interface BatchRow extends InThread {
  readonly seq: Seq
  readonly size: number
  readonly commitSeq: Seq
  readonly turnSeq: Seq | null
  readonly at: number
  readonly payload: string
  readonly turnId: MessageId | null
  readonly bodySeq: Seq | null
}
interface CallRow extends InThread {
  readonly callId: CallId
  readonly turnSeq: Seq
  readonly name: string
  readonly life: CallLifecycle
  readonly input: string | null
  readonly output: string | null
  readonly modelOutput: string | null
}

/** All rows, or those of one thread, as the snapshot has them that the connection reads in. */
export function scanRows(
  db: DatabaseSync,
  only: ThreadKey | null,
  context: LeaseClock,
): AsyncGenerator<readonly AuditRow[]> {
  return mergeAuditRows<ThreadKey>({
    compare: (left, right) => left - right,
    threads: fetchFrom(db, auditSql.threads, only, (row: ThreadRow) => {
      const { key, threadId, seq, turnId } = row
      const lease = turnId === null ? null : { turnId, isHeld: isHeld(row, context) }
      return { kind: 'thread', key, threadId, seq, lease } as const
    }),
    messages: fetchFrom(db, auditSql.messages, only, ({ isSealed, ...row }: MessageRow) => ({
      kind: 'message',
      ...row,
      isOpen: isSealed === 0,
    })),
    events: splitRows(
      fetchFrom(db, auditSql.events, only, (row: BatchRow) => row, batchPortion),
      toFacts,
    ),
    calls: fetchFrom(db, auditSql.calls, only, (row: CallRow) => ({
      ...row,
      input: judgeJson(row.input),
      output: judgeJson(row.output),
      modelOutput: judgeJson(row.modelOutput),
    })),
  })
}

function toFacts(row: BatchRow): readonly Keyed<AuditEvent, ThreadKey>[] {
  const { key, commitSeq, turnId, turnSeq, bodySeq } = row
  const turn = turnId === null || turnSeq === null ? null : { turnId, seq: turnSeq, bodySeq }
  const same = { kind: 'event', key, commitSeq, ofTurn: turnSeq !== null, turn } as const
  return splitBatch(row).map(({ seq, at, line }) => ({ ...same, seq, at, payload: line }))
}

function fetchFrom<Row, Mapped>(
  db: DatabaseSync,
  text: string,
  only: ThreadKey | null,
  map: (row: Row) => Mapped,
  portion = 200,
): Fetch<Mapped> {
  const rows = iterateRows(db, text, only)
  return async () => {
    const fetched: Mapped[] = []
    while (fetched.length < portion) {
      const next = rows.next()
      if (next.done === true) break
      fetched.push(map(next.value as Row))
    }
    return fetched
  }
}
