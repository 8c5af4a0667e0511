import type { LedgerEvent } from '../core/event.ts'
import type { CallId, Seq } from '../core/ids.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import type { Turn } from '../core/message.ts'
import { parsePartialJson } from '../core/partial-json.ts'
import type { AuditEvent, AuditMessage } from '../store/audit.ts'
import { decodeEvent } from '../store/event-batch.ts'
import { readStoredJson } from '../store/stored-output.ts'
import { isSnapshot, readSnapshot, toSnapshot } from '../store/turn-snapshot.ts'

const someOutput = { output: 'null', outputBytes: 4, modelOutput: null } as const

/** A turn according to its body, without the rows of its calls. Null: the body cannot be parsed. */
export function readExpectedTurn(row: AuditMessage): Turn | null {
  const { messageId: id, seq, bodySeq, createdAt, body } = row
  if (body === null || bodySeq === null) return null
  const value = readStoredJson(body)
  if (!isSnapshot(value)) return null
  const calls = value.steps.flatMap((step) =>
    step.parts.flatMap(({ type, id: callId }) =>
      type === 'call' ? [{ ...someOutput, ...unknownCall, callId: callId as CallId }] : [],
    ),
  )
  return readSnapshot({ id, seq, bodySeq, createdAt }, body, calls)
}

const unknownCall = { name: '', lifecycle: 'succeeded', input: 'null' } as const

/** An event according to its payload, with a placeholder wherever the payload has a result. */
export const readExpectedEvent = ({ seq, at, turn, payload }: AuditEvent): LedgerEvent =>
  decodeEvent({ seq, at, turnId: turn?.turnId ?? null }, readStoredJson(payload), () => someOutput)

/**
 * The payload of the row that replaces lost events, so that the seqs of a thread have no gap. Readers skip
 * its unknown type like any row that they cannot parse; the check recognises a repaired gap by it, and would
 * otherwise report the same gap for ever.
 */
export const lostPayload = (from?: Seq): string => JSON.stringify({ type: 'lost', from })

/** The first seq that a row of lost events covers, if it is one. */
export function readLost({ seq, payload }: AuditEvent): Seq | undefined {
  const value = payload.startsWith('{"type":"lost"') ? readStoredJson(payload) : undefined
  if (!isJsonObject(value) || value.type !== 'lost') return undefined
  return typeof value.from === 'number' ? value.from : seq
}

/** The first seq that a rewrite of the thread removed, if the event is one. */
export function readRewritten({ payload }: AuditEvent): Seq | undefined {
  const value = payload.startsWith('{"type":"messages-retired"')
    ? readStoredJson(payload)
    : undefined
  return isJsonObject(value) && typeof value.from === 'number' ? value.from : undefined
}

export function isReadableUserBody(body: string | null): boolean {
  const value = readStoredJson(body ?? '')
  return isJsonObject(value) && Array.isArray(value.parts)
}

/** What can be parsed of a person's message; where that is nothing, the stored text itself. */
export function mendUserBody({ body }: AuditMessage): string {
  const value = parsePartialJson(body ?? '')
  const { parts, metadata } = isJsonObject(value) ? value : {}
  const readable = Array.isArray(parts) ? (parts as readonly Json[]).filter(isJsonObject) : []
  const kept = readable.length > 0 ? readable : [{ type: 'text', text: body ?? '' }]
  return JSON.stringify({ parts: kept, metadata })
}

/** The turn that a reader makes of a body that it cannot parse: the calls of its rows. */
export function mendTurnBody(row: AuditMessage): string {
  const { messageId: id, seq, createdAt } = row
  const turnRow = { id, seq, bodySeq: row.bodySeq ?? seq, createdAt }
  const calls = row.calls.map(({ callId, name, lifecycle, input, output }) => ({
    callId,
    name,
    lifecycle,
    // Only their presence matters: the values stay in the rows.
    input: input === 'none' ? null : '{}',
    output: output === 'none' ? null : '{}',
    outputBytes: output === 'none' ? null : 2,
    modelOutput: null,
  }))
  return toSnapshot(readSnapshot(turnRow, '', calls))
}
