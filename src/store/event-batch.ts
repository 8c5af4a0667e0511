import type { CallOutput } from '../core/call.ts'
import type { LedgerEvent, NewEvent } from '../core/event.ts'
import type { CallId, MessageId, Seq } from '../core/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { type EventColumns, parseEvent } from '../core/parse-event.ts'
import { withDefined } from '../core/with-defined.ts'
import { readStoredJson, readOutput, type StoredOutput } from './stored-output.ts'

/**
 * A row of `events`: neighbouring events of one commit that belong to one turn, or to none. They are written
 * and read together, so they share a row, with one line of JSON per event; a damaged line costs that event
 * and no other (LG7).
 */
export interface EventBatch {
  /** The seq of its last event: a reader that continues after a seq then finds the batch that contains it. */
  readonly seq: Seq
  readonly size: number
  readonly turnId: MessageId | null
  /** The time of its first event. A line has its own `at` only where it differs. */
  readonly at: number
  readonly payload: string
}

/** One event of a batch as it is stored; `body` is undefined if its line is not JSON. */
export interface BatchedEvent extends EventColumns {
  readonly line: string
  readonly body: Json | undefined
}

export interface BatchEncoder {
  add(event: NewEvent, turnId: MessageId | null, seq: Seq): void
  batches(): readonly EventBatch[]
}

/** Encodes the events of a commit, added in order, without those that are stored in another table. */
export function createBatchEncoder(): BatchEncoder {
  const batches: { -readonly [Key in keyof EventBatch]: EventBatch[Key] }[] = []
  return {
    add(event, turnId, seq) {
      const last = batches.at(-1)
      if (last === undefined || last.turnId !== turnId || last.seq + 1 !== seq) {
        const { at } = event
        batches.push({ seq, size: 1, turnId, at, payload: encodeLine(event, at) })
      } else {
        last.payload += `\n${encodeLine(event, last.at)}`
        last.size++
        last.seq = seq
      }
    },
    batches: () => batches,
  }
}

/**
 * The JSON text of an event, without the fields that the row has. A final output is left out too: it is
 * stored in the call's own row only, and `decodeBatch` puts it back. So a result cannot exist twice, and a
 * lazy read never loads it. JSON escapes line breaks, so an event never spans two lines.
 */
function encodeLine(event: NewEvent, at: number): string {
  // JSON leaves out fields that are undefined, which is cheaper than copying the others: this runs for every
  // text delta.
  const ownTime = event.at === at ? undefined : event.at
  const line = { ...event, at: ownTime, turnId: undefined, seq: undefined }
  if (event.type === 'call-settled' && event.outcome.state === 'succeeded') {
    return JSON.stringify({ ...line, outcome: { state: 'succeeded' } })
  }
  if (event.type === 'call-resolved') return JSON.stringify({ ...line, output: undefined })
  return JSON.stringify(line)
}

/** The events of a batch, each with its own seq and time. A missing line counts as an empty one. */
export function splitBatch({
  seq,
  turnId,
  at,
  payload,
  ...row
}: EventBatch): readonly BatchedEvent[] {
  // A thread has no more events than its last seq: a damaged size must not allocate without bound.
  const size = Math.min(row.size, seq)
  const lines = size === 1 ? [payload] : payload.split('\n')
  return Array.from({ length: size }, (_, index) => {
    const line = lines[index] ?? ''
    const body = readStoredJson(line)
    const ownTime = isJsonObject(body) && typeof body.at === 'number' ? body.at : at
    return { seq: seq - size + 1 + index, at: ownTime, turnId, line, body }
  })
}

/** Returns the output columns of a call, for events with which it got a result. */
export type OutputOf = (callId: CallId) => StoredOutput | undefined

/** The call to which the event gives a result; null if it gives none. */
export function resultOf(body: Json | undefined): CallId | null {
  if (!isJsonObject(body)) return null
  const hasResult = body.type === 'call-settled' || body.type === 'call-resolved'
  return hasResult && typeof body.callId === 'string' ? body.callId : null
}

export const decodeBatch = (batch: EventBatch, outputOf: OutputOf): readonly LedgerEvent[] =>
  splitBatch(batch).map(({ body, seq, at, turnId }) =>
    decodeEvent({ seq, at, turnId }, body, outputOf),
  )

export const decodeEvent = (
  columns: EventColumns,
  body: Json | undefined,
  outputOf: OutputOf,
): LedgerEvent => parseEvent(columns, withOutput(body, outputOf))

function withOutput(body: Json | undefined, outputOf: OutputOf): unknown {
  if (!isJsonObject(body)) return body
  if (body.type === 'call-resolved') {
    const isDone = isJsonObject(body.resolution) && body.resolution.kind === 'done'
    return isDone ? { ...body, output: outputsOf(body, outputOf).output } : body
  }
  if (body.type !== 'call-settled' || !isJsonObject(body.outcome)) return body
  if (body.outcome.state !== 'succeeded') return body
  return { ...body, outcome: { state: 'succeeded', ...outputsOf(body, outputOf) } }
}

function outputsOf(
  { callId }: JsonObject,
  outputOf: OutputOf,
): { readonly output?: CallOutput; readonly modelOutput?: Json } {
  const stored = typeof callId === 'string' ? outputOf(callId) : undefined
  if (stored === undefined) return {}
  const modelOutput = stored.modelOutput === null ? undefined : readStoredJson(stored.modelOutput)
  return withDefined({}, { output: readOutput(stored), modelOutput })
}
