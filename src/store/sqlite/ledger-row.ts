import type { MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { TurnStatus } from '../../core/message.ts'
import type { ThreadHead } from '../lease.ts'

/** The number of a thread in this database; nobody outside hears of it. */
export type ThreadKey = number

/** What an append is compared with. */
export interface HeadRow extends ThreadHead {
  readonly thread: ThreadKey
}

/** A thread as reads of what is in it need it. */
export interface LedgerThreadRecord {
  readonly thread: ThreadKey
  readonly threadId: ThreadId
  readonly ownerId: OwnerId
  readonly seq: Seq
  readonly incarnation: string
  readonly mark: string
}

export interface HeldLeaseRow {
  readonly threadId: ThreadId
  readonly fence: number
  readonly holder: string
  readonly turnId: MessageId
  readonly until: number
}

export interface ChangedRow {
  readonly id: ThreadId
  readonly seq: Seq
  readonly isStopping: 0 | 1
}

export interface MessageRecord {
  readonly seq: Seq
  readonly messageId: MessageId
  readonly role: 'user' | 'system' | 'assistant'
  readonly status: TurnStatus | null
  /** 0: events have come that are not in the body. */
  readonly isSnapshot: 0 | 1
  readonly bodySeq: Seq | null
  readonly commitSeq: Seq
  readonly mark: string
  readonly createdAt: number
  readonly body: string | null
  /** JSON text. */
  readonly versions: string | null
}

/** Events of one commit: see `EventBatch`. */
export interface BatchRecord {
  readonly seq: Seq
  readonly size: number
  readonly commitSeq: Seq
  readonly mark: string
  /** The place of the turn that it belongs to; null for events of the thread itself. */
  readonly turn: Seq | null
  readonly at: number
  readonly payload: string
}
