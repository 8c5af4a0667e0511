import type { CallOutput } from '../core/call.ts'
import type { LedgerEvent } from '../core/event.ts'
import type { Message, Part } from '../core/message.ts'
import { largestTurnBytes, lazyBytes, type ResultMode, type StoredChange } from './store.ts'

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
