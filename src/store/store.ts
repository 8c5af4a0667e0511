import type { Call } from '../core/call.ts'
import type { Change } from '../core/fold-thread.ts'
import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import type { JsonObject } from '../core/json.ts'
import type { Message, Turn } from '../core/message.ts'
import type { InputQueue } from '../core/queued-input.ts'
import type { ThreadPlace } from '../core/thread-place.ts'
import type { ListedThread, ThreadRecord } from '../core/thread.ts'
import type { FileStore } from '../files/file-store.ts'
import type { StoreAudit } from './audit.ts'
import type { FileRecords } from './file-records.ts'
import type { Appended, AppendRefusal, RunToStop, ThreadPrecondition } from './lease.ts'
import type { PlaceEvidence } from './place-evidence.ts'
import type { IllegalAppend, PlannedCommit } from './plan-commit.ts'
import type { ShareRecords } from './share-records.ts'
import type { SearchIndex } from './search.ts'
import type { RewriteResult, ThreadRewrite } from './plan-rewrite.ts'
import type { VersionPath } from './version-path.ts'
import type { WholeThread } from './whole-thread.ts'

/**
 * The port to a database. Each verb is atomic and coarse, so no caller can hold a transaction over a network call, and a
 * synchronous SQLite and an asynchronous PostgreSQL fit the same interface.
 *
 * An outcome that a caller must handle is in the result; a fault (the database is gone, locked, of a newer version) is
 * thrown as a `HoldfastError`. Either way nothing of a refused write is stored.
 */
export interface Store {
  /** The name of the database, for logs and messages: `sqlite`, `postgres`, `memory`. */
  readonly kind: string
  /** A name of this process, by which the store can detect that the process died, where that is possible. */
  holder?(): string

  /** Creates a thread without events. An id that is in use changes nothing. */
  createThread(thread: NewThread): Promise<CreateThreadResult>
  /** Null if it does not exist. */
  readThread(id: ThreadId): Promise<ThreadRecord | null>
  /** Newest activity first. */
  listThreads(query: ThreadListQuery): Promise<ThreadList>
  /**
   * Replaces the metadata if it is still `from` (compared as JSON text), and changes nothing else: no seq, no
   * position in the list, no notification.
   */
  setThreadMetadata(change: MetadataChange): Promise<'set' | 'stale' | 'no-thread'>
  /**
   * Deletes the thread with everything in it, and returns how much that was; null if it does not exist, or is not as
   * `only` says.
   */
  deleteThread(id: ThreadId, only?: ThreadPrecondition): Promise<DeletedThread | null>

  /**
   * Group commit: one flush for all appends that are ready, of any threads. Each append is stored whole or refused by
   * itself; several of one thread are written in order. Returns one result per append.
   *
   * A store compares the preconditions of each append with the thread's row (`judgeAppend`) and writes the rows that
   * `planCommit` has planned, or nothing. When it throws, it is unknown what was stored.
   */
  commit(commits: readonly PlannedCommit[]): Promise<readonly AppendResult[]>

  /**
   * Deletes everything of a thread from a seq on, for good, and appends other events in its place, in one
   * transaction. The deleted ids may be used again. The first event is the `messages-retired` that readers
   * receive. Imports need it, because a later file may contain messages that belong before imported ones;
   * with a store that lacks it, an import appends in the order of arrival.
   */
  rewriteThread?(rewrite: ThreadRewrite): Promise<RewriteResult>

  /**
   * Creates a thread with many messages, where one commit of all would block every other writer: it is written portion
   * by portion, and no reader sees any of it before all of it is stored. If the process dies, nothing of it stays.
   * `exists`: the id is in use, and nothing was changed. Without this verb such a thread is one commit.
   */
  createWhole?(thread: WholeThread): Promise<'created' | 'exists'>

  /** One consistent read; null if the thread does not exist. */
  readPage(query: PageQuery): Promise<Page | null>
  /** The changes after a seq, in order. Null if the thread does not exist. */
  readChanges(query: ChangesQuery): Promise<Changes | null>
  /**
   * What is stored at a seq, by which a place of another history is recognised (OP6); null if the thread does
   * not exist. Without this verb every place counts as one of this history.
   */
  readPlace?(threadId: ThreadId, seq: Seq): Promise<PlaceEvidence | null>
  /**
   * The seq and the incarnation of each thread, in one read; a thread that does not exist is left out. For a
   * store that can lose the notification of a commit for good, as when the process dies between the two: the
   * engine checks followed threads with it every few seconds. A store that never loses one need not have it.
   */
  readSeqs?(ids: readonly ThreadId[]): Promise<ReadonlyMap<ThreadId, StoredSeq>>
  /**
   * What has to be hidden and shown for a message to be shown (VR2), by the id of a version or of any message
   * on a hidden path. The cost is bounded by the size of the result. Null if there is no such message, or it
   * was withdrawn.
   */
  readPath(threadId: ThreadId, target: string): Promise<VersionPath | null>
  /**
   * Retired messages too; of several with one id, the one that is shown, or else the newest.
   * `results`: default `full`.
   */
  readMessage(
    threadId: ThreadId,
    messageId: MessageId,
    results?: ResultMode,
  ): Promise<Message | null>
  /**
   * What became of an input that has no message of its own: the turn that it joined, or null if it was withdrawn. Null if
   * there was no such input. One look-up by its id. With a store that lacks it, an input that joined a turn further back
   * than the newest messages counts as new when it is sent again (IN6).
   */
  findInput?(threadId: ThreadId, messageId: MessageId): Promise<FoundInput | null>
  /** Ids of turns are globally unique, so a turn can be found without its thread. */
  findTurn(messageId: MessageId, results?: ResultMode): Promise<FoundTurn | null>
  /** `results` applies to the other calls of the turn; the requested call is complete. */
  readCall(threadId: ThreadId, callId: CallId, results?: ResultMode): Promise<FoundCall | null>

  /**
   * Requests that the run of the thread stops. Its holder sees the request in the result of its next commit,
   * or by a notification. `only`: requests it only of such a run; otherwise nothing is written and the result is `idle`.
   */
  requestStop(threadId: ThreadId, only?: RunToStop): Promise<StopRequest>
  /**
   * Runs whose holder is dead or whose lease has expired, which any process may take over. `only`: those of
   * one thread.
   */
  findAbandonedRuns(limit: number, only?: ThreadId): Promise<readonly AbandonedRun[]>

  /**
   * Calls the listener when a thread changed, by any process on the same database. A notification may come late, twice,
   * or not at all (its connection is down, its sender died): the listener reads what is after its last seq, whatever the
   * notification contains.
   *
   * `followed`: the threads that this listener follows at the moment. A store that cannot receive notifications of other
   * processes polls the seqs of these threads, with one statement for all; a listener without `followed` then gets, again
   * and again, the notification that anything may have changed.
   */
  watch(
    listener: (notification: ChangeNotification) => void,
    followed?: () => Iterable<ThreadId>,
  ): () => void
  /**
   * Migrates the tables, as the first use of the store would: for a step before a deploy, with an account
   * that may alter tables. A store without tables does not have it.
   */
  migrate?(options?: MigrateOptions): Promise<MigrationResult>
  /**
   * What keeps this store from serving, as far as it has noticed by itself: for the readiness check of the
   * server, which tries with a write whether a disk that looks full is. Null: nothing. It makes no request, so it returns at
   * once.
   */
  problem?(): StoreProblem | null
  /** The index of search; without it a search fails with `no-search`. */
  readonly search?: SearchIndex
  /** The raw rows, for `holdfast check`; a store without it is not checked. */
  readonly audit?: StoreAudit
  /** The rows of files; a store without it accepts no files. */
  readonly files?: FileRecords
  /** Links to threads; without it sharing fails with `no-shares`. */
  readonly shares?: ShareRecords
  /** The file store that is used unless the host configures another. */
  readonly defaultFileStore?: () => FileStore
  /** Closes its connections. Every call after it rejects with `store-closed`; a second `close` does nothing. */
  close(): Promise<void>
}

/** Options of `Store.migrate`. */
export interface MigrateOptions {
  /**
   * Into how many partitions each table is split by the hash of the thread (PostgreSQL). Tables that are not partitioned
   * yet are copied under an exclusive lock.
   * @default they stay as they are
   */
  readonly partitions?: number
}

/** The versions of the tables before and after; 0: there were none. Equal: there was nothing to migrate. */
export interface MigrationResult {
  readonly from: number
  readonly to: number
}

/**
 * `listener-down`: notifications of other processes have not arrived for a while, and the store polls instead.
 * `store-full`: there is next to no room left on the disk.
 */
export type StoreProblem = 'listener-down' | 'store-full'

/** A thread to create. */
export interface NewThread {
  readonly id: ThreadId
  readonly ownerId: OwnerId
  readonly title: string
  /** See `ThreadToCreate`. */
  readonly isPlaceholder?: true
  /** Default: none. */
  readonly metadata?: JsonObject
  readonly at: number
}
/** `created`, `exists` with the owner's own thread, or `taken`. */
export type CreateThreadResult =
  | { readonly kind: 'created' | 'exists'; readonly thread: ThreadRecord }
  /** The id belongs to another owner. */
  | { readonly kind: 'taken' }

/** A change of a thread's metadata, which is made only if they are still `from`. */
export interface MetadataChange {
  readonly threadId: ThreadId
  /** Of the thread that the writer has read: another one under its id is `stale`. Default: any. */
  readonly incarnation?: string | undefined
  /** The metadata that the writer has read. */
  readonly from: JsonObject
  readonly to: JsonObject
}

/** How much a deletion removed. */
export interface DeletedThread {
  /** Messages and turns, including replaced ones. */
  readonly messages: number
}

/** A page of the threads of one owner. */
export interface ThreadListQuery {
  readonly ownerId: OwnerId
  readonly limit: number
  /** The `activity` of the last thread of the page before. */
  readonly before: number | null
  /** @default all there are */
  readonly filter?: ThreadFilter
}
/** Which threads of an owner (FK2). The cost of a page does not grow with the threads that it leaves out. */
export interface ThreadFilter {
  /** True: those in the archive. False: those that are not. */
  readonly archived: boolean
  /** Of those, the pinned ones. @default pinned or not */
  readonly pinned?: true
}
/** A page of threads, newest activity first. */
export interface ThreadList {
  readonly threads: readonly ListedThread[]
  readonly hasMore: boolean
}

/** The result of one append of a group. */
export type AppendResult =
  | Appended
  | AppendRefusal
  /** An id is in use in this thread, so the database refused the rows. Nothing was stored. */
  | IllegalAppend
  /**
   * Another transaction holds the thread's row. Nothing was stored, and no other append waited for it; try
   * again. `isInDoubt`: an earlier attempt of the same planned commit got no answer, and may hold the row itself: it may
   * still be stored.
   */
  | { readonly kind: 'busy'; readonly isInDoubt?: boolean }

/** A page of the messages of one thread. */
export interface PageQuery {
  readonly threadId: ThreadId
  readonly limit: number
  /** The position in the page's order at which the page before ended: only messages after it are read. */
  readonly before: Seq | null
  /** The seq of the message that the page before ended at: the page returns that message's id as its `edge`. */
  readonly edge?: Seq
  /** Default: newest first. */
  readonly order?: PageOrder
  /** `exclude` leaves out the running turn. */
  readonly live: 'include' | 'exclude'
  readonly results: ResultMode
  /**
   * About how many bytes of JSON to read at most: the page ends before the message that would exceed it, and
   * has `hasMore`. Its first message is returned whatever its size. Default: no bound.
   */
  readonly maxBytes?: number
}
/** The order of a page's messages. */
export type PageOrder = 'newest-first' | 'oldest-first'
/**
 * `none`: the reader needs the texts alone, and a store leaves out every result that it would have to read, at least
 * those over 16 kB; it need not know their sizes, which are then 0, nor the arguments of calls. `lazy` leaves out results over 16 kB (PG7). `bounded` does the same in a turn that is larger than
 * `largestTurnBytes` with them, and is `full` in every other (OP7).
 */
export type ResultMode = 'full' | 'bounded' | 'lazy' | 'none'

/** A page of messages, from one consistent read. */
export interface Page {
  readonly ownerId: OwnerId
  readonly seq: Seq
  readonly messages: readonly Message[]
  readonly hasMore: boolean
  /** The running turn that `live: 'exclude'` left out. */
  readonly live: MessageId | null
  /** Approximate size of its messages as JSON; set where `maxBytes` was. */
  readonly bytes?: number
  /** The place of the thread's end at this read (OP6). */
  readonly place?: ThreadPlace
  /** The id of the message at `PageQuery.edge`; null if there is none any more. */
  readonly edge?: MessageId | null
  /** The inputs that wait for their turn (IN2). */
  readonly queue: InputQueue
}

/** The changes of one thread after a seq. */
export interface ChangesQuery {
  readonly threadId: ThreadId
  readonly after: Seq
  /** About how many rows to read at most; the rest follows with the next call. */
  readonly limit: number
  readonly results: ResultMode
  /** The same in bytes of JSON; the first change is returned whatever its size. Default: no bound. */
  readonly maxBytes?: number
}
/** How far a thread has come. */
export interface StoredSeq {
  readonly seq: Seq
  /** The incarnation of the thread (OP6): the seq of another one with the same id says nothing about this one. */
  readonly incarnation?: string
}
/** Changes of a thread in order, from one consistent read. */
export interface Changes {
  /** The thread's seq at this read. */
  readonly seq: Seq
  /** The seq up to which `changes` is complete; equal to `seq` unless a limit cut it. */
  readonly reached: Seq
  readonly changes: readonly StoredChange[]
  /** The incarnation of the thread (OP6). */
  readonly incarnation?: string
  /** The inputs that wait at `seq` (IN2). */
  readonly queue: InputQueue
}
/** `commit` is the last seq of the commit that the change was part of, and `mark` the mark of that commit. */
export type StoredChange = Change & { readonly commit: Seq; readonly mark?: string }

/** What became of an input. */
export interface FoundInput {
  /** The turn that it joined; null: it was withdrawn. */
  readonly turnId: MessageId | null
}

/** A turn with the thread's seq at that read, so that a writer can append to it without another read. */
export interface FoundTurn {
  readonly threadId: ThreadId
  readonly ownerId: OwnerId
  readonly seq: Seq
  /** The incarnation of the thread (OP6). */
  readonly incarnation?: string
  readonly turn: Turn
  /** The inputs that wait at `seq` (IN2). */
  readonly queue: InputQueue
}
/** A call with its turn. */
export interface FoundCall extends FoundTurn {
  readonly call: Call
}

/** `requested`: the run of this turn is to stop. `idle`: no run, or not the one that was named. */
export type StopRequest =
  | { readonly kind: 'requested'; readonly turnId: MessageId; readonly fence: number }
  | { readonly kind: 'idle' }
  | { readonly kind: 'no-thread' }

/** A run whose holder is dead or whose lease has expired. */
export interface AbandonedRun {
  readonly threadId: ThreadId
  readonly turnId: MessageId
  readonly holder: string
  readonly fence: number
}

/** That a thread changed. It carries no content: listeners read what is after their last seq. */
export interface ChangeNotification {
  /** Null: the connection was down, any thread may have changed, and every follower has to read again. */
  readonly threadId: ThreadId | null
  /** 0: the thread was deleted. */
  readonly seq: Seq
  /**
   * With seq 0: which of the threads that have had this id was deleted. The notification may arrive after another was
   * created under the same id, whose followers must not end. Absent: the one that exists when the notification arrives.
   */
  readonly incarnation?: string
  /** A stop of this thread's run was requested. Its holder also sees it in the result of its next commit. */
  readonly stop?: true
}

/** Results above this many bytes of JSON are left out of lazy reads. */
export const lazyBytes = 16_000

/**
 * In bounded reads, a turn or an event that is larger than this with its results comes without those over
 * `lazyBytes`. Otherwise one turn of 60 MB would be built for each of its readers (OP7).
 */
export const largestTurnBytes = 4_194_304
