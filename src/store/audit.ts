import type { CallId, MessageId, Seq, ThreadId } from '../core/ids.ts'
import type { CallLifecycle } from '../core/lifecycle.ts'
import type { TurnStatus } from '../core/message.ts'
import type { ThreadRecord } from '../core/thread.ts'

/**
 * What `holdfast check` needs of a database: its rows as they are, and verbs to mend them. Nothing
 * else reads rows; everything that people see is made by the fold.
 */
export interface StoreAudit {
  /** Of these turns, the ones that exist, and where. */
  findTurns(ids: readonly MessageId[]): Promise<readonly TurnHome[]>
  /** Every thread of every owner. */
  listThreads(): AsyncIterable<ThreadRecord>
  /** All rows of one snapshot, thread by thread, in order of seq; of one thread, if named. */
  scan(only?: ThreadId): AsyncIterable<readonly AuditRow[]>
  /** What the database says of its own files. */
  findFaults(): Promise<readonly string[]>
  /** All steps or none, with a record of each; refused if the thread has moved on since it was read. */
  repair(request: RepairRequest): Promise<'repaired' | 'stale'>
  /** Removes the rows of a thread that does not exist, and keeps them in the record. */
  removeOrphans(key: string, at: number): Promise<void>
  /** Gives back what it holds. The store does this when it is closed. */
  close(): void
}

export interface TurnHome {
  readonly turnId: MessageId
  readonly threadId: ThreadId
}

export type AuditRow = AuditThread | AuditMessage | AuditEvent | OrphanCall | OrphanRows

export interface AuditThread {
  readonly kind: 'thread'
  readonly threadId: ThreadId
  readonly seq: Seq
  readonly lease: AuditLease | null
}
export interface AuditLease {
  readonly turnId: MessageId
  /** False: it ran out, or its holder is dead. */
  readonly isHeld: boolean
}

export interface AuditMessage {
  readonly kind: 'message'
  readonly seq: Seq
  readonly messageId: MessageId
  readonly role: 'user' | 'system' | 'assistant'
  readonly status: TurnStatus | null
  /** Whether events may follow that are not in the body. */
  readonly isOpen: boolean
  readonly body: string | null
  readonly bodySeq: Seq | null
  readonly createdAt: number
  readonly calls: readonly AuditCall[]
}

/** One fact, taken out of its batch. */
export interface AuditEvent {
  readonly kind: 'event'
  readonly seq: Seq
  readonly commitSeq: Seq
  readonly ofTurn: boolean
  /** Null though it is of a turn: there is no such turn. */
  readonly turn: AuditEventTurn | null
  readonly at: number
  readonly payload: string
}
export interface AuditEventTurn {
  readonly turnId: MessageId
  readonly seq: Seq
  readonly bodySeq: Seq | null
}

/** A column of JSON text: not there, readable, or not. */
export type JsonColumn = 'none' | 'json' | 'broken'

export interface AuditCall {
  readonly callId: CallId
  readonly name: string
  readonly life: CallLifecycle
  readonly input: JsonColumn
  readonly output: JsonColumn
  readonly modelOutput: JsonColumn
}

/** A call of this thread whose turn does not exist. */
export interface OrphanCall {
  readonly kind: 'orphan-call'
  readonly callId: CallId
}
/** Rows of a thread that does not exist. */
export interface OrphanRows {
  readonly kind: 'orphan-rows'
  /** How the database names the thread. */
  readonly key: string
  readonly rows: number
}

export interface RepairRequest {
  readonly threadId: ThreadId
  readonly expectedSeq: Seq
  readonly at: number
  readonly steps: readonly RepairStep[]
}

/** One change of one row. `problem` and `note` go into the record, with the row as it was before. */
export type RepairStep = RowChange & { readonly problem: string; readonly note: string }

export type RowChange =
  | {
      readonly kind: 'set-call'
      readonly callId: CallId
      readonly life?: CallLifecycle
      readonly dropsOutput?: true
      /** Columns that are not JSON become JSON strings of their text. */
      readonly quotes?: readonly ('input' | 'output' | 'modelOutput')[]
    }
  | {
      readonly kind: 'add-call'
      readonly callId: CallId
      readonly turn: { readonly turnId: MessageId; readonly seq: Seq }
      readonly name: string
      readonly life: CallLifecycle
      readonly input: string | null
    }
  | { readonly kind: 'remove-call'; readonly callId: CallId }
  | {
      readonly kind: 'set-message'
      readonly seq: Seq
      readonly status?: TurnStatus
      readonly body?: string
      readonly isOpen?: true
    }
  /** Put in the place of what stood there, if anything did, and outside of any batch. */
  | {
      readonly kind: 'set-event'
      readonly seq: Seq
      readonly turn: { readonly turnId: MessageId; readonly seq: Seq } | null
      readonly at: number
      readonly payload: string
    }
  | { readonly kind: 'remove-event'; readonly seq: Seq }
  | { readonly kind: 'set-seq'; readonly seq: Seq }
  /** Only the record: what was mended was mended by an append. */
  | { readonly kind: 'record' }
