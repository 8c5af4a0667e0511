import { isJsonObject, type Json } from '../core/json.ts'
import { parsePartialJson } from '../core/partial-json.ts'
import type { AuditMessage } from '../store/audit.ts'
import { readStoredJson } from '../store/stored-output.ts'
import { readSnapshot, toSnapshot } from '../store/turn-snapshot.ts'

export function isReadableUserBody(body: string | null): boolean {
  const value = readStoredJson(body ?? '')
  return isJsonObject(value) && Array.isArray(value.parts)
}

/** What can be read of a person's message; where that is nothing, the text that stood there. */
export function mendUserBody({ body }: AuditMessage): string {
  const value = parsePartialJson(body ?? '')
  const { parts, metadata } = isJsonObject(value) ? value : {}
  const readable = Array.isArray(parts) ? (parts as readonly Json[]).filter(isJsonObject) : []
  const kept = readable.length > 0 ? readable : [{ type: 'text', text: body ?? '' }]
  return JSON.stringify({ parts: kept, metadata })
}

/** What a reader makes of a turn whose body it cannot read: its calls, by their rows. */
export function mendTurnBody(row: AuditMessage): string {
  const { messageId: id, seq, createdAt } = row
  const place = { id, seq, bodySeq: row.bodySeq ?? seq, createdAt }
  const calls = row.calls.map(({ callId, name, life, input, output }) => ({
    callId,
    name,
    life,
    // Only whether they are there counts: both stay in the rows.
    input: input === 'none' ? null : '{}',
    output: output === 'none' ? null : '{}',
    outputBytes: output === 'none' ? null : 2,
    modelOutput: null,
  }))
  return toSnapshot(readSnapshot(place, '', calls))
}
