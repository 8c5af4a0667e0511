import { setImmediate } from 'node:timers/promises'
import type { CallOutput } from '../core/call.ts'
import type { LedgerEvent } from '../core/event.ts'
import type { CallId, ThreadId } from '../core/ids.ts'
import type { Message, Part } from '../core/message.ts'
import { createPacer } from './pacer.ts'
import { largestTurnBytes, lazyBytes, type ResultMode, type StoredChange } from './store.ts'
import { readOutputText, type StoredOutput } from './stored-output.ts'
import type { StoredCall } from './turn-snapshot.ts'

/** The approximate size of a message or an event as JSON, and its results that were left out. */
export interface Measured {
  readonly bytes: number
  readonly omitted: readonly StoredCall[]
}

export const isOmitted = (row: StoredCall): boolean =>
  row.output === null && row.outputBytes !== null

/** The results that a read of this kind has to load (OP7). */
export function largeOutputs({ bytes, omitted }: Measured, results: ResultMode): readonly CallId[] {
  if (results === 'lazy' || results === 'none' || omitted.length === 0) return []
  const isLarge = bytes + bytesLeftOut(omitted) > largestTurnBytes
  return results === 'bounded' && isLarge ? [] : omitted.map(({ callId }) => callId)
}

const bytesLeftOut = (omitted: readonly StoredCall[]): number =>
  omitted.reduce((sum, { outputBytes }) => sum + (outputBytes ?? 0), 0)

/** The first item and those after it that fit, with the calls whose results are still to be loaded. */
export function fitBytes(
  sizes: readonly Measured[],
  results: ResultMode,
  maxBytes: number,
): { readonly count: number; readonly ids: readonly CallId[]; readonly bytes: number } {
  const ids: CallId[] = []
  let total = 0
  for (const [index, size] of sizes.entries()) {
    const wanted = largeOutputs(size, results)
    const bytes = size.bytes + (wanted.length === 0 ? 0 : bytesLeftOut(size.omitted))
    if (index > 0 && total + bytes > maxBytes) return { count: index, ids, bytes: total }
    total += bytes
    ids.push(...wanted)
  }
  return { count: sizes.length, ids, bytes: total }
}

export const measureCalls = (own: number, calls: readonly StoredCall[]): Measured => ({
  bytes: calls.reduce(
    (sum, { input, output, modelOutput }) =>
      sum + (input?.length ?? 0) + (output?.length ?? 0) + (modelOutput?.length ?? 0),
    own,
  ),
  omitted: calls.filter(isOmitted),
})

/** Outputs that a read had left out, by call. */
export type LargeOutputs = ReadonlyMap<
  CallId,
  Pick<StoredOutput, 'output' | 'modelOutput' | 'value'>
>

/**
 * Read and parsed in portions, between which other work runs: one statement for all results of a turn of 60 MB would
 * exceed the time limit of a statement, and parsing all of them at once would block the process (OP7).
 */
export async function readOutputs(
  threadId: ThreadId,
  ids: readonly CallId[],
  rows: { outputOf(this: void, id: CallId): Pick<StoredOutput, 'outputBytes'> | undefined },
  source: {
    readOutputs(threadId: ThreadId, ids: readonly CallId[]): Promise<LargeOutputs>
  },
): Promise<LargeOutputs> {
  const outputs = new Map<CallId, Pick<StoredOutput, 'output' | 'modelOutput' | 'value'>>()
  const pace = createPacer()
  let isFirst = true
  for (const portion of cutOutputs(ids, (id) => rows.outputOf(id)?.outputBytes ?? 0)) {
    if (!isFirst) await setImmediate()
    isFirst = false
    for (const [id, row] of await source.readOutputs(threadId, portion)) {
      const { output, modelOutput } = row
      outputs.set(
        id,
        output === null ? row : { output, modelOutput, value: readOutputText(output) },
      )
      await pace()
    }
  }
  return outputs
}

/** The most bytes that one statement reads. */
const mostOutputBytes = 1_048_576

function* cutOutputs(
  ids: readonly CallId[],
  bytesOf: (id: CallId) => number,
): Generator<readonly CallId[]> {
  let portion: CallId[] = []
  let bytes = 0
  for (const id of ids) {
    const size = bytesOf(id)
    if (portion.length > 0 && bytes + size > mostOutputBytes) {
      yield portion
      portion = []
      bytes = 0
    }
    portion.push(id)
    bytes += size
  }
  if (portion.length > 0) yield portion
}

/** For stores that hold values and not text: what a database does by not selecting the column (PG7). */
export function omitLargeOutputs<Any extends Message>(message: Any, results: ResultMode): Any {
  if (message.role !== 'assistant' || !leavesOut(message, results)) return message
  return {
    ...message,
    steps: message.steps.map((step) => ({ ...step, parts: step.parts.map(omitInPart) })),
  }
}

/** The same for changes: events that settle a call, and turns that have ended. */
export function omitInChange(change: StoredChange, results: ResultMode): StoredChange {
  if (!leavesOut(change.kind === 'turn' ? change.turn : change.event, results)) return change
  return change.kind === 'turn'
    ? { ...change, turn: omitLargeOutputs(change.turn, results) }
    : { ...change, event: omitInEvent(change.event) }
}

/** Approximate length as JSON. */
export const jsonLength = (value: unknown): number => JSON.stringify(value)?.length ?? 0

const leavesOut = (value: unknown, results: ResultMode): boolean =>
  results === 'lazy' ||
  results === 'none' ||
  (results === 'bounded' && jsonLength(value) > largestTurnBytes)

function omitInPart(part: Part): Part {
  if (part.type !== 'call' || part.state !== 'succeeded') return part
  const output = omit(part.output)
  if (output === part.output) return part
  const { modelOutput, ...rest } = part
  return { ...rest, output }
}

function omitInEvent(event: LedgerEvent): LedgerEvent {
  if (event.type === 'call-resolved' && event.output !== undefined) {
    return { ...event, output: omit(event.output) }
  }
  if (event.type !== 'call-settled' || event.outcome.state !== 'succeeded') return event
  const output = omit(event.outcome.output)
  return output === event.outcome.output
    ? event
    : { ...event, outcome: { state: 'succeeded', output } }
}

function omit(output: CallOutput): CallOutput {
  if (output.kind === 'omitted') return output
  const bytes = new TextEncoder().encode(JSON.stringify(output.value)).length
  return bytes <= lazyBytes ? output : { kind: 'omitted', bytes }
}
