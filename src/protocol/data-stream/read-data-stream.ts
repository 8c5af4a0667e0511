import { createJsonScanner, deepestJson } from '../../core/json-depth.ts'
import { mostWidth } from '../../core/json-width.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { lineCodes, parseLine } from './data-stream-line.ts'
import { type StreamChunk, textOf } from './stream-chunk.ts'

const declined = 'Declined.'
/** The error text of a call whose result the backend itself marks as incomplete. */
const brokenOff = 'Broken off: what the tool gave is not complete.'

/** Parses the old protocol line by line; a line that it cannot parse is skipped. */
interface DataStreamReader {
  read(line: string): readonly StreamChunk[]
  /** The connection has ended. */
  end(): readonly StreamChunk[]
}

/** Options of `createDataStreamReader`. */
export interface DataStreamReaderOptions {
  /**
   * Whether the consumer of the chunks supports approvals (AI SDK 6 and 7 do; 5 aborts a stream with such a chunk). If so, a
   * waiting call becomes a request and a refused one is denied; otherwise the first is a call without a result yet, and the
   * second one that failed.
   *
   * @default false
   */
  readonly approvals?: boolean
  /**
   * What a stream that stops without an end becomes: an `error` chunk, for consumers that treat a stream that ends in good
   * order as complete; or nothing beyond its own chunks, for those that decide themselves. A stream that stops in the middle
   * of a line always counts as broken off.
   *
   * @default 'error'
   */
  readonly unfinished?: 'error' | 'as-it-is'
  /**
   * Parses an annotation about a call; null for one about something else.
   *
   * @default every annotation is about something else
   */
  readonly readCallNote?: (item: Json) => CallNote | null
}

/** What an annotation contains about a call. */
export interface CallNote {
  readonly toolCallId: string
  readonly validated: string | undefined
  readonly isComplete: boolean
}

export function createDataStreamReader(options: DataStreamReaderOptions = {}): DataStreamReader {
  const { approvals = false, unfinished = 'error', readCallNote = () => null } = options
  let isLastBroken = false
  let hasStarted = false
  let isStepOpen = false
  let isFinished = false
  /** How the last step ended, as long as only annotations and data have followed it. */
  let lastReason: string | null = null
  let open: { readonly kind: 'text' | 'reasoning'; readonly id: string } | null = null
  let blocks = 0
  const calls = new Set<string>()
  const annotated = new Map<string, CallNote>()
  /** Calls that have ended, and calls whose approval was requested. */
  const ended = new Set<string>()
  const requested = new Set<string>()
  /** Results that the next annotations may still change. */
  let held: readonly { readonly toolCallId: string; readonly output: Json }[] = []

  const closeBlock = (): readonly StreamChunk[] => {
    if (open === null) return []
    const { kind, id } = open
    open = null
    return [{ type: `${kind}-end`, id }]
  }
  const openStep = (messageId?: string): readonly StreamChunk[] => {
    const start: StreamChunk =
      messageId === undefined ? { type: 'start' } : { type: 'start', messageId }
    const chunks: readonly StreamChunk[] = [
      ...(hasStarted ? [] : [start]),
      ...(isStepOpen ? [] : [{ type: 'start-step' }]),
    ]
    hasStarted = true
    isStepOpen = true
    return chunks
  }
  const closeStep = (): readonly StreamChunk[] => {
    const ended = [...closeBlock(), ...(isStepOpen ? [{ type: 'finish-step' }] : [])]
    isStepOpen = false
    return ended
  }
  const toDelta = (kind: 'text' | 'reasoning', delta: string): readonly StreamChunk[] => {
    const before = open !== null && open.kind !== kind ? closeBlock() : []
    const step = openStep()
    const isNew = open === null
    open ??= { kind, id: `${kind}-${blocks++}` }
    const { id } = open
    return [
      ...before,
      ...step,
      ...(isNew ? [{ type: `${kind}-start`, id }] : []),
      { type: `${kind}-delta`, id, delta },
    ]
  }
  /** A part by itself: closes the text before it. */
  const add = (...chunks: readonly StreamChunk[]): readonly StreamChunk[] => [
    ...closeBlock(),
    ...openStep(),
    ...chunks,
  ]

  const finish = (reason: string): readonly StreamChunk[] => {
    isFinished = true
    const finishReason = reason === '' || reason === 'unknown' ? 'other' : reason
    return [...closeStep(), { type: 'finish', finishReason }]
  }

  const endCall = (toolCallId: string, chunk: StreamChunk): readonly StreamChunk[] => {
    if (ended.has(toolCallId)) return []
    ended.add(toolCallId)
    return add(chunk)
  }
  const release = (): readonly StreamChunk[] => {
    const results = held
    held = []
    return results.flatMap(({ toolCallId, output }) =>
      annotated.get(toolCallId)?.isComplete === false
        ? endCall(toolCallId, { type: 'tool-output-error', toolCallId, errorText: brokenOff })
        : endCall(toolCallId, { type: 'tool-output-available', toolCallId, output }),
    )
  }
  const annotate = (note: CallNote): readonly StreamChunk[] => {
    const { toolCallId, validated } = note
    annotated.set(toolCallId, note)
    if (validated === 'rejected') {
      return approvals
        ? endCall(toolCallId, { type: 'tool-output-denied', toolCallId })
        : endCall(toolCallId, { type: 'tool-output-error', toolCallId, errorText: declined })
    }
    if (!approvals || validated !== 'pending' || requested.has(toolCallId) || ended.has(toolCallId))
      return []
    requested.add(toolCallId)
    return add({ type: 'tool-approval-request', toolCallId, approvalId: `approval-${toolCallId}` })
  }
  const readRemark = (code: string, item: Json): readonly StreamChunk[] => {
    const note = code === lineCodes.annotations ? readCallNote(item) : null
    if (note !== null && calls.has(note.toolCallId)) return annotate(note)
    return add(toDataChunk(code)(item))
  }

  const readCall = (value: JsonObject): readonly StreamChunk[] => {
    const { toolCallId = '', toolName = '', args } = value
    const call = { toolCallId, toolName }
    calls.add(textOf(toolCallId))
    return args === undefined
      ? add({ type: 'tool-input-start', ...call })
      : add({ type: 'tool-input-available', ...call, input: args })
  }

  const readObject = (code: string, value: JsonObject): readonly StreamChunk[] => {
    const toolCallId = textOf(value.toolCallId)
    switch (code) {
      case lineCodes.startStep:
        return [...closeStep(), ...openStep(textOf(value.messageId))]
      case lineCodes.toolCallStart:
        return readCall({ toolCallId, toolName: value.toolName ?? '' })
      case lineCodes.toolCall:
        return readCall({ ...value, args: value.args ?? {} })
      case lineCodes.toolCalls:
        // Some backends announce a tool call with it; AI SDK 3 listed a provider's calls in it.
        return Array.isArray(value.tool_calls)
          ? readOldCalls(value.tool_calls as readonly Json[]).flatMap(readCall)
          : readCall(value)
      case lineCodes.toolCallDelta:
        if (!calls.has(toolCallId)) return []
        return add({
          type: 'tool-input-delta',
          toolCallId,
          inputTextDelta: textOf(value.argsTextDelta),
        })
      case lineCodes.toolResult:
        if (!calls.has(toolCallId)) return []
        held = [...held, { toolCallId, output: value.result ?? null }]
        // Only annotations can change a result, so without any about calls the result is not held back.
        return annotated.size === 0 ? release() : []
      case lineCodes.source:
        return add({
          type: 'source-url',
          sourceId: textOf(value.id),
          url: textOf(value.url),
          ...(typeof value.title === 'string' ? { title: value.title } : {}),
        })
      case lineCodes.file: {
        const mediaType = textOf(value.mimeType)
        return add({
          type: 'file',
          mediaType,
          url: `data:${mediaType};base64,${textOf(value.data)}`,
        })
      }
      case lineCodes.finishStep:
        if (value.isContinued !== true) lastReason = textOf(value.finishReason)
        return closeStep()
      case lineCodes.finishMessage:
        return finish(textOf(value.finishReason))
      default:
        return []
    }
  }

  return {
    read(line) {
      const parsed = parseLine(line)
      if (line.trim() !== '') isLastBroken = parsed === null
      if (parsed === null || isFinished) return []
      const { code, value } = parsed
      const isDataOrAnnotation = code === lineCodes.data || code === lineCodes.annotations
      if (isDataOrAnnotation) {
        const items: readonly Json[] = Array.isArray(value) ? value : []
        return items.flatMap((item) => readRemark(code, item))
      }
      lastReason = null
      const before = code === lineCodes.toolResult ? [] : release()
      if (typeof value === 'string') {
        if (code === lineCodes.text) return [...before, ...toDelta('text', value)]
        if (code === lineCodes.reasoning) return [...before, ...toDelta('reasoning', value)]
        if (code !== lineCodes.error) return before
        isFinished = true
        return [...before, ...closeStep(), { type: 'error', errorText: value }]
      }
      return isJsonObject(value) ? [...before, ...readObject(code, value)] : before
    },
    end() {
      if (isFinished) return []
      const before = release()
      // Many backends end with their last step and send no end of the message.
      if (lastReason !== null) return [...before, ...finish(lastReason)]
      isFinished = true
      if (unfinished === 'as-it-is' && !isLastBroken) return [...before, ...closeBlock()]
      const errorText = 'The stream ended before its end.'
      return [...before, ...closeStep(), { type: 'error', errorText }]
    },
  }
}

/**
 * `{id, function: {name, arguments}}`, as OpenAI writes it. The arguments are text, so whoever has checked the line before it
 * was parsed has not seen what is inside: texts of the calls of a line that are together longer, or wider, than one value may
 * be would block the event loop, and stay text (CL6b OP7).
 */
function readOldCalls(calls: readonly Json[]): readonly JsonObject[] {
  let [chars, keys] = [0, 0]
  const isTooMuch = (text: string): boolean => {
    chars += text.length
    if (chars > mostArgumentChars) return true
    const shape = createJsonScanner(mostWidth.keys)(text)
    keys += shape.keys
    return shape.depth > deepestJson || keys > mostWidth.keys
  }
  return calls.flatMap((call) => {
    if (!isJsonObject(call) || !isJsonObject(call.function)) return []
    const { name = '', arguments: given } = call.function
    const text = textOf(given) || '{}'
    const args = isTooMuch(text) ? text : (parseLine(`9:${text}`)?.value ?? {})
    return [{ toolCallId: call.id ?? '', toolName: name, args }]
  })
}

/** So many are scanned and parsed within some milliseconds, and are no more values than one may have inside. */
const mostArgumentChars = 1_000_000

/** Data and annotations that a backend sends beside its message. */
const toDataChunk =
  (code: string) =>
  (item: Json): StreamChunk => {
    if (code === lineCodes.annotations) return { type: 'data-annotation', data: item }
    return isJsonObject(item) && textOf(item.type).startsWith('data-')
      ? (item as StreamChunk)
      : { type: 'data-legacy', data: item }
  }
