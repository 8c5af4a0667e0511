import './assert-node.ts'
export type { AgentDescription, ModelsOption, OfferedModel } from './engine/agent/offered-models.ts'
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
export type { SearchPage, SearchRequest, SearchResult } from './engine/threads/search.ts'
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
} from './engine/agent/agent.ts'
export type { CallScope, TurnPlace } from './engine/call-scope.ts'
export type { ToolOutput, ToolOutputResult } from './engine/calls/add-tool-outputs.ts'
export { type Clock, systemClock } from './engine/clock.ts'
export { combineHooks } from './engine/telemetry/combine-hooks.ts'
export { logFailures } from './engine/telemetry/log-failures.ts'
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
  DecideRequest,
  OldDecision,
  OldResolution,
  OldToolOutput,
  ToolDecision,
  ToolResolution,
} from './engine/calls/call-requests.ts'
export type { DecisionRequest, DecisionResult } from './engine/calls/decide.ts'
export type { TitleOptions } from './engine/threads/title-options.ts'
export type { ErrorText, FailurePlace } from './engine/run/failure-texts.ts'
export type {
  AskedModel,
  Hooks,
  LifecycleEvent,
  OpenTrace,
  TurnPart,
} from './engine/telemetry/hooks.ts'
export type { Library, MessagesPage, MessagesQuery } from './engine/library.ts'
export type { PageFormat, PageItems } from './engine/threads/message-page.ts'
export type { HoldfastOptions, ResumableTurn, ResumeRecorded } from './engine/options/options.ts'
export type {
  PostedMessage,
  PostedPart,
  PostOptions,
  PostResult,
} from './engine/threads/post-message.ts'
export type { NewThreadRequest } from './engine/threads/new-thread.ts'
export type { Recording } from './engine/record/record.ts'
export type { ContinueRecording, RecordRequest } from './engine/record/record-request.ts'
export type {
  RecordedData,
  RecordedLoop,
  RecordedPart,
  RecordedSource,
} from './engine/record/recorded-parts.ts'
export type { RecordingResponseOptions } from './engine/record/recording-response.ts'
export type { ResolveRequest, ResolveResult } from './engine/calls/resolve.ts'
export type { ContinueResult } from './engine/run/resume.ts'
export type { SendResult } from './engine/input/begin-answer.ts'
export type { RegenerateRequest } from './engine/input/regenerate.ts'
export type { NamedSendRequest, SendRequest } from './engine/input/send.ts'
export type { SentBefore } from './engine/input/sent-before.ts'
export type { Feedback, FeedbackRating } from './core/feedback.ts'
export type { FeedbackResult, FeedbackToGive } from './engine/threads/give-feedback.ts'
export type {
  SharedFile,
  SharedMessagesPage,
  SharedMessagesQuery,
  SharedResult,
  Shares,
} from './engine/threads/shares.ts'
export type { ShareResult } from './engine/threads/share-thread.ts'
export type { Share, ShareId, StoredShare } from './core/share.ts'
export type {
  FinishedShare,
  NewShare,
  SharedText,
  SharedTexts,
  SharedTextsQuery,
  ShareRecords,
} from './store/share-records.ts'
export type { LastingEffect, ShowResult } from './engine/threads/show-version.ts'
export type { StopResult } from './engine/run/stop.ts'
export type { ForkOptions, ForkResult } from './engine/threads/fork-thread.ts'
export type { Frame } from './engine/follow/live-window.ts'
export type {
  OwnerReceipt,
  ThreadChange,
  Threads,
  ThreadScope,
  ThreadsPage,
  ThreadsQuery,
  ThreadToMake,
} from './engine/threads/threads.ts'
export type { AppendedText, ToolCallRepository, UpsertedCall } from './engine/calls/tool-calls.ts'
export type { ApprovalFunction, ToolApproval, ToolPolicy } from './engine/agent/tool-policy.ts'
export { type TraceOptions, traceHooks } from './engine/telemetry/tracing.ts'
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
  Superseding,
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
export type { CallSettings } from './engine/model/call-model.ts'
export type { OfTurn, TurnStart } from './engine/telemetry/hooks.ts'
export type { FollowedPlace, ReadGate } from './engine/follow/hub.ts'
export { pageFormats } from './engine/threads/message-page.ts'
export type { Metrics } from './engine/telemetry/metrics.ts'
export type { WithResponse } from './engine/record/record.ts'
export type { RecordedFile } from './engine/record/recorded-parts.ts'
export type {
  AnswerOutput,
  Download,
  LayerCall,
  RepairToolCall,
  StreamTextOptions,
} from './engine/model/sdk-layer.ts'
export type { PrepareStep, StopWhen } from './engine/run/step-results.ts'
export type {
  FinishEvent,
  LifecycleCallback,
  LifecycleCallbacks,
  WithContext,
} from './engine/telemetry/lifecycle-callbacks.ts'
export type {
  ApprovalVerdict,
  ToolApprovalFunction,
  ToolCallToJudge,
  Toolbox,
} from './engine/agent/tool-policy.ts'
export type { LegacyFormat } from './import/old-shapes.ts'
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
export type { Validated as ValidatedWord } from './views/call-status.ts'
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
export type { OfCall } from './engine/telemetry/hooks.ts'
export type { ContinueText } from './views/model-prompt.ts'
export type { Attempt } from './views/shown-parts.ts'
export type { FileId, FileRecord } from './core/file.ts'
export type { ByteRange, FileAbout, FileStore } from './files/file-store.ts'
export { folderFiles } from './files/folder-files.ts'
export type {
  FileLimits,
  FileOptions,
  FileReference,
  FileReferenceContext,
  ProviderReference,
} from './engine/files/file-options.ts'
export type { FileContent } from './engine/files/file-content.ts'
export type { AddedFile, Files, FileToAdd } from './engine/files/files.ts'
export type { InputMode, InputQueue, NewInput, QueuedInput } from './core/queued-input.ts'
export type { SteeringPart } from './core/message.ts'
export type { QueuedResult } from './engine/input/queue-input.ts'
export type { InputChange, Queues } from './engine/input/queues.ts'
export type { RecordedMessage } from './engine/record/record-request.ts'
export type { WhenBusy } from './protocol/chat-body.ts'
export type { ShownInput } from './views/queue-view.ts'
export type { UiSteeringPart } from './views/ui-part.ts'
