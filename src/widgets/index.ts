export type { Call, CallState } from '../core/call.ts'
export { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
export { isTurn, type Message, type Turn, type UserMessage } from '../core/message.ts'
export { ApprovalForm } from './approval/approval-form.tsx'
export { DecisionNote } from './approval/decision-note.tsx'
export { UnknownForm } from './approval/unknown-form.tsx'
export { type CallActions, CallActionsProvider, useCallActions } from './call-actions.ts'
export { ChoicePicker, type ChoicePickerProps } from './composer/choice-picker.tsx'
export { Composer, type ComposerProps } from './composer/composer.tsx'
export type { Upload } from './composer/use-attachments.ts'
export { CopyButton, type CopyButtonProps } from './copy-button.tsx'
export { englishStrings } from './english-strings.ts'
export { Icon, type IconName, Spinner } from './icon.tsx'
export { CodeBlock, type CodeBlockProps } from './markdown/code-block.tsx'
export { Markdown, type MarkdownProps } from './markdown/markdown.tsx'
export { safeHref, safeImage } from './markdown/safe-address.ts'
export { TurnBody, type TurnBodyProps } from './message/turn-body.tsx'
export { QueueList, type QueueListProps } from './queue/queue-list.tsx'
export type { Strings } from './strings.ts'
export { StringsProvider, useStrings } from './strings-context.tsx'
export { type CurrentThread, useCurrentThread } from './thread-context.ts'
export { SharedThread, type SharedThreadProps } from './thread/shared-thread.tsx'
export { Thread, type ThreadProps } from './thread/thread.tsx'
export {
  type CardEntry,
  CardProvider,
  type CardProps,
  type CardRegistry,
} from './tool-card/card-registry.tsx'
export { JsonView } from './tool-card/json-view.tsx'
export { ToolCard } from './tool-card/tool-card.tsx'
export { ValueView } from './tool-card/value-view.tsx'
export { InlineToolWidget, type InlineToolWidgetProps } from './tool-widget/inline-tool-widget.tsx'
export { TurnTimeline } from './tool-widget/turn-timeline.tsx'
export {
  type ChatLike,
  type ChatMessageLike,
  toTurn,
  useChatActions,
  useChatTurn,
} from './use-chat-adapter.ts'
// Types that occur in the signatures above.
export type { ApprovalRequest, CallBase, CallInput, CallOrigin, EndedCall } from '../core/call.ts'
export type { AnswerLimit, TurnEnding, TurnError } from '../core/message.ts'
export type { UnsuccessfulCall } from '../views/call-error-text.ts'
export type { InputMode, InputQueue, NewInput, QueuedInput } from '../core/queued-input.ts'
