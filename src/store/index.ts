import '../assert-node.ts'
export type {
  IndexedText,
  IndexedTexts,
  SearchHit,
  SearchIndex,
  SearchPlace,
  SearchQuery,
  UnreadThread,
} from './search.ts'
export {
  parseSearchTerms,
  type SearchTerms,
  searchTextOf,
  toSearchWords,
} from '../views/search-text.ts'
export { type ErrorCode, HoldfastError, type HoldfastErrorOptions } from '../core/holdfast-error.ts'
export type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
export type { CallLifecycle } from '../core/lifecycle.ts'
export type { ForkOrigin, ListedThread, ThreadRecord } from '../core/thread.ts'
export { type MessageVersion, parseVersionId, type VersionRef } from '../core/versions.ts'
export { changedThreads, commitGroup } from './commit-group.ts'
export type { EventBatch } from './event-batch.ts'
export {
  type AppendClaim,
  type Appended,
  type AppendRefusal,
  isHeld,
  type IsHolderAlive,
  isRunToStop,
  isStale,
  judgeAppend,
  type LeaseClock,
  type LeaseUse,
  type RunToStop,
  newThreadHead,
  type ThreadHead,
  type ThreadPrecondition,
  toAppended,
  useLease,
} from './lease.ts'
export { createLedgerReader, type LedgerReader } from './ledger-reader.ts'
export type {
  BatchRow,
  LedgerRows,
  LedgerSource,
  MessageRow,
  MostBytes,
  PageRead,
  StoredCallRow,
  ThreadRow,
} from './ledger-rows.ts'
export type { LargeOutputs } from './large-outputs.ts'
export { createLocalNotifier, type LocalNotifier } from './local-notifier.ts'
export { drawMark, markOf, type PlaceEvidence } from './place-evidence.ts'
export {
  type Append,
  type ChangedMessageRow,
  type IllegalAppend,
  type NewMessageRow,
  planCommit,
  type PlannedBatch,
  type PlannedCallRow,
  type PlannedInput,
  type PlannedCommit,
  type ThreadToCreate,
} from './plan-commit.ts'
export {
  judgeRewrite,
  planRewrite,
  type RewriteResult,
  type RewrittenHead,
  type ThreadRewrite,
  toRewriteFault,
} from './plan-rewrite.ts'
export type {
  AbandonedRun,
  AppendResult,
  ChangeNotification,
  Changes,
  ChangesQuery,
  CreateThreadResult,
  DeletedThread,
  FoundCall,
  FoundInput,
  FoundTurn,
  MetadataChange,
  NewThread,
  Page,
  PageOrder,
  PageQuery,
  ResultMode,
  StopRequest,
  Store,
  StoredChange,
  StoredSeq,
  StoreProblem,
  ThreadFilter,
  ThreadList,
  ThreadListQuery,
} from './store.ts'
export { largestTurnBytes, lazyBytes } from './store.ts'
export type { StoredOutput } from './stored-output.ts'
export { passesFilter, toMetadataText } from './thread-row.ts'
export {
  applyCommit,
  type CommitClock,
  createRowsSource,
  createThreadRows,
  type RowsShelf,
  type ThreadRows,
} from './thread-rows.ts'
export type { StoredCall } from './turn-snapshot.ts'
export type { PlannedMessages } from './plan-messages.ts'
export {
  createPathRows,
  type PathRow,
  type PathRows,
  type VersionPath,
  walkPath,
} from './version-path.ts'
// The types that the signatures above consist of, for code that has to name one.
export type {
  AnswerLimit,
  TurnEnding,
  TurnError,
  TurnProgress,
  TurnStatus,
  TurnWait,
} from '../core/message.ts'
export type { FileId, FileRecord } from '../core/file.ts'
export type { ByteRange, FileAbout, FileStore } from '../files/file-store.ts'
export type { FileRecords, NewFile, UnusedQuery } from './file-records.ts'
export type {
  FinishedShare,
  NewShare,
  SharedText,
  SharedTexts,
  SharedTextsQuery,
  ShareRecords,
} from './share-records.ts'
export type { Share, ShareId, StoredShare } from '../core/share.ts'
export type { Feedback, FeedbackGiven, FeedbackRating } from '../core/feedback.ts'
export type { InputMode, InputQueue, NewInput, QueuedInput } from '../core/queued-input.ts'
export type { WholePortion, WholeThread } from './whole-thread.ts'
