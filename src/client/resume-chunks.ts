import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'

/** A chunk of an AI SDK UI message stream, with the fields that are used here. The others pass unchanged. */
export interface AnyChunk {
  readonly type: string
  readonly id?: string
  readonly toolCallId?: string
  readonly delta?: string
  readonly inputTextDelta?: string
  readonly messageId?: string
  readonly messageMetadata?: Json
  readonly providerMetadata?: JsonObject
  readonly transient?: boolean
  readonly finishReason?: string
}

/**
 * Tracks what a reader has received of a turn over any number of streams, each of which replays the turn from the same
 * beginning. The streams may split a text differently, and may contain different intermediate states.
 */
export interface ResumedChunks {
  /** The id of the message that is streamed; undefined before its `start`. */
  readonly messageId: () => string | undefined
  /** Another stream begins. */
  readonly restart: () => void
  /** The next chunk of the stream: unchanged, its new part, or null if the reader has all of it. */
  readonly next: (chunk: AnyChunk) => AnyChunk | null
}

/** A text, a reasoning, or the arguments of a call, as far as the reader has it. */
interface Span {
  /** The chunk that began it. */
  start: string
  length: number
  isEnded: boolean
  /** The last provider metadata that the reader received. */
  metadata: string | undefined
  /**
   * Metadata of a `start` that was left out, which the reader does not have. It is sent with the next chunk of the
   * span.
   */
  unsent: JsonObject | undefined
}

const spanKinds: ReadonlyMap<string, 'start' | 'delta' | 'end'> = new Map([
  ['text-start', 'start'],
  ['text-delta', 'delta'],
  ['text-end', 'end'],
  ['reasoning-start', 'start'],
  ['reasoning-delta', 'delta'],
  ['reasoning-end', 'end'],
])
/** Of these the last one counts: a client replaces an earlier one. */
const outcomes: ReadonlySet<string> = new Set([
  'tool-output-available',
  'tool-output-error',
  'tool-output-denied',
])
const endings: ReadonlySet<string> = new Set(['finish', 'abort', 'error'])

export function createResumedChunks(): ResumedChunks {
  let hasStarted = false
  let messageId: string | undefined
  let metadata: string | undefined
  const spans = new Map<string, Span>()
  const latest = new Map<string, string>()
  const given = new Map<string, number>()
  // State of the stream that is being read.
  let seen = new Map<string, number>()
  let places = new Map<string, number>()

  const count = (of: Map<string, number>, key: string, by = 1): number => {
    const sum = (of.get(key) ?? 0) + by
    of.set(key, sum)
    return sum
  }
  const ifChanged = (key: string, chunk: AnyChunk): AnyChunk | null => {
    const json = toKey(chunk)
    if (latest.get(key) === json) return null
    latest.set(key, json)
    return chunk
  }
  const ifMore = (chunk: AnyChunk): AnyChunk | null => {
    const key = toKey(chunk)
    if (count(seen, key) <= (given.get(key) ?? 0)) return null
    count(given, key)
    return chunk
  }

  const start = (chunk: AnyChunk): AnyChunk | null => {
    const isFirst = !hasStarted
    hasStarted = true
    messageId ??= chunk.messageId
    const previous = metadata
    if (chunk.messageMetadata !== undefined) metadata = toKey(chunk.messageMetadata)
    if (isFirst) return chunk
    // A turn begins once; changes of its metadata since are sent as a chunk in mid-turn.
    return previous === metadata
      ? null
      : { type: 'message-metadata', messageMetadata: chunk.messageMetadata ?? null }
  }

  /** Providers number the texts of each step from the start: the second text of an id is another one. */
  const textSpan = (chunk: AnyChunk, kind: 'start' | 'delta' | 'end'): AnyChunk | null => {
    const name = `${chunk.type.slice(0, -kind.length)} ${chunk.id ?? ''}`
    const key = `${name} ${kind === 'start' ? count(seen, name) : (seen.get(name) ?? 0)}`
    const own = chunk.providerMetadata
    const span = spans.get(key)
    if (span === undefined) {
      if (kind !== 'start') return chunk
      spans.set(key, { ...emptySpan, metadata: own && toKey(own) })
      return chunk
    }
    if (own !== undefined) span.unsent = toKey(own) === span.metadata ? undefined : own
    if (kind === 'start' || span.isEnded) return null
    const withUnsentMetadata = (rest: AnyChunk): AnyChunk => {
      const { unsent } = span
      if (unsent === undefined) return rest
      span.metadata = toKey(unsent)
      span.unsent = undefined
      return { ...rest, providerMetadata: unsent }
    }
    if (kind === 'end') {
      span.isEnded = true
      return withUnsentMetadata(chunk)
    }
    const rest = restOf(span, key, chunk, 'delta')
    return rest.delta === '' && span.unsent === undefined ? null : withUnsentMetadata(rest)
  }

  const inputStart = (chunk: AnyChunk): AnyChunk | null => {
    const key = inputKey(chunk)
    const json = toKey(chunk)
    const isFirst = count(seen, key) === 1
    places.delete(key)
    if (isFirst && spans.get(key)?.start === json) return null
    spans.set(key, { ...emptySpan, start: json })
    return chunk
  }
  const inputDelta = (chunk: AnyChunk): AnyChunk | null => {
    const key = inputKey(chunk)
    const span = spans.get(key)
    if (span === undefined) return chunk
    const rest = restOf(span, key, chunk, 'inputTextDelta')
    return rest.inputTextDelta === '' ? null : rest
  }
  /** The part of a delta beyond what the reader has of the span. */
  const restOf = (
    span: Span,
    key: string,
    chunk: AnyChunk,
    field: 'delta' | 'inputTextDelta',
  ): AnyChunk => {
    const text = chunk[field] ?? ''
    const end = count(places, key, text.length)
    const fresh = Math.min(Math.max(end - span.length, 0), text.length)
    span.length += fresh
    return fresh === text.length ? chunk : { ...chunk, [field]: text.slice(text.length - fresh) }
  }

  return {
    messageId: () => messageId,
    restart() {
      seen = new Map()
      places = new Map()
    },
    next(chunk) {
      const { type } = chunk
      const kind = spanKinds.get(type)
      if (kind !== undefined) return textSpan(chunk, kind)
      if (type === 'start') return start(chunk)
      if (type === 'tool-input-start') return inputStart(chunk)
      if (type === 'tool-input-delta') return inputDelta(chunk)
      // A transient chunk is no part of the message, and no stream repeats it.
      if (chunk.transient === true) return chunk
      if (type === 'message-metadata') {
        const json = toKey(chunk.messageMetadata)
        if (json === metadata) return null
        metadata = json
        return chunk
      }
      if (outcomes.has(type)) return ifChanged(`output ${chunk.toolCallId ?? ''}`, chunk)
      const id = chunk.id
      if (type.startsWith('data-') && typeof id === 'string')
        return ifChanged(`${type} ${id}`, chunk)
      return ifMore(chunk)
    },
  }
}

/** Nothing follows this chunk that the reader would miss. */
export const isLastChunk = ({ type, finishReason }: AnyChunk): boolean =>
  // The error of a failed turn follows its `finish`.
  endings.has(type) && !(type === 'finish' && finishReason === 'error')

const emptySpan: Span = {
  start: '',
  length: 0,
  isEnded: false,
  metadata: undefined,
  unsent: undefined,
}
const inputKey = (chunk: AnyChunk): string => `tool-input ${chunk.toolCallId ?? ''}`

/** The same text for equal values: a database may return the fields of an object in another order. */
const toKey = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isJsonObject(inner) ? Object.fromEntries(Object.entries(inner).toSorted(byName)) : inner,
  ) ?? ''
const byName = ([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number =>
  left < right ? -1 : left > right ? 1 : 0
