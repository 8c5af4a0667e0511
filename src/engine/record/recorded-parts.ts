import type { TextStreamPart, ToolSet } from 'ai'
import { cutErrorText } from '../../core/error-text.ts'
import { isJsonObject } from '../../core/json.ts'
import type { ItemPart } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import { type StreamChunk, textOf } from '../../protocol/data-stream/stream-chunk.ts'
import type { ResumableTurn } from '../options/options.ts'
import { WordedError } from '../worded-error.ts'
import { readAhead } from '../model/read-ahead.ts'
import { isSoundPart } from '../model/sound-part.ts'
import { toJson } from '../to-json.ts'

/** A `data-<name>` part of the host application; one with the same name and id replaces the earlier one. */
export type RecordedData = Extract<ItemPart, { readonly type: 'data' }>

/** A file that is given by its address. */
export type RecordedFile = Extract<ItemPart, { readonly type: 'file' | 'reasoning-file' }>

/** What `streamText` emits, and what a host application sends beside it. */
export type RecordedPart = TextStreamPart<ToolSet> | RecordedData | RecordedFile

/**
 * What `record` reads: the parts of a `streamText` (`result.stream`, `result.fullStream`), the chunks of a UI message
 * stream (`toUIMessageStream()`, `createUIMessageStream()`), or pieces of plain text (`result.textStream`). Parts of an
 * unknown type are passed on and not stored.
 */
export type RecordedSource = AsyncIterable<unknown>

/**
 * Runs the host application's loop, once what it is to answer has been stored: not for a message that is refused or was sent
 * before, and with the prompt of the ledger. A client's messages may say that a call was approved that nobody has approved.
 */
export type RecordedLoop = (turn: ResumableTurn) => RecordedSource | Promise<RecordedSource>

/**
 * Converts everything that can be read to the parts of `streamText`, so that it is stored by the same code. The host
 * application's own `data-…` parts go into the neighbouring step: backends send them before their first step and after
 * an end too, where no step is open. `left`: the source is closed, also where it opens later.
 */
export async function* toRecordedParts(
  open: () => RecordedSource | Promise<RecordedSource>,
  left: AbortSignal,
): AsyncGenerator<RecordedPart> {
  const source = await open()
  if (left.aborted) {
    closeSource(source)
    return
  }
  const early: RecordedPart[] = []
  let stepEnd: readonly RecordedPart[] = []
  let hasBegun = false
  let hasCalls = false
  let isPlain = false
  for await (const item of readAhead(source, left)) {
    if (typeof item === 'string') {
      if (!isPlain) yield* [...early.splice(0), { type: 'text-start', id: plainText } as const]
      isPlain = true
      yield { type: 'text-delta', id: plainText, text: item }
      continue
    }
    if (typeof item !== 'object' || item === null || !('type' in item)) continue
    const { type } = item as { readonly type: unknown }
    if (typeof type !== 'string') continue
    const chunk = item as StreamChunk
    if (type === 'data' || type.startsWith('data-')) {
      const data = toData(chunk, type === 'data' ? chunk['name'] : type.slice('data-'.length))
      early.push(...data)
      // This many parts before the first step are not a preface any more, and would be held for ever.
      hasBegun ||= early.length >= mostEarly
      if (hasBegun) yield* early.splice(0)
      continue
    }
    if (type === 'start-step') hasCalls = false
    if (type === 'tool-input-available' || type === 'tool-call') hasCalls = true
    const parts = (toParts(chunk, hasCalls) ?? [item]).filter(
      isSoundPart,
    ) as readonly RecordedPart[]
    if (parts.length === 0) continue
    yield* stepEnd
    stepEnd = []
    if (type === 'finish-step') {
      stepEnd = parts
      continue
    }
    hasBegun ||= beginning.test(type)
    const begins = type === 'start-step'
    if (!hasBegun) yield* parts
    else {
      const data = early.splice(0)
      yield* begins ? [...parts, ...data] : [...data, ...parts]
    }
  }
  yield* early
  yield* stepEnd
  if (isPlain) yield { type: 'text-end', id: plainText }
}

/**
 * Cancels the producer of a source that nothing reads; its result is not awaited. Inside of an async function, because an
 * iterator of the host application may throw at once.
 */
export function closeSource(source: RecordedSource | RecordedLoop): void {
  if (typeof source === 'function') return
  const close = async () => source[Symbol.asyncIterator]().return?.()
  close().catch(() => undefined)
}

const plainText = 'text'
const noReason = 'No reason was given.'
const mostEarly = 1_000
/** Parts that belong into a step. Any other may come before the first one. */
const beginning = /^(start-step|finish|text-|reasoning-|tool-|source|file|custom)/

/** Transient data, and Holdfast's own data about a turn, are not part of a message. */
function toData({ id, data, transient }: StreamChunk, name: unknown): readonly RecordedData[] {
  if (typeof name !== 'string' || name === '' || name === 'holdfast' || transient === true)
    return []
  const part = { type: 'data', name, data: toJson(data) } as const
  return [withDefined(part, { id: typeof id === 'string' ? id : undefined })]
}

/** The `streamText` parts for a chunk; undefined for what is a part already, or unknown. */
function toParts(chunk: StreamChunk, hasCalls: boolean): readonly object[] | undefined {
  const { type, providerMetadata } = chunk
  const call = () =>
    withDefined(
      { toolCallId: textOf(chunk['toolCallId']), toolName: textOf(chunk['toolName']) },
      {
        dynamic: chunk['dynamic'] === true ? true : undefined,
        providerExecuted: chunk['providerExecuted'] === true ? true : undefined,
        title: typeof chunk['title'] === 'string' ? chunk['title'] : undefined,
        toolMetadata: chunk['toolMetadata'],
        providerMetadata,
      },
    )
  switch (type) {
    case 'start':
    case 'abort':
      return [{ type }]
    case 'finish-step': {
      if ('usage' in chunk) return undefined
      return [{ type, finishReason: chunk['finishReason'] ?? (hasCalls ? 'tool-calls' : 'stop') }]
    }
    case 'text-delta':
    case 'reasoning-delta': {
      const id = textOf(chunk['id'])
      const text = chunk['text'] ?? chunk['delta']
      return [withDefined({ type, id, text: textOf(text) }, { providerMetadata })]
    }
    case 'tool-input-start': {
      if ('id' in chunk) return undefined
      const { toolCallId: id, ...rest } = call()
      return [{ type, id, ...rest }]
    }
    case 'tool-input-delta':
      if ('id' in chunk) return undefined
      return [{ type, id: textOf(chunk['toolCallId']), delta: textOf(chunk['inputTextDelta']) }]
    case 'tool-input-available':
      return [{ type: 'tool-call', ...call(), input: chunk['input'] ?? null }]
    case 'tool-input-error': {
      const error = textOf(chunk['errorText'])
      const { toolCallId } = call()
      return [
        { type: 'tool-call', ...call(), input: chunk['input'] ?? null },
        { type: 'tool-error', toolCallId, error },
      ]
    }
    case 'tool-output-available': {
      const preliminary = chunk['preliminary'] === true
      return [{ type: 'tool-result', ...call(), output: chunk['output'] ?? null, preliminary }]
    }
    case 'tool-output-error':
      return [{ type: 'tool-error', ...call(), error: textOf(chunk['errorText']) }]
    case 'tool-approval-request': {
      if ('toolCall' in chunk) return undefined
      const { approvalId, isAutomatic, signature, toolCallId = '' } = chunk
      const request = { type, approvalId: textOf(approvalId), toolCall: { toolCallId } }
      return [withDefined(request, { isAutomatic, signature })]
    }
    case 'source-url':
    case 'source-document': {
      const { sourceId = '', url = '', title, mediaType, filename } = chunk
      const sourceType = type === 'source-url' ? 'url' : 'document'
      return [
        withDefined(
          { type: 'source', sourceType, id: sourceId },
          sourceType === 'url'
            ? { url, title, providerMetadata }
            : { mediaType, title: title ?? '', filename, providerMetadata },
        ),
      ]
    }
    case 'file':
    case 'reasoning-file': {
      // Of a part of `streamText`, which has its content, nothing else is taken.
      const { file, url, mediaType } = chunk
      if (isJsonObject(file)) return [withDefined({ type, file }, { providerMetadata })]
      return typeof url === 'string' ? [{ type, url, mediaType: textOf(mediaType) }] : []
    }
    case 'error':
      return 'errorText' in chunk
        ? [
            {
              type,
              error: new WordedError(cutErrorText(textOf(chunk['errorText']).trim()) || noReason),
            },
          ]
        : undefined
    default:
      return undefined
  }
}
