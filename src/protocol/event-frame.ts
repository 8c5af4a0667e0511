import type { LedgerEvent } from '../core/event.ts'
import type { Change } from '../core/fold-thread.ts'
import type { Seq } from '../core/ids.ts'
import type { Turn } from '../core/message.ts'

/**
 * One frame of `/events`. `after` is the seq of the frame before, so that a client can prove that
 * nothing is missing. It holds the events of one commit or, for a turn that has ended, its whole state.
 */
export type EventFrame = { readonly after: Seq; readonly seq: Seq } & (
  | { readonly events: readonly LedgerEvent[] }
  | { readonly turn: Turn }
)

/** Cuts a run of changes into frames, one per commit. */
export function toEventFrames(
  after: Seq,
  changes: readonly (Change & { readonly commit: Seq })[],
): readonly EventFrame[] {
  const frames: EventFrame[] = []
  let at = after
  let index = 0
  while (index < changes.length) {
    const change = changes[index] as (typeof changes)[number]
    if (change.kind === 'turn') {
      frames.push({ after: at, seq: change.seq, turn: change.turn })
      at = change.seq
      index++
      continue
    }
    const events: LedgerEvent[] = []
    const { commit } = change
    let { seq } = change
    for (; index < changes.length; index++) {
      const next = changes[index] as (typeof changes)[number]
      if (next.kind !== 'event' || next.commit !== commit) break
      events.push(next.event)
      seq = next.seq
    }
    frames.push({ after: at, seq, events })
    at = seq
  }
  return frames
}

/** The same frame as the changes that `foldThread` takes. */
export function toChanges(frame: EventFrame): readonly Change[] {
  return 'turn' in frame
    ? [{ kind: 'turn', seq: frame.seq, turn: frame.turn }]
    : frame.events.map((event) => ({ kind: 'event', seq: event.seq, event }))
}
