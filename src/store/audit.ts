import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import type { CallLifecycle } from '../core/lifecycle.ts'
import type { TurnStatus } from '../core/message.ts'
import type { ListedThread } from '../core/thread.ts'

/**
 * What `holdfast check` needs of a database: its rows as they are, and verbs to mend them. Only the check reads
 * rows without the fold: what people see must come from events alone, or a reload could differ from the live view.
 */
export interface StoreAudit {
  /** Of these turns, the ones that exist, and where. */
  findTurns(ids: readonly MessageId[]): Promise<readonly TurnHome[]>
  /**
   * The turns of ids that several turns have, id by id; of each id the one that keeps it first: one that is running or
   * was retired, then the oldest. Two of one thread are no damage: an id is unique among what is shown.
   */
  findSharedTurns(): Promise<readonly TurnHome[]>
  /** Every thread of every owner. */
  listThreads(): AsyncIterable<ListedThread>
  /** All rows of one snapshot, thread by thread, in order of seq; of one thread, if named. */
  scan(only?: ThreadId): AsyncIterable<readonly AuditRow[]>
  /** What the database says of its own files. */
  findFaults(): Promise<readonly string[]>
  /** All steps or none, with a record of each; refused if the thread has moved on since it was read. */
  repair(request: RepairRequest): Promise<'repaired' | 'stale'>
  /** Removes the rows of a thread that does not exist, and keeps them in the record. */
  removeOrphans(key: string, at: number): Promise<void>
  /** Closes its connections. The store calls this when it is closed. */
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
  readonly ownerId: OwnerId
  readonly seq: Seq
  /** The inputs that wait, as JSON text. */
  readonly queue: string
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
  /** No longer shown, by an event that names its id. */
  readonly isRetired: boolean
  /** Of one that is hidden: the place of the message that it followed. See `PathRow`. */
  readonly parentSeq: Seq | null
  /** Itself and its siblings, as JSON text. */
  readonly versions: string | null
  readonly calls: readonly AuditCall[]
}

/** One event, read out of its batch. */
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
/** A turn, by its id and by its place: one database names it by the one, another by the other. */
export interface TurnRef {
  readonly turnId: MessageId
  readonly seq: Seq
}
export interface AuditEventTurn extends TurnRef {
  readonly bodySeq: Seq | null
}

/** A column of JSON text: not there, readable, or not. */
export type JsonColumn = 'none' | 'json' | 'broken'

export interface AuditCall {
  readonly callId: CallId
  readonly name: string
  readonly lifecycle: CallLifecycle
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
  /** The turn at a place, and all that is in it, under another id. */
  | { readonly kind: 'rename-turn'; readonly turn: TurnRef; readonly to: MessageId }
  /** Put in the place of what stood there, if anything did, and outside of any batch. */
  | {
      readonly kind: 'set-event'
      readonly seq: Seq
      readonly turn: TurnRef | null
      readonly at: number
      readonly payload: string
    }
  | { readonly kind: 'remove-event'; readonly seq: Seq }
  | { readonly kind: 'set-seq'; readonly seq: Seq }
  /** The inputs that wait, as JSON text. */
  | { readonly kind: 'set-queue'; readonly queue: string }
  /** Only the record: what was mended was mended by an append. */
  | { readonly kind: 'record' }
