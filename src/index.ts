import './assert-node.ts'
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
export type { ThreadRecord } from './core/thread.ts'
export { type TurnTotals, totalsOf } from './core/turn-totals.ts'
export {
  type Agent,
  type AgentOption,
  type AgentReason,
  type AgentTool,
  type AgentTools,
  defineAgent,
  defineTool,
  type TurnScope,
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
export type { DecisionRequest, DecisionResult } from './engine/decide.ts'
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
export type { StopResult } from './engine/stop.ts'
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
export { readImport } from './transfer/read-import.ts'
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
} from './store/store.ts'
