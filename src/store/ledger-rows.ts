import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import type { TurnStatus, UserMessage } from '../core/message.ts'
import type { MessageVersion } from '../core/versions.ts'
import type { EventBatch } from './event-batch.ts'
import type { LargeOutputs } from './large-outputs.ts'
import type { PlaceEvidence } from './place-evidence.ts'
import type { ChangesQuery, PageQuery } from './store.ts'
import type { StoredCall } from './turn-snapshot.ts'
import type { VersionPath } from './version-path.ts'

/** The rows that one read of a database returns: of one snapshot, sorted by table, each in order of seq. */
export interface LedgerRows {
  readonly thread: ThreadRow | undefined
  readonly messages: readonly MessageRow[]
  readonly batches: readonly BatchRow[]
  readonly calls: readonly StoredCallRow[]
  /** The seq of the first row that was left out because the rows before it reached `maxBytes`. */
  readonly unread: Seq | null
}

/** What is read of a thread that does not exist. */
export const noLedgerRows: LedgerRows = {
  thread: undefined,
  messages: [],
  batches: [],
  calls: [],
  unread: null,
}

/** The columns of a thread that reads of its content need. */
export interface ThreadRow {
  readonly threadId: ThreadId
  readonly ownerId: OwnerId
  readonly seq: Seq
  readonly incarnation: string
  /** The mark of its newest commit. */
  readonly mark: string
  /** The waiting inputs, as JSON text. */
  readonly queue: string
  /** The turn that is running, where the query asks for it. */
  readonly live: MessageId | null
  /** The newest message or turn, shown or not, and the one at `PageQuery.edge`. Only a page reads these. */
  readonly newest: MessageId | null
  readonly edge: MessageId | null
}

/** A row of `messages`: a user's message, or a turn with its snapshot if it has one. */
export interface MessageRow {
  readonly id: MessageId
  readonly role: UserMessage['role'] | 'assistant'
  readonly status: TurnStatus | null
  readonly seq: Seq
  readonly bodySeq: Seq | null
  readonly commitSeq: Seq
  /** The mark of the commit that inserted the row, or that wrote its body. */
  readonly mark: string
  readonly at: number
  readonly body: string | null
  /** All versions of the message, including itself (VR1); null if it has no others. */
  readonly versions: readonly MessageVersion[] | null
}

/** A row of `events`. */
export interface BatchRow extends EventBatch {
  readonly commitSeq: Seq
  readonly mark: string
}

/** A row of `calls` with its turn. */
export interface StoredCallRow extends StoredCall {
  readonly turnId: MessageId
}

/**
 * The reads that a database implements. `mostBytes`: a larger output is left out, and the row has its length
 * only; with `noCalls`, the calls of snapshots need not be read. `maxBytes`: a row is left out once the rows
 * before it have this many bytes together.
 */
export interface LedgerSource {
  /** `places`: how many messages to read; events and calls are read for the first `limit` of them. */
  readPageRows(query: PageQuery & PageRead): Promise<LedgerRows>
  /** Messages by the seq of their body, batches, and the calls that get a result in them. */
  readChangeRows(query: ChangesQuery & MostBytes): Promise<LedgerRows>
  readMessageRows(threadId: ThreadId, id: MessageId, mostBytes: number): Promise<LedgerRows>
  readTurnRows(id: MessageId, mostBytes: number): Promise<LedgerRows>
  /** The turn that contains the call; a call without a row belongs to a running turn. */
  readCallRows(threadId: ThreadId, id: CallId, mostBytes: number): Promise<LedgerRows>
  /** See `Store.readPath`. */
  readPath(threadId: ThreadId, target: string): Promise<VersionPath | null>
  /** See `Store.readPlace`. */
  readPlace(threadId: ThreadId, seq: Seq): Promise<PlaceEvidence | null>
  /** Outputs of any size. Their calls have ended, so they do not change between two reads. */
  readOutputs(threadId: ThreadId, ids: readonly CallId[]): Promise<LargeOutputs>
}
/** The limits of a read in bytes: see `LedgerSource`. */
export interface MostBytes {
  readonly mostBytes: number
  readonly maxBytes: number
}
/** The limits of a page's read: see `LedgerSource.readPageRows`. */
export interface PageRead extends MostBytes {
  readonly places: number
}

/** The `mostBytes` of a reader that needs the texts alone: a turn may have thousands of calls. */
export const noCalls = -1
