import type { Call, CallInput, CallOutput } from '../core/call.ts'
import { emptyTurn } from '../core/fold-turn.ts'
import type { CallId, MessageId, Seq } from '../core/ids.ts'
import { isJsonObject, type JsonObject } from '../core/json.ts'
import type { CallLifecycle } from '../core/lifecycle.ts'
import type { Part, Step, Turn } from '../core/message.ts'
import { readStoredJson, readOutput, type StoredOutput } from './stored-output.ts'

/** A row of `calls` without its turn. */
export interface StoredCall extends StoredOutput {
  readonly callId: CallId
  readonly name: string
  readonly lifecycle: CallLifecycle
  readonly input: string | null
}

/** The columns of a turn's row beside its body. */
export interface TurnRow {
  readonly id: MessageId
  readonly seq: Seq
  readonly bodySeq: Seq
  readonly createdAt: number
}

/**
 * The fold of an ended turn as JSON text. Inputs and outputs are not in it: calls have rows of their own, so
 * that they can be queried, and left out of a page when large.
 */
export function toSnapshot(turn: Turn): string {
  // The row has the versions, because they are made after the turn's end.
  const { id, seq, lastSeq, createdAt, role, versions, ...body } = turn
  return JSON.stringify({ ...body, steps: body.steps.map(toStepBody) })
}

const toStepBody = (step: Step) => ({ ...step, parts: step.parts.map(toPartBody) })

function toPartBody(part: Part): object {
  if (part.type !== 'call') return part
  const input = part.input.kind === 'complete' ? undefined : part.input
  return part.state === 'succeeded'
    ? { ...part, input, output: undefined, modelOutput: undefined }
    : { ...part, input }
}

/**
 * The turn as it was when it ended. If its body cannot be parsed, the calls that have rows are still returned
 * (LG7). `rows`: null if they were not read; its calls then have no values.
 */
export function readSnapshot(
  turnRow: TurnRow,
  body: string,
  rows: readonly StoredCall[] | null,
): Turn {
  const value = readStoredJson(body)
  if (!isSnapshot(value)) return salvageTurn(turnRow, rows ?? [])
  const byId = rows === null ? null : new Map(rows.map((row) => [row.callId, row]))
  const steps = value.steps.map((step) => ({
    ...step,
    parts: step.parts.map((part) => (part.type === 'call' ? readCall(part, byId) : part)),
  }))
  return {
    ...(value as unknown as Turn),
    role: 'assistant',
    id: turnRow.id,
    seq: turnRow.seq,
    lastSeq: turnRow.bodySeq,
    createdAt: turnRow.createdAt,
    steps: steps as unknown as readonly Step[],
  }
}

type Snapshot = JsonObject & {
  readonly steps: readonly (JsonObject & { readonly parts: readonly JsonObject[] })[]
}

export function isSnapshot(value: unknown): value is Snapshot {
  return (
    isJsonObject(value) &&
    isJsonObject(value.progress) &&
    Array.isArray(value.steps) &&
    value.steps.every(
      (step) => isJsonObject(step) && Array.isArray(step.parts) && step.parts.every(isJsonObject),
    )
  )
}

function readCall(part: JsonObject, rows: ReadonlyMap<CallId, StoredCall> | null): object {
  if (rows === null) {
    const input = part.input ?? noInput
    return part.state === 'succeeded' ? { ...part, input, output: unread } : { ...part, input }
  }
  const row = rows.get(part.id as CallId)
  const input = part.input ?? (row === undefined ? noInput : readInput(row))
  if (part.state !== 'succeeded') return { ...part, input }
  const output = row === undefined ? undefined : readOutput(row)
  // The call's row is gone. Without its result it cannot be shown as succeeded, and it must not be shown as
  // running.
  if (output === undefined) return { ...part, input, state: 'interrupted', cause: 'no-result' }
  const modelOutput = row?.modelOutput == null ? undefined : readStoredJson(row.modelOutput)
  return { ...part, input, output, ...(modelOutput === undefined ? {} : { modelOutput }) }
}

const noInput: CallInput = { kind: 'partial', text: '' }
const unread: CallOutput = { kind: 'omitted', bytes: 0 }

function readInput(row: StoredCall): CallInput {
  if (row.input === null) return noInput
  const value = readStoredJson(row.input)
  return value === undefined ? { kind: 'partial', text: row.input } : { kind: 'complete', value }
}

function salvageTurn(turnRow: TurnRow, rows: readonly StoredCall[]): Turn {
  const at = turnRow.createdAt
  const parts = rows.map((row): Call => {
    const output = readOutput(row)
    const base = {
      type: 'call',
      id: row.callId,
      providerCallId: row.callId,
      name: row.name,
      step: 0,
      input: readInput(row),
      approval: 'not-required',
      createdAt: at,
      endedAt: at,
    } as const
    return output === undefined
      ? { ...base, state: 'interrupted', cause: 'no-result' }
      : { ...base, state: 'succeeded', output }
  })
  const step: Step = {
    index: 0,
    status: 'ended',
    finishReason: 'interrupted',
    parts,
    startedAt: at,
    endedAt: at,
  }
  return {
    ...emptyTurn(turnRow.id, turnRow.seq, at),
    lastSeq: turnRow.bodySeq,
    progress: { status: 'ended', ending: { kind: 'interrupted' }, endedAt: at },
    steps: parts.length === 0 ? [] : [step],
    unreadable: 1,
  }
}
