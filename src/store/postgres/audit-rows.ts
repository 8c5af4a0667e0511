import type pg from 'pg'
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
import type { AuditSql } from './audit-sql.ts'

interface InThread {
  readonly key: ThreadId
}
interface ThreadRow extends InThread {
  readonly seq: Seq
  readonly turnId: MessageId | null
  readonly isHeld: boolean
}
interface MessageRow extends InThread {
  readonly seq: Seq
  readonly messageId: MessageId
  readonly role: 'user' | 'system' | 'assistant'
  readonly status: TurnStatus | null
  readonly isOpen: boolean
  readonly body: string | null
  readonly bodySeq: Seq | null
  readonly createdAt: number
}
interface EventRow extends InThread {
  readonly seq: Seq
  readonly size: number
  readonly commitSeq: Seq
  readonly at: number
  readonly payload: string
  readonly ofTurn: boolean
  readonly turnId: MessageId | null
  readonly turnSeq: Seq | null
  readonly bodySeq: Seq | null
}
interface CallRow extends InThread {
  readonly callId: CallId
  readonly turnSeq: Seq | null
  readonly name: string
  readonly life: CallLifecycle
  readonly input: string | null
  readonly output: string | null
  readonly modelOutput: string | null
}

/** All rows, or those of one thread, inside the transaction of the client. */
export function scanRows(
  client: pg.Client,
  { scans }: AuditSql,
  only: ThreadId | null,
): AsyncGenerator<readonly AuditRow[]> {
  return mergeAuditRows<ThreadId>({
    compare: compareBytes,
    threads: fetchFrom(client, 'threads', scans.threads, only, (row: ThreadRow) => {
      const { key, seq, turnId, isHeld } = row
      const lease = turnId === null ? null : { turnId, isHeld }
      return { kind: 'thread', key, threadId: key, seq, lease }
    }),
    messages: fetchFrom(client, 'messages', scans.messages, only, (row: MessageRow) => ({
      kind: 'message',
      ...row,
    })),
    events: splitRows(
      fetchFrom(client, 'events', scans.events, only, (row: EventRow) => row, batchPortion),
      readFacts,
    ),
    calls: fetchFrom(client, 'calls', scans.calls, only, (row: CallRow) => ({
      ...row,
      input: judgeJson(row.input),
      output: judgeJson(row.output),
      modelOutput: judgeJson(row.modelOutput),
    })),
  })
}

/** One row for each fact of the batch. */
function readFacts(row: EventRow): readonly Keyed<AuditEvent, ThreadId>[] {
  const { key, turnId, turnSeq, bodySeq, commitSeq, ofTurn } = row
  const turn = turnId === null || turnSeq === null ? null : { turnId, seq: turnSeq, bodySeq }
  return splitBatch(row).map(({ seq, at, line: payload }) => ({
    kind: 'event',
    key,
    seq,
    commitSeq,
    ofTurn,
    turn,
    at,
    payload,
  }))
}

/** A cursor in the database, so that no table is ever here as a whole. */
export function fetchFrom<Row extends object, Mapped>(
  client: pg.Client,
  name: string,
  text: string,
  only: ThreadId | null,
  map: (row: Row) => Mapped,
  portion = 500,
): Fetch<Mapped> {
  let isOpen = false
  return async () => {
    if (!isOpen) await client.query(`DECLARE scan_${name} NO SCROLL CURSOR FOR ${text}`, [only])
    isOpen = true
    const { rows } = await client.query<Row>(`FETCH ${portion} FROM scan_${name}`)
    return rows.map(map)
  }
}

/** As the database compares ids: byte by byte. */
const compareBytes = (left: string, right: string): number =>
  left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right))
