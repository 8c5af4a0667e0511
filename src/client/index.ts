export { type UploadedFile, uploadFile, type UploadOptions } from './upload-file.ts'
export { type AgentInfo, createAgentClient, type ModelInfo } from './agent-client.ts'
export { type Api, type ApiOptions, createApi } from './api.ts'
export { ApiError } from '../protocol/api-error.ts'
export {
  type ChatTransport,
  type ChatTransportOptions,
  createChatTransport,
  type HeadersLike,
  type LoadedPage,
  type Resolvable,
} from './chat-transport.ts'
export type { Connection } from './connection.ts'
export type { ExternalStore, ObservableStore } from './external-store.ts'
export type { LoadedMessage, LoadedPart } from './loaded-message.ts'
export type { ClientClock, ConnectionGuard, Network } from './network.ts'
export { createThreadClient } from './thread-client.ts'
export type { ThreadClientOptions } from './thread-client-options.ts'
export {
  createThreadListClient,
  type ThreadItem,
  type ThreadItemChange,
  type ThreadListClient,
  type ThreadListClientOptions,
  type ThreadListFilter,
  type ThreadListSnapshot,
} from './thread-list-client.ts'
export {
  createSharesClient,
  type ShareItem,
  type SharesClient,
  type SharesClientOptions,
} from './shares-client.ts'
export {
  createSharedThreadClient,
  type SharedThreadClient,
  type SharedThreadClientOptions,
} from './shared-thread-client.ts'
export type { Feedback, FeedbackRating } from '../core/feedback.ts'
export type {
  DecisionAnswer,
  FeedbackAnswer,
  PendingMessage,
  ShownVersion,
  ThreadClient,
  ThreadSnapshot,
} from './thread-snapshot.ts'
export {
  createToolCallsClient,
  type ToolCallsClientOptions,
  type ToolCallsSnapshot,
} from './tool-calls-client.ts'
export type { ToolCallList, ToolCallRecord } from '../views/tool-call-record.ts'
export {
  type ChatMessage,
  type ChatToolCall,
  projectChatMessage,
  type ToolActivity,
} from '../views/chat-message.ts'
export { type MessageVersion, type ShownVersions, versionsOf } from '../core/versions.ts'
export type { ForkOrigin, TitleGiver } from '../core/thread.ts'
// Types that occur in the signatures above.
export type {
  Changed as PreparedChange,
  PreparedRequest,
  RequestChange,
  RequestOptions,
  SendOptions,
} from './chat-transport.ts'
export type { LoadedToolState } from './loaded-message.ts'
export type { ChatStatus, Validated as ValidatedWord } from '../views/call-status.ts'
export type { LazyHref, LazyOptions } from '../views/lazy-output.ts'
export type { SdkVersion } from '../views/ui-vocabulary.ts'
export type { UserFile } from '../views/user-content.ts'
export type { ChatDraft } from '../views/chat-message.ts'
export type { Attempt } from '../views/shown-parts.ts'
export type { InputMode, InputQueue, NewInput, QueuedInput } from '../core/queued-input.ts'
export type { WhenBusy } from '../protocol/chat-body.ts'
export type { ChatReply, ChatSteering } from '../views/chat-message.ts'
