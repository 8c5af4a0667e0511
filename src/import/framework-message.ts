import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { columnOf } from './columns.ts'
import { fieldOf } from './old-fields.ts'

/**
 * Unwraps a message as a framework stores it, and keeps the fields of its wrapper: a row of Mastra's
 * `mastra_messages`, or a message of LangChain as in LangGraph's checkpoints. Any other value is returned as
 * it is.
 */
export const unwrapFrameworkMessage = (value: JsonObject): JsonObject =>
  unwrapMastra(value) ?? unwrapLangChain(value) ?? value

/**
 * Mastra: `content` is `{format: 2, parts, content?, metadata?, toolInvocations?}`, in most databases as JSON
 * text. Its parts are those of AI SDK 4, and `toolInvocations` repeats them.
 */
function unwrapMastra(value: JsonObject): JsonObject | undefined {
  const inner = columnOf(value, 'content')
  if (!isMastraContent(inner)) return undefined
  // `type` is the version of the row ("v2"), not a role.
  const { content: _, type: _type, ...row } = value
  const { format: _format, toolInvocations: _again, ...message } = inner
  return { ...row, ...message }
}

export const isMastraContent = (content: Json | undefined): content is JsonObject =>
  isJsonObject(content) && content.format === 2 && Array.isArray(content.parts)

const langChainRoles: ReadonlyMap<string, string> = new Map([
  ...['HumanMessage', 'human'].map((name) => [name, 'user'] as const),
  ...['SystemMessage', 'system'].map((name) => [name, 'system'] as const),
  ...['AIMessage', 'ai'].map((name) => [name, 'assistant'] as const),
  ...['ToolMessage', 'tool'].map((name) => [name, 'tool'] as const),
])

/**
 * LangChain: `{lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'AIMessage'], kwargs}`, which is what `JSON.stringify`
 * makes of a message, or `{type: 'ai', data}`, as its stored messages are; both also of chunks.
 */
function unwrapLangChain(value: JsonObject): JsonObject | undefined {
  const { lc, type, kwargs, data, id, ...row } = value
  const name = lc === undefined ? type : Array.isArray(id) ? (id as readonly Json[]).at(-1) : null
  const message = lc === undefined ? data : kwargs
  const role = typeof name === 'string' ? langChainRoles.get(name.replace(/Chunk$/, '')) : undefined
  if (role === undefined || !isJsonObject(message)) return undefined
  const { tool_calls: calls, tool_call_chunks: _pieces, type: _type, ...kept } = message
  const isError = fieldOf(message, 'status') === 'error' ? { isError: true } : {}
  return { ...row, ...kept, ...isError, role, content: toParts(message.content, calls) }
}

/** The text of a model comes before its calls, as in the AI SDK's model messages. */
function toParts(content: Json | undefined, calls: Json | undefined): Json {
  const text = content ?? ''
  if (!Array.isArray(calls) || calls.length === 0) return text
  const texts = Array.isArray(text) ? (text as readonly Json[]) : [{ type: 'text', text }]
  return [
    // Some providers repeat the calls among the content, in a shape of their own.
    ...texts.filter((part) => isJsonObject(part) && part.type === 'text' && part.text !== ''),
    ...(calls as readonly Json[]).filter(isJsonObject).map((call) => ({
      type: 'tool-call',
      toolCallId: call.id ?? '',
      toolName: call.name ?? '',
      input: call.args ?? {},
    })),
  ]
}
