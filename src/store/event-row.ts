import type { LedgerEvent, NewEvent } from '../core/event.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import { type EventPlace, parseEvent } from '../core/parse-event.ts'
import { parseStoredJson, readOutput, type StoredOutput } from './stored-output.ts'

/** A row of `events`, joined with the output columns of the call that it is about. */
export interface EventRow extends EventPlace, StoredOutput {
  readonly payload: string
}

/**
 * The JSON text of an event, without `seq`, `at` and `turnId`, which have columns. A final output is
 * left out too: its one place is the call's own row, from where `readEventRow` puts it back. So a
 * result cannot exist twice, and a lazy read never touches it.
 */
export function toEventPayload(event: NewEvent): string {
  // Left out by JSON, and cheaper than copying the rest: this runs for every piece of text.
  const payload = { ...event, at: undefined, turnId: undefined }
  if (event.type === 'call-settled' && event.outcome.state === 'succeeded') {
    return JSON.stringify({ ...payload, outcome: { state: 'succeeded' } })
  }
  if (event.type === 'call-resolved') return JSON.stringify({ ...payload, output: undefined })
  return JSON.stringify(payload)
}

export function readEventRow(row: EventRow): LedgerEvent {
  const place = { seq: row.seq, at: row.at, turnId: row.turnId }
  return parseEvent(place, withOutput(parseStoredJson(row.payload), row))
}

function withOutput(payload: Json | undefined, row: EventRow): unknown {
  if (!isJsonObject(payload)) return payload
  if (payload.type === 'call-resolved') {
    const output = isJsonObject(payload.resolution) && payload.resolution.kind === 'done'
    return output ? { ...payload, output: readOutput(row) } : payload
  }
  if (payload.type !== 'call-settled' || !isJsonObject(payload.outcome)) return payload
  if (payload.outcome.state !== 'succeeded') return payload
  const output = readOutput(row)
  const modelOutput = row.modelOutput === null ? undefined : parseStoredJson(row.modelOutput)
  return {
    ...payload,
    outcome: {
      state: 'succeeded',
      ...(output === undefined ? {} : { output }),
      ...(modelOutput === undefined ? {} : { modelOutput }),
    },
  }
}
