import type { MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { TurnStatus } from '../../core/message.ts'

/** The number of a thread in this database; nobody outside hears of it. */
export type ThreadKey = number

export interface LeaseRow {
  readonly thread: ThreadKey
  readonly ownerId: OwnerId
  readonly seq: Seq
  readonly fence: number
  readonly holder: string | null
  readonly turnId: MessageId | null
  readonly until: number | null
  readonly stopFence: number | null
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

export interface StatusRow {
  readonly seq: Seq
  /** Null: not a turn. */
  readonly status: TurnStatus | null
  readonly isSealed: 0 | 1
  /** 0: it was retired, and its id is free again. */
  readonly isShown: 0 | 1
}

export interface MessageRow {
  readonly seq: Seq
  readonly messageId: MessageId
  readonly role: 'user' | 'system' | 'assistant'
  /** 0: facts have come that are not in the body. */
  readonly isSealed: 0 | 1
  readonly bodySeq: Seq | null
  readonly commitSeq: Seq
  readonly createdAt: number
  readonly body: string | null
}

/** Facts of one append: see `EventPack`. */
export interface PackRow {
  readonly seq: Seq
  readonly size: number
  readonly commitSeq: Seq
  /** The place of the turn that it belongs to; null for facts of the thread itself. */
  readonly turn: Seq | null
  readonly at: number
  readonly payload: string
}
