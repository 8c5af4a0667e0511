import type { LedgerEvent } from '../core/event.ts'
import type { CallId, Seq } from '../core/ids.ts'
import { isJsonObject } from '../core/json.ts'
import type { Turn } from '../core/message.ts'
import type { AuditEvent, AuditMessage } from '../store/audit.ts'
import { decodeEvent } from '../store/event-batch.ts'
import { readStoredJson } from '../store/stored-output.ts'
import { isSnapshot, readSnapshot } from '../store/turn-snapshot.ts'

const someOutput = { output: 'null', outputBytes: 4, modelOutput: null } as const

/** A turn as its body tells it, whatever the rows of its calls say. Null: the body cannot be read. */
export function readToldTurn(row: AuditMessage): Turn | null {
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

const unknownCall = { name: '', life: 'succeeded', input: 'null' } as const

/** An event as its payload tells it, with a result wherever it says that there is one. */
export const readToldEvent = ({ seq, at, turn, payload }: AuditEvent): LedgerEvent =>
  decodeEvent({ seq, at, turnId: turn?.turnId ?? null }, readStoredJson(payload), () => someOutput)

/**
 * What stands in the place of facts that are lost. Readers do not know the type and pass over it as
 * over any row that they cannot read; to the check it says that somebody has seen to it.
 */
export const lostPayload = (from?: Seq): string => JSON.stringify({ type: 'lost', from })

/** The first number that a lost row stands for, if it is one. */
export function readLost({ seq, payload }: AuditEvent): Seq | undefined {
  const value = payload.startsWith('{"type":"lost"') ? readStoredJson(payload) : undefined
  if (!isJsonObject(value) || value.type !== 'lost') return undefined
  return typeof value.from === 'number' ? value.from : seq
}

/** The first number that a rewrite of the thread took out, if the event is one. */
export function readRewritten({ payload }: AuditEvent): Seq | undefined {
  const value = payload.startsWith('{"type":"messages-retired"')
    ? readStoredJson(payload)
    : undefined
  return isJsonObject(value) && typeof value.from === 'number' ? value.from : undefined
}
