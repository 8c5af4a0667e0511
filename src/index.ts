import './assert-node.ts'
export type { AgentDescription, ModelsOption, OfferedModel } from './engine/offered-models.ts'
export type {
  IndexedText,
  IndexedTexts,
  SearchHit,
  SearchIndex,
  SearchPlace,
  SearchQuery,
  UnreadThread,
} from './store/search.ts'
export type { SearchTerms } from './views/search-text.ts'
export type { SearchPage, SearchRequest, SearchResult } from './engine/search.ts'
export type { Call, CallCause, CallOutcome, CallState, Decision, Resolution } from './core/call.ts'
export type { LedgerEvent, NewEvent } from './core/event.ts'
export { type Change, foldThread, type ThreadView } from './core/fold-thread.ts'
export { emptyTurn, foldTurn } from './core/fold-turn.ts'
export { type ErrorCode, HoldfastError } from './core/holdfast-error.ts'
export {
  type CallId,
  type MessageId,
  type OwnerId,
  parseCallId,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Seq,
  type ThreadId,
} from './core/ids.ts'
export type { Json, JsonObject } from './core/json.ts'
export {
  callsOf,
  type Message,
  type Turn,
  type UserMessage,
  type UserPart,
} from './core/message.ts'
export type { ForkOrigin, ListedThread, ThreadRecord, TitleGiver } from './core/thread.ts'
export type { ThreadFlags } from './core/thread-flags.ts'
export { type MessageVersion, type ShownVersions, versionsOf } from './core/versions.ts'
export { type TurnTotals, totalsOf } from './core/turn-totals.ts'
export {
  type Agent,
  type AgentOption,
  type AgentReason,
  type AgentTool,
  type AgentTools,
  defineAgent,
  defineTool,
  type Executed,
  type ModelTimeout,
  type SdkTool,
  type TurnScope,
  type Unchecked,
} from './engine/agent.ts'
export type { CallScope, TurnPlace } from './engine/call-scope.ts'
export type { ToolOutput, ToolOutputResult } from './engine/add-tool-outputs.ts'
export { type Clock, systemClock } from './engine/clock.ts'
export { combineHooks } from './engine/combine-hooks.ts'
export { createHoldfast, type Holdfast } from './engine/create-holdfast.ts'
export {
  type CheckCounts,
  type CheckOptions,
  type CheckReport,
  checkStore,
} from './audit/check-store.ts'
export type { Problem, ProblemKind } from './audit/problem.ts'
export type {
  ClientToolOutput,
  OldDecision,
  OldResolution,
  OldToolOutput,
  ToolDecision,
  ToolResolution,
} from './engine/call-requests.ts'
export type { DecisionRequest, DecisionResult } from './engine/decide.ts'
export type { TitleOptions } from './engine/title-options.ts'
export type { ErrorText, FailurePlace } from './engine/failure-words.ts'
export type { AskedModel, Hooks, LifecycleEvent, OpenTrace, TurnPart } from './engine/hooks.ts'
export type { Library, MessagesPage, MessagesQuery } from './engine/library.ts'
export type { PageFormat, PageItems } from './engine/message-page.ts'
export type { HoldfastOptions, ResumableTurn, ResumeRecorded } from './engine/options.ts'
export type { PostedMessage, PostedPart, PostOptions, PostResult } from './engine/post-message.ts'
export type { Recording } from './engine/record.ts'
export type { ContinueRecording, RecordRequest } from './engine/record-request.ts'
export type { RecordedData, RecordedPart, RecordedSource } from './engine/recorded-parts.ts'
export type { RecordingResponseOptions } from './engine/recording-response.ts'
export type { ResolveRequest, ResolveResult } from './engine/resolve.ts'
export type { ContinueResult } from './engine/resume.ts'
export type { RegenerateRequest, SendRequest, SendResult } from './engine/send.ts'
export type { Feedback, FeedbackRating } from './core/feedback.ts'
export type { FeedbackResult, FeedbackToGive } from './engine/give-feedback.ts'
export type {
  SharedFile,
  SharedMessagesPage,
  SharedMessagesQuery,
  SharedResult,
  Shares,
} from './engine/shares.ts'
export type { ShareResult } from './engine/share-thread.ts'
export type { Share, ShareId, StoredShare } from './core/share.ts'
export type {
  FinishedShare,
  NewShare,
  SharedText,
  SharedTexts,
  SharedTextsQuery,
  ShareRecords,
} from './store/share-records.ts'
export type { LastingEffect, ShowResult } from './engine/show-version.ts'
export type { StopResult } from './engine/stop.ts'
export type { ForkOptions, ForkResult } from './engine/fork-thread.ts'
export type { Frame } from './engine/live-window.ts'
export type {
  OwnerReceipt,
  ThreadChange,
  Threads,
  ThreadScope,
  ThreadsPage,
  ThreadsQuery,
  ThreadToMake,
} from './engine/threads.ts'
export type { AppendedText, ToolCallRepository, UpsertedCall } from './engine/tool-calls.ts'
export type { ApprovalFunction, ToolApproval, ToolPolicy } from './engine/tool-policy.ts'
export { type TraceOptions, traceHooks } from './engine/tracing.ts'
export {
  exportThread,
  exportThreads,
  type ExportFormat,
  type ExportQuery,
} from './transfer/export-threads.ts'
export type { ImportItem } from './transfer/import-item.ts'
export type { ImportProblem, ImportReport } from './transfer/import-report.ts'
export { importThreads, type ImportOptions } from './transfer/import-threads.ts'
export { readImport, type ReadOptions } from './transfer/read-import.ts'
export { memory, type MemoryStoreOptions } from './store/memory/memory-store.ts'
export type { LeaseUse } from './store/lease.ts'
export {
  type Append,
  type IllegalAppend,
  planCommit,
  type PlannedCommit,
} from './store/plan-commit.ts'
export type {
  AppendResult,
  ChangeNotification,
  CreateThreadResult,
  Page,
  PageQuery,
  Store,
  StoredChange,
  MigrateOptions,
  MigrationResult,
} from './store/store.ts'
// What the signatures above are made of: whoever names a part of one needs its type.
export type { Mend as ProblemMend } from './audit/problem.ts'
export type {
  ApprovalRequest,
  CallBase,
  CallDenial,
  CallFailure,
  CallInput,
  CallInterruption,
  CallOrigin,
  CallOutput,
  EndedCall,
  OpenCall,
} from './core/call.ts'
export type {
  KeptPath,
  NewThreadEvent,
  NewTurnEvent,
  Numbered as WithSeq,
  ThreadEvent,
  ThreadEventBody,
  TurnEvent,
  TurnEventBody,
  UnreadableEvent,
} from './core/event.ts'
export type {
  AnswerLimit,
  ItemPart,
  Part,
  ReplacedModel,
  ResumedFrom,
  Step,
  StepBase,
  Takeovers,
  TextPart,
  TurnCopy,
  TurnEnding,
  TurnError,
  TurnProgress,
  TurnStatus,
  TurnWait,
} from './core/message.ts'
export type { ThreadPlace } from './core/thread-place.ts'
export type { FinishReason, Usage } from './core/usage.ts'
export type { CallSettings } from './engine/call-model.ts'
export type { DecideRequest } from './engine/create-holdfast.ts'
export type { OfTurn, TurnStart } from './engine/hooks.ts'
export type { ReadGate } from './engine/hub.ts'
export { pageFormats } from './engine/message-page.ts'
export type { Metrics } from './engine/metrics.ts'
export type { WithResponse } from './engine/record.ts'
export type { RecordedFile } from './engine/recorded-parts.ts'
export type {
  AnswerOutput,
  Download,
  LayerCall,
  RepairToolCall,
  StreamTextOptions,
} from './engine/sdk-layer.ts'
export type { PrepareStep, StopWhen } from './engine/step-results.ts'
export type {
  FinishEvent,
  LifecycleCallback,
  LifecycleCallbacks,
  WithContext,
} from './engine/lifecycle-callbacks.ts'
export type {
  ApprovalVerdict,
  ToolApprovalFunction,
  ToolCallToJudge,
  Toolbox,
} from './engine/tool-policy.ts'
export type { LegacyFormat } from './import/detect-format.ts'
export type { Failed as ImportFailure, Mended as ImportMend } from './import/old-message.ts'
export type {
  AuditCall,
  AuditEvent,
  AuditEventTurn,
  AuditLease,
  AuditMessage,
  AuditRow,
  AuditThread,
  JsonColumn,
  OrphanCall,
  OrphanRows,
  RepairRequest,
  RepairStep,
  RowChange,
  StoreAudit,
  TurnHome,
  TurnRef,
} from './store/audit.ts'
export type { PathRow, VersionPath } from './store/version-path.ts'
export type { PlannedMessages } from './store/plan-messages.ts'
export { exportFormats } from './transfer/export-threads.ts'
export type { ThreadFields } from './transfer/import-item.ts'
export type { Validated as ValidatedWord } from './views/call-words.ts'
export { entityKinds } from './views/entity-rows.ts'
export type { EntityKind, EntityRow, EntityToolCall } from './views/entity-rows.ts'
export type { UiMessage } from './views/ui-message.ts'
export type { UiNotePart } from './views/ui-note-part.ts'
export type { ToolNames, UiItemPart, UiPart, UiTextBase, UiTextPart } from './views/ui-part.ts'
export type { UiApproval, UiToolKind, UiToolPart, UiToolProgress } from './views/ui-tool-part.ts'
export type { SdkVersion } from './views/ui-vocabulary.ts'
export type { UserFile } from './views/user-content.ts'
export type { VercelAnnotation, VercelAttachment, VercelMessage } from './views/vercel-message.ts'
export type { VercelInvocation, VercelPart } from './views/vercel-part.ts'
export type { OfCall } from './engine/hooks.ts'
export type { ContinueText } from './views/model-prompt.ts'
export type { Attempt } from './views/shown-parts.ts'
export type { FileId, FileRecord } from './core/file.ts'
export type { ByteRange, FileAbout, FileStore } from './files/file-store.ts'
export { folderFiles } from './files/folder-files.ts'
export type { FileLimits, FileOptions } from './engine/file-options.ts'
export type { Files, FileToAdd } from './engine/files.ts'
export type { InputMode, InputQueue, NewInput, QueuedInput } from './core/queued-input.ts'
export type { SteeringPart } from './core/message.ts'
export type { QueuedResult } from './engine/queue-input.ts'
export type { InputChange, Queues } from './engine/queues.ts'
export type { RecordedMessage } from './engine/record-request.ts'
export type { WhenBusy } from './protocol/chat-body.ts'
export type { ShownInput } from './views/queue-view.ts'
export type { UiSteeringPart } from './views/ui-part.ts'
