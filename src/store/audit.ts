import type { FileId } from '../core/file.ts'
import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import type { CallLifecycle } from '../core/lifecycle.ts'
import type { TurnStatus } from '../core/message.ts'
import type { ListedThread } from '../core/thread.ts'

/**
 * What `holdfast check` needs of a database: its raw rows, and verbs to repair them. Only the audit reads
 * rows without the fold: what people see must come from events alone, or a reload could differ from the live
 * view.
 */
export interface StoreAudit {
  /** Those of these turns that exist, with their threads and positions. */
  findTurns(ids: readonly MessageId[]): Promise<readonly TurnHome[]>
  /**
   * The turns whose id several turns have, grouped by id. The first of each group keeps the id: one that is
   * running or retired, or else the oldest. Two turns in one thread are no damage: an id is unique among the
   * messages that are shown.
   */
  findSharedTurns(): Promise<readonly TurnHome[]>
  /** Every thread of every owner. */
  listThreads(): AsyncIterable<ListedThread>
  /** All rows of one snapshot, thread by thread, in order of seq; of one thread, if named. */
  scan(only?: ThreadId): AsyncIterable<readonly AuditRow[]>
  /** Faults that the database reports about its own files. */
  findFaults(): Promise<readonly string[]>
  /** Applies all steps or none, with a record of each; `stale` if the thread has changed since it was read. */
  repair(request: RepairRequest): Promise<'repaired' | 'stale'>
  /** Removes the rows of a thread that does not exist, and keeps them in the record. */
  removeOrphans(key: string, at: number): Promise<void>
  /** Closes the connections of the audit. The store calls this when it is closed. */
  close(): void
}

/** A turn and the thread that it belongs to. */
export interface TurnHome {
  readonly turnId: MessageId
  readonly threadId: ThreadId
}

/** One row of a scan. */
export type AuditRow = AuditThread | AuditMessage | AuditEvent | OrphanCall | OrphanRows

/** A thread's row. It comes before all other rows of the thread. */
export interface AuditThread {
  readonly kind: 'thread'
  readonly threadId: ThreadId
  readonly ownerId: OwnerId
  readonly seq: Seq
  /** Which of the threads that have had this id it is (OP6). */
  readonly incarnation?: string
  /** The waiting inputs, as JSON text. */
  readonly queue: string
  readonly lease: AuditLease | null
  /** The files that the thread is recorded to refer to (FL2). Absent: the store records none. */
  readonly files?: readonly FileId[]
}
/** The lease of a thread. */
export interface AuditLease {
  readonly turnId: MessageId
  /** False: the lease has run out, or its holder is dead. */
  readonly isHeld: boolean
}

/** A row of `messages`, with the rows of its calls. */
export interface AuditMessage {
  readonly kind: 'message'
  readonly seq: Seq
  readonly messageId: MessageId
  readonly role: 'user' | 'system' | 'assistant'
  readonly status: TurnStatus | null
  /** Whether there may be events that are not in the body. */
  readonly isOpen: boolean
  readonly body: string | null
  readonly bodySeq: Seq | null
  readonly createdAt: number
  /** Hidden by an event that names its id. */
  readonly isRetired: boolean
  /** Of a hidden message: the seq of the message that it followed. See `PathRow`. */
  readonly parentSeq: Seq | null
  /** All versions of the message, including itself, as JSON text. */
  readonly versions: string | null
  readonly calls: readonly AuditCall[]
}

/** One event, decoded from its batch. */
export interface AuditEvent {
  readonly kind: 'event'
  readonly seq: Seq
  readonly commitSeq: Seq
  readonly ofTurn: boolean
  /** Null although the event belongs to a turn: that turn does not exist. */
  readonly turn: AuditEventTurn | null
  readonly at: number
  readonly payload: string
}
/** A turn by its id and by its seq: PostgreSQL's rows refer to it by the one, SQLite's by the other. */
export interface TurnRef {
  readonly turnId: MessageId
  readonly seq: Seq
}
/** The turn of an event, and the seq of the turn's snapshot if it has one. */
export interface AuditEventTurn extends TurnRef {
  readonly bodySeq: Seq | null
}

/** A column of JSON text: absent, valid, or not JSON. */
export type JsonColumn = 'none' | 'json' | 'broken'

/** A row of `calls`, without the values of its JSON columns. */
export interface AuditCall {
  readonly callId: CallId
  readonly name: string
  readonly lifecycle: CallLifecycle
  readonly input: JsonColumn
  readonly output: JsonColumn
  readonly modelOutput: JsonColumn
  /** The files that its arguments and its result refer to. @default none */
  readonly files?: readonly FileId[]
}

/** A call of this thread whose turn does not exist. */
export interface OrphanCall {
  readonly kind: 'orphan-call'
  readonly callId: CallId
}
/** Rows of a thread that does not exist. */
export interface OrphanRows {
  readonly kind: 'orphan-rows'
  /** The database's own key of the thread. */
  readonly key: string
  readonly rows: number
}

/** The steps to repair one thread, planned at `expectedSeq`. */
export interface RepairRequest {
  readonly threadId: ThreadId
  readonly expectedSeq: Seq
  /** As with an append: refused as `stale` if the thread is another one under the same id (OP6). */
  readonly incarnation?: string | undefined
  readonly at: number
  readonly steps: readonly RepairStep[]
}

/** One change of one row. `problem` and `note` go into the record, with the row as it was before. */
export type RepairStep = RowChange & { readonly problem: string; readonly note: string }

/** A change of one row. */
export type RowChange =
  | {
      readonly kind: 'set-call'
      readonly callId: CallId
      readonly lifecycle?: CallLifecycle
      readonly dropsOutput?: true
      /** Columns that are not JSON become JSON strings of their text. */
      readonly quotes?: readonly ('input' | 'output' | 'modelOutput')[]
    }
  | {
      readonly kind: 'add-call'
      readonly callId: CallId
      readonly turn: TurnRef
      /** Its order among the calls of its turn, as `planCommit` numbers them. */
      readonly seq: Seq
      readonly name: string
      readonly lifecycle: CallLifecycle
      readonly input: string | null
    }
  | { readonly kind: 'remove-call'; readonly callId: CallId }
  | {
      readonly kind: 'set-message'
      readonly seq: Seq
      readonly status?: TurnStatus
      readonly body?: string
      readonly isOpen?: true
      readonly parentSeq?: Seq
      /** As JSON text. */
      readonly versions?: string | null
    }
  /** Renames the turn at this seq, and every row that refers to it by its id. */
  | { readonly kind: 'rename-turn'; readonly turn: TurnRef; readonly to: MessageId }
  /** Written in place of the event with this seq, if there is one, as a row of its own. */
  | {
      readonly kind: 'set-event'
      readonly seq: Seq
      readonly turn: TurnRef | null
      readonly at: number
      readonly payload: string
    }
  | { readonly kind: 'remove-event'; readonly seq: Seq }
  | { readonly kind: 'set-seq'; readonly seq: Seq }
  /** The waiting inputs, as JSON text. */
  | { readonly kind: 'set-queue'; readonly queue: string }
  /** Records that the thread refers to a file, if the file is there and belongs to its owner, or that it does not. */
  | { readonly kind: 'use-file' | 'release-file'; readonly fileId: FileId }
  /** Writes only the record: the repair itself was an append. */
  | { readonly kind: 'record' }
