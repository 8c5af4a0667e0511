import { withDefined } from '../core/with-defined.ts'
import type { RecordedData, RecordedPart } from '../engine/record.ts'
import { type StreamChunk, textOf } from '../protocol/data-stream/stream-chunk.ts'

/**
 * The chunks of somebody's UI message stream as the parts that a `streamText` would have given, so
 * that both are stored by the same code. Their own `data-…` goes into the step beside which it came:
 * backends send it before their first step and after an end too, where the ledger has no place for it.
 */
export async function* toRecordedParts(
  chunks: ReadableStream<StreamChunk>,
): AsyncGenerator<RecordedPart> {
  let early: readonly RecordedData[] = []
  let stepEnd: readonly RecordedPart[] = []
  let hasBegun = false
  let hasCalls = false
  for await (const chunk of chunks) {
    if (chunk.type.startsWith('data-')) {
      const data = toData(chunk)
      if (hasBegun) yield* data
      else early = [...early, ...data]
      continue
    }
    if (chunk.type === 'start-step') hasCalls = false
    if (chunk.type === 'tool-input-available') hasCalls = true
    const parts = toParts(chunk, hasCalls) as readonly RecordedPart[]
    if (parts.length === 0) continue
    yield* stepEnd
    stepEnd = []
    if (chunk.type === 'finish-step') {
      stepEnd = parts
      continue
    }
    hasBegun ||= chunk.type !== 'start'
    const begins = chunk.type === 'start-step'
    if (!hasBegun) yield* parts
    else yield* begins ? [...parts, ...early] : [...early, ...parts]
    if (hasBegun) early = []
  }
  yield* stepEnd
}

/** What is only passing by, and our own words about a turn, are not part of a message. */
function toData({ type, id, data, transient }: StreamChunk): readonly RecordedData[] {
  const name = type.slice('data-'.length)
  if (name === '' || name === 'holdfast' || transient === true) return []
  const part = { type: 'data', name, data: data ?? null } as const
  return [withDefined(part, { id: typeof id === 'string' ? id : undefined })]
}

function toParts(chunk: StreamChunk, hasCalls: boolean): readonly object[] {
  const { type } = chunk
  const id = textOf(chunk['id'])
  const toolCallId = textOf(chunk['toolCallId'])
  const toolName = textOf(chunk['toolName'])
  const dynamic = chunk['dynamic'] === true
  switch (type) {
    case 'start':
    case 'abort':
      return [{ type }]
    case 'start-step':
      return [{ type, request: {}, warnings: [] }]
    case 'finish-step': {
      const finishReason = hasCalls ? 'tool-calls' : 'stop'
      return [{ type, finishReason, usage: {}, response: {} }]
    }
    case 'finish': {
      const finishReason = textOf(chunk['finishReason']) || 'stop'
      return [{ type, finishReason }]
    }
    case 'text-start':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-end':
      return [{ type, id }]
    case 'text-delta':
    case 'reasoning-delta':
      return [{ type, id, text: textOf(chunk['delta']) }]
    case 'tool-input-start':
      return [{ type, id: toolCallId, toolName, dynamic }]
    case 'tool-input-delta':
      return [{ type, id: toolCallId, delta: textOf(chunk['inputTextDelta']) }]
    case 'tool-input-available':
      return [{ type: 'tool-call', toolCallId, toolName, input: chunk['input'] ?? null, dynamic }]
    case 'tool-input-error':
      return [
        { type: 'tool-call', toolCallId, toolName, input: chunk['input'] ?? null, dynamic },
        { type: 'tool-error', toolCallId, error: textOf(chunk['errorText']) },
      ]
    case 'tool-output-available': {
      const preliminary = chunk['preliminary'] === true
      return [{ type: 'tool-result', toolCallId, output: chunk['output'] ?? null, preliminary }]
    }
    case 'tool-output-error':
      return [{ type: 'tool-error', toolCallId, error: textOf(chunk['errorText']) }]
    case 'source-url': {
      const { sourceId = '', url = '', title } = chunk
      return [{ type: 'source', sourceType: 'url', id: sourceId, url, title }]
    }
    case 'file': {
      const found = /^data:([^;,]*);base64,(.*)$/s.exec(textOf(chunk['url']))
      return found === null
        ? []
        : [{ type, file: { mediaType: found[1] ?? '', base64: found[2] ?? '' } }]
    }
    case 'error':
      return [{ type, error: new Error(textOf(chunk['errorText'])) }]
    default:
      return []
  }
}
