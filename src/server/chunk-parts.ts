import type { RecordedPart } from '../engine/record.ts'
import { type StreamChunk, textOf } from '../protocol/data-stream/stream-chunk.ts'

/**
 * The chunks of somebody's UI message stream as the parts that a `streamText` would have given, so
 * that both are stored by the same code. What a part has no word for (`data-…`) is not stored.
 */
export async function* toRecordedParts(
  chunks: ReadableStream<StreamChunk>,
): AsyncGenerator<RecordedPart> {
  let hasCalls = false
  for await (const chunk of chunks) {
    if (chunk.type === 'start-step') hasCalls = false
    if (chunk.type === 'tool-input-available') hasCalls = true
    for (const part of toParts(chunk, hasCalls)) yield part as RecordedPart
  }
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
