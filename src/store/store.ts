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
import type { Appended, AppendRefusal } from './lease.ts'
import type { PlaceEvidence } from './place-evidence.ts'
import type { IllegalAppend, PlannedCommit } from './plan-commit.ts'
import type { ShareRecords } from './share-records.ts'
import type { SearchIndex } from './search.ts'
import type { RewriteResult, ThreadRewrite } from './plan-rewrite.ts'
import type { VersionPath } from './version-path.ts'

/**
 * The port to a database. Each verb is atomic and coarse, so nobody can hold a transaction over a
 * network call, and a synchronous SQLite and an asynchronous PostgreSQL fit the same interface.
 *
 * An outcome that a caller must handle is in the result; a fault (the database is gone, locked, of a
 * newer version) is thrown as a `HoldfastError`. Either way nothing of a refused write is stored.
 */
export interface Store {
  readonly kind: string
  /** A name for this process by which the store can tell that it is dead, where it can. */
  holder?(): string

  createThread(thread: NewThread): Promise<CreateThreadResult>
  readThread(id: ThreadId): Promise<ThreadRecord | null>
  /** Newest activity first. */
  listThreads(query: ThreadListQuery): Promise<ThreadList>
  /**
   * Replaces the metadata if it is still what the writer read (compared as JSON text), and changes nothing else: no
   * seq, no place in the list, no notification.
   */
  setThreadMetadata(change: MetadataChange): Promise<'set' | 'stale' | 'no-thread'>
  /** Removes all of it, and says how much that was; null if there was none. */
  deleteThread(id: ThreadId): Promise<DeletedThread | null>

  /**
   * Group commit: one flush for whatever is waiting in all threads. Each append is stored whole or is
   * refused by itself; several of one thread are taken in order. One result each.
   *
   * A store compares where each append stands with the thread's row (`judgeAppend`) and writes the rows
   * that `planCommit` has planned, or nothing. When it throws, it may not know what was stored.
   */
  commit(commits: readonly PlannedCommit[]): Promise<readonly AppendResult[]>

  /**
   * Takes everything of a thread out from a number on, for good, and appends what is to stand there
   * instead: all of it in one transaction, or nothing. Ids are free again for what comes back. The
   * first event is the `messages-retired` that tells readers. For imports, which may bring what
   * belongs before what they brought; a store without it imports in the order that things come.
   */
  rewriteThread?(rewrite: ThreadRewrite): Promise<RewriteResult>

  /**
   * For a thread that is made with much in it, where one commit of all would hold up everybody else: written in many
   * commits that nobody sees, and then shown at once. Without it such a thread is one commit.
   */
  readonly staging?: ThreadStaging

  /** One consistent read; null if there is no such thread. */
  readPage(query: PageQuery): Promise<Page | null>
  /** What happened after a seq, in order. Null if there is no such thread. */
  readChanges(query: ChangesQuery): Promise<Changes | null>
  /**
   * What is at a seq, by which a place of another history is told apart (OP6); null if there is no such
   * thread. Without this verb every place is taken for one of this history.
   */
  readPlace?(threadId: ThreadId, seq: Seq): Promise<PlaceEvidence | null>
  /**
   * The seq of each thread, in one read; a thread that is not there is left out. For a store whose notification of a
   * commit can be lost for good, as when the process dies between the two: followers are checked by it every few
   * seconds. A store that loses none has no need of it.
   */
  readSeqs?(ids: readonly ThreadId[]): Promise<ReadonlyMap<ThreadId, Seq>>
  /**
   * What has to be hidden and shown for a message to be shown (VR2), by the id of a version or of any message on a
   * hidden path. Its cost is bounded by what it finds. Null if there is no such message, or it was withdrawn.
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
  /** Turns have ids that are unique everywhere, so a turn can be found without its thread. */
  findTurn(messageId: MessageId, results?: ResultMode): Promise<FoundTurn | null>
  /** `results` is for the other calls of its turn; what was asked for is whole. */
  readCall(threadId: ThreadId, callId: CallId, results?: ResultMode): Promise<FoundCall | null>

  /**
   * Asks the holder of the run to stop. It sees this in the result of its next commit, or by a notification. `only`: if
   * it is this turn that is run, or else nobody is asked, and the thread counts as idle.
   */
  requestStop(threadId: ThreadId, only?: MessageId): Promise<StopRequest>
  /** Runs whose holder is dead or late: anyone may take them over. In one thread, if it is named. */
  findAbandonedRuns(limit: number, only?: ThreadId): Promise<readonly AbandonedRun[]>

  /**
   * Notifications that a thread changed, from any process on the same database. A notification may come late, twice,
   * or not at all (its connection is down, its sender died): read what is after your last seq, whatever it says.
   *
   * `followed`: which threads this listener cares for right now. A store that cannot be told of the changes of
   * other processes asks for those of these threads, with one statement for all; a listener that does not say it
   * is then told again and again that anything may have changed.
   */
  watch(
    listener: (notification: ChangeNotification) => void,
    followed?: () => Iterable<ThreadId>,
  ): () => void
  /**
   * Brings the tables up to date, which the first use of the store does as well: ahead of a deploy, with an
   * account that may. A store without tables has nothing of the kind.
   */
  migrate?(options?: MigrateOptions): Promise<MigrationResult>
  /**
   * What keeps this store from serving, as far as it has noticed by itself: a word for whoever asks
   * whether the server is ready. Null: nothing. Asks nobody, so it answers at once.
   */
  problem?(): StoreProblem | null
  /** What search looks in; without it nothing can be searched for here (`no-search`). */
  readonly search?: SearchIndex
  /** The rows themselves, for `holdfast check`; a store that has none is not checked. */
  readonly audit?: StoreAudit
  /** What is known of files; a store without it takes none. */
  readonly files?: FileRecords
  /** Links to threads; without it nothing can be shared (`no-shares`). */
  readonly shares?: ShareRecords
  /** Where the bytes of files go unless the host says otherwise. */
  readonly defaultFileStore?: () => FileStore
  close(): Promise<void>
}

/** How a thread is held back until all of it is there. */
export interface ThreadStaging {
  /** Whose it is until then: nobody's. What is not published within the hour is removed. */
  readonly ownerId: OwnerId
  /** From now on it has this id and owner, in one transaction. `exists`: the id is somebody's, and nothing was changed. */
  publish(
    staged: ThreadId,
    as: { readonly id: ThreadId; readonly ownerId: OwnerId },
  ): Promise<'published' | 'exists' | 'no-thread'>
}

export interface MigrateOptions {
  /**
   * Over how many parts each table is spread by the hash of the thread (PostgreSQL). Tables that are not spread yet
   * are copied, while nobody else can use them.
   * @default they stay as they are
   */
  readonly partitions?: number
}

/** The versions of the tables before and after; 0: there were none. The same twice: nothing was to be done. */
export interface MigrationResult {
  readonly from: number
  readonly to: number
}

/** `listener-down`: changes of other processes have not been heard of for a while, and are polled for. */
export type StoreProblem = 'listener-down'

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
export type CreateThreadResult =
  | { readonly kind: 'created' | 'exists'; readonly thread: ThreadRecord }
  /** The id belongs to another owner. */
  | { readonly kind: 'taken' }

export interface MetadataChange {
  readonly threadId: ThreadId
  /** As it was read. */
  readonly from: JsonObject
  readonly to: JsonObject
}

export interface DeletedThread {
  /** Messages and turns, those that had been replaced too. */
  readonly messages: number
}

export interface ThreadListQuery {
  readonly ownerId: OwnerId
  readonly limit: number
  /** The `activity` of the last thread of the page before. */
  readonly before: number | null
  /** @default all there are */
  readonly filter?: ThreadFilter
}
/** Which threads of an owner (FK2). A page of them costs what it has, however many others there are. */
export interface ThreadFilter {
  /** Those in the archive, or those that are not. */
  readonly archived: boolean
  /** Of those, the pinned ones. @default pinned or not */
  readonly pinned?: true
}
export interface ThreadList {
  readonly threads: readonly ListedThread[]
  readonly hasMore: boolean
}

export type AppendResult =
  | Appended
  | AppendRefusal
  /** The database will not take these rows: an id is in use in this thread. Nothing was stored. */
  | IllegalAppend
  /** Somebody holds the thread's row. Nothing was stored, and nobody else waited for it; try again. */
  | { readonly kind: 'busy' }

export interface PageQuery {
  readonly threadId: ThreadId
  readonly limit: number
  /** Only what comes after this place in the page's order: where the page before ended. */
  readonly before: Seq | null
  /** The place of the message that the page before ended at: the page says which message that is. */
  readonly edge?: Seq
  /** Default: newest first. */
  readonly order?: PageOrder
  /** `exclude` leaves out the turn that is being produced. */
  readonly live: 'include' | 'exclude'
  readonly results: ResultMode
  /**
   * About how many bytes of JSON to read at most: the page ends before the message that would go beyond
   * it, and has more. Its first message is there whatever its size. Default: no bound.
   */
  readonly maxBytes?: number
}
export type PageOrder = 'newest-first' | 'oldest-first'
/**
 * `lazy` leaves out results over 16 kB (PG7). `bounded` does the same in a turn that is larger than
 * `largestTurnBytes` with them, and is `full` in every other (OP7).
 */
export type ResultMode = 'full' | 'bounded' | 'lazy'

export interface Page {
  readonly ownerId: OwnerId
  readonly seq: Seq
  readonly messages: readonly Message[]
  readonly hasMore: boolean
  /** The turn that `live: 'exclude'` left out. */
  readonly live: MessageId | null
  /** About how long its messages are as JSON; given where `maxBytes` was. */
  readonly bytes?: number
  /** Where the thread stands at this read (OP6). */
  readonly place?: ThreadPlace
  /** What begins at `PageQuery.edge`; null if nothing does any more. */
  readonly edge?: MessageId | null
  /** The inputs that wait for their turn (IN2). */
  readonly queue: InputQueue
}

export interface ChangesQuery {
  readonly threadId: ThreadId
  readonly after: Seq
  /** About how many rows to read at most; the rest comes with the next call. */
  readonly limit: number
  readonly results: ResultMode
  /** The same in bytes of JSON; the first change is there whatever its size. Default: no bound. */
  readonly maxBytes?: number
}
export interface Changes {
  /** The thread's seq at this read. */
  readonly seq: Seq
  /** The seq up to which `changes` is everything; equal to `seq` unless a limit cut it. */
  readonly reached: Seq
  readonly changes: readonly StoredChange[]
  /** Which of the threads that have had this id it is (OP6). */
  readonly incarnation?: string
  /** The inputs that wait at `seq` (IN2). */
  readonly queue: InputQueue
}
/** `commit` is the last seq of the commit that a change was part of, and `mark` what was drawn for it. */
export type StoredChange = Change & { readonly commit: Seq; readonly mark?: string }

/** With the thread's seq at that read: what was found can be written about without another look. */
export interface FoundTurn {
  readonly threadId: ThreadId
  readonly ownerId: OwnerId
  readonly seq: Seq
  readonly turn: Turn
  /** The inputs that wait at `seq` (IN2). */
  readonly queue: InputQueue
}
export interface FoundCall extends FoundTurn {
  readonly call: Call
}

export type StopRequest =
  | { readonly kind: 'requested'; readonly turnId: MessageId; readonly fence: number }
  | { readonly kind: 'idle' }
  | { readonly kind: 'no-thread' }

export interface AbandonedRun {
  readonly threadId: ThreadId
  readonly turnId: MessageId
  readonly holder: string
  readonly fence: number
}

export interface ChangeNotification {
  /** Null: the line was down, anything may have changed, everyone reads again. */
  readonly threadId: ThreadId | null
  /** 0: the thread was deleted. */
  readonly seq: Seq
  /** Somebody asked the run of this thread to stop. Its holder also learns it from its next commit. */
  readonly stop?: true
}

/** Results above this many bytes of JSON are left out of lazy reads. */
export const lazyBytes = 16_000

/**
 * A turn, or an event, that is larger than this with its results comes without those over `lazyBytes` in
 * bounded reads. Without it one turn of 60 MB would be built for each of its readers (OP7).
 */
export const largestTurnBytes = 4_194_304
