import type { CallOutput } from '../core/call.ts'
import type { LedgerEvent, NewEvent } from '../core/event.ts'
import type { CallId, MessageId, Seq } from '../core/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { type EventPlace, parseEvent } from '../core/parse-event.ts'
import { withDefined } from '../core/with-defined.ts'
import { readStoredJson, readOutput, type StoredOutput } from './stored-output.ts'

/**
 * A row of `events`: neighbouring events of one commit that are about one turn, or about none. They are
 * written together and read together, so they are one row, with one line of JSON for each; a line that
 * is damaged costs that event and no other (LG7).
 */
export interface EventBatch {
  /** Of its last event: whoever reads on from a seq finds the batch that this seq is in the middle of. */
  readonly seq: Seq
  readonly size: number
  readonly turnId: MessageId | null
  /** Of its first event. A line has its own time only where that is another. */
  readonly at: number
  readonly payload: string
}

/** One event of a batch, as it is stored; without `body` if its line is not JSON. */
export interface BatchedEvent extends EventPlace {
  readonly line: string
  readonly body: Json | undefined
}

export interface BatchEncoder {
  add(event: NewEvent, turnId: MessageId | null, seq: Seq): void
  batches(): readonly EventBatch[]
}

/** Takes the events of a commit in their order, without those that have another home. */
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
 * The JSON text of an event, without what the row says. A final output is left out too: its one place
 * is the call's own row, from where `decodeBatch` puts it back. So a result cannot exist twice, and a
 * lazy read never touches it. JSON writes line breaks as \n, so a line is a line.
 */
function encodeLine(event: NewEvent, at: number): string {
  // Left out by JSON, and cheaper than copying the rest: this runs for every piece of text.
  const line = { ...event, at: event.at === at ? undefined : event.at, turnId: undefined }
  if (event.type === 'call-settled' && event.outcome.state === 'succeeded') {
    return JSON.stringify({ ...line, outcome: { state: 'succeeded' } })
  }
  if (event.type === 'call-resolved') return JSON.stringify({ ...line, output: undefined })
  return JSON.stringify(line)
}

/** Its events one by one, each with its own place. A line that is missing is an empty one. */
export function splitBatch({
  seq,
  turnId,
  at,
  payload,
  ...row
}: EventBatch): readonly BatchedEvent[] {
  // No thread has more events than its last number; a size that is damaged must not fill the memory.
  const size = Math.min(row.size, seq)
  const lines = size === 1 ? [payload] : payload.split('\n')
  return Array.from({ length: size }, (_, index) => {
    const line = lines[index] ?? ''
    const body = readStoredJson(line)
    const ownTime = isJsonObject(body) && typeof body.at === 'number' ? body.at : at
    return { seq: seq - size + 1 + index, at: ownTime, turnId, line, body }
  })
}

/** The output columns of a call, for those events that say that it has a result. */
export type OutputOf = (callId: CallId) => StoredOutput | undefined

/** The call whose result the event tells of. */
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
  place: EventPlace,
  body: Json | undefined,
  outputOf: OutputOf,
): LedgerEvent => parseEvent(place, withOutput(body, outputOf))

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
