import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModel } from 'ai'
import { chatWire } from './chat-wire.ts'
import { messagesWire } from './messages-wire.ts'
import { readChatPrompt } from './read-chat-prompt.ts'
import { readMessagesPrompt } from './read-messages-prompt.ts'
import { readResponsesPrompt } from './read-responses-prompt.ts'
import { responsesWire } from './responses-wire.ts'
import type { SentPrompt } from './sent-prompt.ts'
import type { Wire } from './wire.ts'

/** One of the AI SDK's providers, the API it speaks, and how that API says no. */
export interface Provider {
  readonly name: string
  readonly model: (place: Place) => LanguageModel
  readonly wire: Wire
  readonly readPrompt: (body: unknown) => SentPrompt
  /** The words in which the API refuses a prompt that is too long. */
  readonly overflow: { readonly status: number; readonly body: ErrorBody }
  readonly errorBody: (type: string, message: string) => ErrorBody
}

/** Where the API is, and who listens to what it is sent. */
export interface Place {
  readonly url: string
  readonly apiKey?: string
  readonly fetch?: typeof fetch
}

const settings = ({ url, apiKey = 'key', fetch: over = fetch }: Place) => ({
  baseURL: `${url}/v1`,
  apiKey,
  fetch: over,
})

export interface ErrorBody {
  readonly type?: 'error'
  readonly error: {
    readonly type: string
    readonly message: string
    readonly code?: string
  }
}

const openaiError = (type: string, message: string, code?: string): ErrorBody => ({
  error: { type, message, ...(code === undefined ? {} : { code }) },
})
const tooManyTokens = (body: ErrorBody) => ({ status: 400, body })
const openaiOverflow = tooManyTokens(
  openaiError(
    'invalid_request_error',
    "This model's maximum context length is 128000 tokens, however you requested 130562 tokens.",
    'context_length_exceeded',
  ),
)

export const providers: readonly Provider[] = [
  {
    name: 'openai responses',
    model: (place) => createOpenAI(settings(place)).responses('gpt-5'),
    wire: responsesWire,
    readPrompt: readResponsesPrompt,
    errorBody: openaiError,
    overflow: tooManyTokens(
      openaiError(
        'invalid_request_error',
        'Your input exceeds the context window of this model. Please adjust your input.',
        'context_length_exceeded',
      ),
    ),
  },
  {
    name: 'openai chat',
    model: (place) => createOpenAI(settings(place)).chat('gpt-4o'),
    wire: chatWire,
    readPrompt: readChatPrompt,
    errorBody: openaiError,
    overflow: openaiOverflow,
  },
  {
    name: 'openai-compatible',
    model: (place) =>
      createOpenAICompatible({ ...settings(place), name: 'local', includeUsage: true }).chatModel(
        'llama',
      ),
    wire: chatWire,
    readPrompt: readChatPrompt,
    errorBody: openaiError,
    overflow: tooManyTokens(
      openaiError(
        'exceed_context_size_error',
        'the request exceeds the available context size (8192 tokens), try increasing it',
      ),
    ),
  },
  {
    name: 'anthropic',
    model: (place) => createAnthropic(settings(place))('claude-sonnet-4-5'),
    wire: messagesWire,
    readPrompt: readMessagesPrompt,
    errorBody: (type, message) => ({ type: 'error', error: { type, message } }),
    overflow: tooManyTokens({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 210432 tokens > 200000 maximum',
      },
    }),
  },
]
