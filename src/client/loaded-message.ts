/**
 * A message of a page, with the fields on which AI SDK 5, 6 and 7 agree, so that it fits the `messages` of each
 * version's `useChat`. It may contain more, such as approvals: to read that, name the type of your SDK,
 * `createChatTransport<UIMessage>(…)`.
 */
export interface LoadedMessage {
  id: string
  role: 'system' | 'user' | 'assistant'
  metadata?: unknown
  parts: LoadedPart[]
}

/** A part of such a message. */
export type LoadedPart =
  | { type: 'text' | 'reasoning'; text: string; state?: 'streaming' | 'done' }
  | { type: 'file'; mediaType: string; url: string; filename?: string }
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | {
      type: 'source-document'
      sourceId: string
      mediaType: string
      title: string
      filename?: string
    }
  | { type: 'step-start' }
  | { type: `data-${string}`; id?: string; data: unknown }
  | ({ type: `tool-${string}`; toolCallId: string } & LoadedToolState)
  | ({ type: 'dynamic-tool'; toolName: string; toolCallId: string } & LoadedToolState)

/** The states of a tool part that AI SDK 5, 6 and 7 have in common. */
export type LoadedToolState =
  | { state: 'input-streaming' | 'input-available'; input: unknown }
  | { state: 'output-available'; input: unknown; output: unknown; preliminary?: boolean }
  | { state: 'output-error'; input: unknown; errorText: string }
