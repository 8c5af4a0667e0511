import type { Call } from '../../core/call.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { isOpenCall, needsPerson } from '../../core/call.ts'
import { projectProgress } from '../../views/call-progress.ts'
import { stepTextOf } from '../../views/commentary.ts'
import type { Strings } from '../strings.ts'

/** The content of the one-line summary of a turn (CO3). */
export interface TurnSummary {
  readonly look:
    | 'thinking'
    | 'working'
    | 'done'
    | 'declined'
    | 'stopped'
    | 'warning'
    | 'waiting'
    | 'unknown'
  readonly text: string
  /** From the first call to the end of the last one, once that is known. */
  readonly ms: number | null
  readonly calls: readonly Call[]
  /** The call that the line shows while the turn is working. */
  readonly current?: Call
}

export function summarizeTurn(turn: Turn, strings: Strings): TurnSummary | null {
  const calls = [...callsOf(turn)]
  const isRunning = turn.progress.status === 'running'
  const base = { calls, ms: durationOf(calls) }
  const thinking = { ...base, ms: null, look: 'thinking', text: strings.thinking } as const
  if (calls.length === 0) return isRunning && isSilent(turn) ? thinking : null
  const waiting = calls.filter(needsPerson)
  if (turn.progress.status === 'waiting' || (waiting.length > 0 && !isRunning)) {
    const isUnknown = waiting.some(({ state }) => state === 'unknown')
    return isUnknown
      ? { ...base, ms: null, look: 'unknown', text: strings.unknown }
      : { ...base, ms: null, look: 'waiting', text: strings.waiting }
  }
  // Of several running calls, the one that reports progress.
  const current =
    calls.findLast((call) => projectProgress(call) !== null) ?? calls.findLast(isOpenCall)
  if (current !== undefined && isRunning) {
    return { ...base, current, look: 'working', text: strings.working(titleOf(current)) }
  }
  // Its tools are done, and the model has not begun its text: nothing else on the page shows that the turn goes on.
  if (isRunning && isSilent(turn)) return thinking
  const bad = calls.filter(({ state }) => state !== 'succeeded' && state !== 'denied')
  if (bad.some(({ state }) => state === 'unknown')) {
    return { ...base, ms: null, look: 'warning', text: strings.unknown }
  }
  if (bad.length > 0 && bad.every(({ state }) => state === 'stopped')) {
    return { ...base, look: 'stopped', text: strings.stopped }
  }
  if (bad.length > 0) {
    return { ...base, look: 'warning', text: strings.failedOf(bad.length, calls.length) }
  }
  // A rejected call was not used.
  const used = calls.filter(({ state }) => state === 'succeeded').length
  if (used === 0) return { ...base, look: 'declined', text: strings.declined }
  return { ...base, look: 'done', text: strings.used(used) }
}

/**
 * The model is at work and has nothing to show for it yet: no step has begun, or the last one has only called, has
 * been steered, or has no text yet.
 */
function isSilent({ steps }: Turn): boolean {
  const last = steps.at(-1)
  if (last === undefined) return true
  if (last.status === 'open') return stepTextOf(last).trim() === ''
  return last.parts.some(({ type }) => type === 'call' || type === 'steering')
}

/** `search_notes` → `Search notes`. */
export function titleOf(call: Pick<Call, 'name' | 'title'>): string {
  if (call.title !== undefined) return call.title
  const words = call.name.replaceAll(/[_-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Null while one is open, and where the start times are unknown, as in old data. */
export function durationOf(calls: readonly Call[]): number | null {
  const ended = calls.filter((call) => 'endedAt' in call)
  const starts = ended.flatMap(({ startedAt }) => startedAt ?? [])
  if (ended.length < calls.length || starts.length === 0) return null
  return Math.max(0, Math.max(...ended.map(({ endedAt }) => endedAt)) - Math.min(...starts))
}
