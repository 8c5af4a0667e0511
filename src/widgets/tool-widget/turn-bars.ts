import type { Call } from '../../core/call.ts'
import type { Step, Turn } from '../../core/message.ts'

/** One bar of the timeline, as fractions of the turn's time so far. */
export interface TurnBar {
  readonly key: string
  readonly of: { readonly step: number } | { readonly call: Call }
  /** From 0 to 1. */
  readonly from: number
  readonly to: number
  /** Null: still running, so the duration is not known yet. */
  readonly ms: number | null
}

interface Span {
  readonly key: string
  readonly of: TurnBar['of']
  readonly start: number
  readonly end: number | null
}

/** The steps of a turn, each followed by its calls, on a time axis (CO5). */
export function planTurnBars({ steps }: Turn): readonly TurnBar[] {
  const spans = steps.flatMap(toSpans)
  const times = spans.flatMap(({ start, end }) => (end === null ? [start] : [start, end]))
  const first = Math.min(...times)
  const last = Math.max(...times)
  const partOf = (time: number) => (last === first ? 0 : (time - first) / (last - first))
  return spans.map(({ key, of, start, end }) => ({
    key,
    of,
    from: partOf(start),
    // What is still running extends to the end of what is known.
    to: end === null ? 1 : partOf(end),
    ms: end === null ? null : end - start,
  }))
}

function toSpans(step: Step): readonly Span[] {
  const calls = step.parts.filter((part): part is Call => part.type === 'call')
  return [
    {
      key: `step ${step.index}`,
      of: { step: step.index },
      start: step.startedAt,
      end: step.status === 'open' ? null : step.endedAt,
    },
    ...calls.map((call) => ({
      key: call.id,
      of: { call },
      start: call.startedAt ?? call.createdAt,
      end: 'endedAt' in call ? call.endedAt : null,
    })),
  ]
}
