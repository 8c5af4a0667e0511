import { badRequestFault, HoldfastError } from '../core/holdfast-error.ts'
import {
  type CallId,
  isMessageId,
  type MessageId,
  parseCallId,
  parseMessageId,
  parseThreadId,
  type ThreadId,
} from '../core/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import type { UserPart } from '../core/message.ts'
import type { InputMode } from '../core/queued-input.ts'
import { withDefined } from '../core/with-defined.ts'
import { withoutVersions } from '../core/versions.ts'

/** What happens to a message that arrives while a turn runs (IN1). `reject`: it is refused, and not stored. */
export type WhenBusy = InputMode | 'reject'

/**
 * What a client of the AI SDK requests with one POST. The history that it sends along is not trusted, and not
 * read.
 */
export type ChatRequest = { readonly threadId: ThreadId } & (
  | {
      readonly kind: 'send'
      readonly message: {
        readonly id: MessageId
        readonly parts: readonly UserPart[]
        readonly metadata?: Json
      }
      /** The message that is edited: it and what follows it are replaced. */
      readonly replaces?: MessageId
      /** The last answer that the client has: shows which history it has seen, not what is stored (OP6). */
      readonly lastAnswer?: MessageId
      /** The choices for the agent (AG2), as they were sent. */
      readonly choices?: Json
      /** What happens to the message if a turn runs (IN1). */
      readonly whenBusy?: WhenBusy
    }
  | {
      readonly kind: 'regenerate'
      /** @default the last answer */
      readonly messageId?: MessageId
      /** Without `messageId`, the last message of a person that the client has: as `lastAnswer`. */
      readonly lastQuestion?: MessageId
      readonly choices?: Json
      readonly whenBusy?: WhenBusy
    }
  /** Decisions of people and outputs of client-side tools for calls of a turn. */
  | {
      readonly kind: 'answers'
      readonly messageId: MessageId
      readonly decisions: readonly ChatDecision[]
      readonly outputs: readonly ChatOutput[]
      /**
       * The parts of the message as the client has them: they show which state the client has seen, not what
       * is stored.
       */
      readonly parts: readonly Json[]
    }
)

export interface ChatDecision {
  readonly callId: CallId
  readonly decision: 'accept' | 'reject'
  readonly feedback?: string
}

export interface ChatOutput {
  readonly callId: CallId
  readonly outcome:
    | { readonly kind: 'result'; readonly value: Json }
    | { readonly kind: 'error'; readonly error: string }
}

/** Parses the body that the default transports of AI SDK 5, 6 and 7 send. */
export function parseChatBody(body: unknown): ChatRequest {
  if (!isJsonObject(body)) throw badRequestFault('The body is a JSON object.')
  const threadId = parseField('id', body.id, parseThreadId, 'thread')
  const messageId =
    body.messageId == null ? undefined : parseField('messageId', body.messageId, parseMessageId)
  const { last, path } = lastMessage(body)
  const { choices } = body
  const whenBusy = parseWhenBusy(body.whenBusy)
  if (body.trigger === 'regenerate-message') {
    const lastQuestion = messageId === undefined ? lastIn(body, 'user') : undefined
    return withDefined({ kind: 'regenerate', threadId } as const, {
      ...{ messageId, lastQuestion, choices, whenBusy },
    })
  }
  if (body.trigger !== undefined && body.trigger !== 'submit-message') {
    throw badRequestFault('"trigger" is "submit-message" or "regenerate-message".')
  }
  if (last === undefined)
    throw badRequestFault('The body needs "messages" with the message to answer, or "message".')
  if (last.role === 'assistant') return toAnswers(threadId, last, path)
  if (last.role !== 'user') throw badRequestFault('The last message is a user message.')
  const message = withDefined(
    { id: parseMessage(last, path), parts: parseUserParts(last) },
    { metadata: withoutVersions(last.metadata) },
  )
  return withDefined({ kind: 'send', threadId, message } as const, {
    replaces: messageId,
    lastAnswer: lastIn(body, 'assistant'),
    choices,
    whenBusy,
  })
}

/** Undefined also where it has an id that no message of ours can have. */
function lastIn(body: JsonObject, role: 'user' | 'assistant'): MessageId | undefined {
  const sent: readonly unknown[] = Array.isArray(body.messages) ? body.messages : []
  const named = role === 'assistant' ? body.lastAnswer : undefined
  const id = named ?? sent.filter(isJsonObject).findLast((message) => message.role === role)?.id
  return isMessageId(id) ? id : undefined
}

/** Every `WhenBusy`. */
export const busyWords: readonly WhenBusy[] = ['queue', 'steer', 'interrupt', 'reject']

function parseWhenBusy(value: unknown): WhenBusy | undefined {
  if (value === undefined || value === null) return undefined
  const mode = busyWords.find((each) => each === value)
  if (mode === undefined) throw badRequestFault(`"whenBusy" is one of ${busyWords.join(', ')}.`)
  return mode
}

/** `path`: where in the body it is, for errors. */
function lastMessage(body: JsonObject) {
  const { message, messages } = body
  if (messages !== undefined && !Array.isArray(messages))
    throw badRequestFault('"messages" is a list.')
  const list: readonly unknown[] = Array.isArray(messages) ? messages : []
  const last = message ?? list.at(-1)
  if (last !== undefined && !isJsonObject(last))
    throw badRequestFault('A message is a JSON object.')
  return { last, path: message == null ? `messages[${list.length - 1}]` : 'message' }
}

const parseMessage = ({ id }: JsonObject, path: string): MessageId =>
  parseField(`${path}.id`, id, parseMessageId, 'message')

/** The error names the field: a body has several ids. `made`: what a client makes up the id of. */
function parseField<Id>(
  field: string,
  value: unknown,
  parse: (value: unknown) => Id,
  made?: 'thread' | 'message',
): Id {
  if (made !== undefined && (value === undefined || value === null)) {
    throw new HoldfastError(
      'bad-id',
      `The body needs "${field}", the ${made}’s id. Use \`crypto.randomUUID()\` for a new ${made}.`,
    )
  }
  try {
    return parse(value)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    throw new HoldfastError(error.code, `"${field}": ${error.message}`)
  }
}

/** A person's parts: texts and files; a message without either is refused. */
export function parseUserParts(message: JsonObject): readonly UserPart[] {
  const { content } = message
  const plain = typeof content === 'string' ? [{ type: 'text', text: content }] : undefined
  const parts = message.parts ?? plain
  if (!Array.isArray(parts)) throw badRequestFault('A user message has "parts".')
  const read = (parts as readonly Json[]).flatMap((part): readonly UserPart[] => {
    if (!isJsonObject(part)) throw badRequestFault('A part is a JSON object.')
    if (part.type === 'text' && typeof part.text === 'string') {
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
    }
    if (part.type !== 'file') return []
    const { mediaType, url, filename } = part
    if (typeof mediaType !== 'string' || typeof url !== 'string') {
      throw badRequestFault('A file part has "mediaType" and "url".')
    }
    const file = { type: 'file', mediaType, url } as const
    return [typeof filename === 'string' ? { ...file, filename } : file]
  })
  if (read.length === 0) throw badRequestFault('The message is empty: it has no text and no file.')
  return read
}

/** Answers are in the parts of the assistant's message that the client sends back. `path`: where it is, for errors. */
export function parseAnswers(
  message: JsonObject,
  path = 'message',
): {
  readonly decisions: readonly ChatDecision[]
  readonly outputs: readonly ChatOutput[]
  readonly parts: readonly Json[]
} {
  const decisions: ChatDecision[] = []
  const outputs: ChatOutput[] = []
  const parts = Array.isArray(message.parts) ? (message.parts as readonly Json[]) : []
  for (const [index, part] of parts.entries()) {
    if (!isJsonObject(part) || typeof part.toolCallId !== 'string') continue
    const callId = parseField(`${path}.parts[${index}].toolCallId`, part.toolCallId, parseCallId)
    const { approval } = part
    if (part.state === 'approval-responded' && isJsonObject(approval)) {
      const decision = approval.approved === true ? 'accept' : 'reject'
      const feedback = typeof approval.reason === 'string' ? approval.reason : undefined
      decisions.push(withDefined({ callId, decision } as const, { feedback }))
    } else if (part.state === 'output-available') {
      outputs.push({ callId, outcome: { kind: 'result', value: part.output ?? null } })
    } else if (part.state === 'output-error' && typeof part.errorText === 'string') {
      outputs.push({ callId, outcome: { kind: 'error', error: part.errorText } })
    }
  }
  return { decisions, outputs, parts }
}

function toAnswers(threadId: ThreadId, message: JsonObject, path: string): ChatRequest {
  const answers = parseAnswers(message, path)
  const messageId = parseMessage(message, path)
  if (answers.decisions.length === 0 && answers.outputs.length === 0) {
    throw badRequestFault('The last message is the assistant’s and has no new decision or result.')
  }
  return { kind: 'answers', threadId, messageId, ...answers }
}
