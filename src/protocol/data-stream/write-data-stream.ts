import type { Json } from '../../core/json.ts'
import { lineCodes, toLine } from './data-stream-line.ts'
import { type StreamChunk, textOf } from './stream-chunk.ts'

/**
 * Writes UI message chunks as lines of the old protocol (RS4). A chunk that the protocol does not have is
 * left out or approximated: a failed call becomes a result that contains the error.
 */
export function createDataStreamWriter(): (chunk: object) => string {
  let messageId = ''
  let isStepEnding = false
  const sent = new Set<string>()

  const endStep = (finishReason: string): string => {
    if (!isStepEnding) return ''
    isStepEnding = false
    return toLine(lineCodes.finishStep, { finishReason, isContinued: false })
  }

  const result = (chunk: StreamChunk, value: Json): string =>
    toLine(lineCodes.toolResult, { toolCallId: textOf(chunk['toolCallId']), result: value })

  const write = (chunk: StreamChunk): string => {
    const toolCallId = textOf(chunk['toolCallId'])
    const toolName = textOf(chunk['toolName'])
    switch (chunk.type) {
      case 'start':
        messageId = textOf(chunk['messageId'])
        return ''
      case 'start-step':
        return endStep('tool-calls') + toLine(lineCodes.startStep, { messageId })
      case 'text-delta':
        return toLine(lineCodes.text, textOf(chunk['delta']))
      case 'reasoning-delta':
        return toLine(lineCodes.reasoning, textOf(chunk['delta']))
      case 'tool-input-start':
        return toLine(lineCodes.toolCallStart, { toolCallId, toolName })
      case 'tool-input-delta': {
        const argsTextDelta = textOf(chunk['inputTextDelta'])
        return toLine(lineCodes.toolCallDelta, { toolCallId, argsTextDelta })
      }
      case 'tool-input-available':
        // A client of this protocol would show a call twice if it were sent again.
        if (sent.has(toolCallId)) return ''
        sent.add(toolCallId)
        return toLine(lineCodes.toolCall, { toolCallId, toolName, args: chunk['input'] ?? null })
      case 'tool-output-available':
        return chunk['preliminary'] === true ? '' : result(chunk, chunk['output'] ?? null)
      case 'tool-output-error':
        return result(chunk, { error: textOf(chunk['errorText']) })
      case 'tool-output-denied':
        return result(chunk, { error: 'The call was denied.' })
      case 'source-url': {
        const source = {
          sourceType: 'url',
          id: textOf(chunk['sourceId']),
          url: textOf(chunk['url']),
        }
        const title = textOf(chunk['title'])
        return toLine(lineCodes.source, title === '' ? source : { ...source, title })
      }
      case 'file':
        return writeFile(chunk)
      case 'error':
        return toLine(lineCodes.error, textOf(chunk['errorText']))
      case 'finish-step':
        // The reason is sent with the end of the message, which may come next.
        isStepEnding = true
        return ''
      case 'finish': {
        const finishReason = textOf(chunk['finishReason']) || 'unknown'
        return endStep(finishReason) + toLine(lineCodes.finishMessage, { finishReason })
      }
      default:
        return chunk.type.startsWith('data-') ? toLine(lineCodes.data, [chunk as Json]) : ''
    }
  }
  return (chunk) => write(chunk as StreamChunk)
}

/** Only a file that is inside the URL itself (`data:`) can be sent. */
function writeFile(chunk: StreamChunk): string {
  const match = /^data:([^;,]*);base64,(.*)$/s.exec(textOf(chunk['url']))
  if (match === null) return ''
  const [, mimeType = '', data = ''] = match
  return toLine(lineCodes.file, { data, mimeType })
}
