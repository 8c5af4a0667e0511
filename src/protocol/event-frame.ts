import type { LedgerEvent } from '../core/event.ts'
import type { Change } from '../core/fold-thread.ts'
import type { MessageId, Seq } from '../core/ids.ts'
import { isJsonObject, type JsonObject } from '../core/json.ts'
import type { Turn } from '../core/message.ts'
import { parseEvent } from '../core/parse-event.ts'

/**
 * One frame of `/events`. `after` is the seq of the frame before, so that a client can prove that
 * nothing is missing. It holds the events of one commit or, for a turn that has ended, its whole state.
 */
export type EventFrame = {
  readonly after: Seq
  readonly seq: Seq
  /** The waiting inputs at `seq`, as pages show them; set where the frame may have changed them (IN2). */
  readonly queue?: readonly object[]
} & ({ readonly events: readonly LedgerEvent[] } | { readonly turn: Turn })

/** Splits a run of changes into frames, one per commit. */
export function toEventFrames(
  after: Seq,
  changes: readonly (Change & { readonly commit: Seq })[],
  queue?: readonly object[],
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
  const last = frames.at(-1)
  return queue === undefined || last === undefined
    ? frames
    : [...frames.slice(0, -1), { ...last, queue }]
}

/** The changes of a frame, for `foldThread`. */
export function toChanges(frame: EventFrame): readonly Change[] {
  return 'turn' in frame
    ? [{ kind: 'turn', seq: frame.seq, turn: frame.turn }]
    : frame.events.map((event) => ({ kind: 'event', seq: event.seq, event }))
}

/**
 * Parses the data of a server-sent event; null if it is not a frame. An event of a type that this version
 * does not have keeps its seq and changes nothing: the server may be newer than the open page.
 */
export function parseEventFrame(data: string): EventFrame | null {
  let frame: unknown
  try {
    frame = JSON.parse(data)
  } catch {
    return null
  }
  if (!isJsonObject(frame)) return null
  const { after, seq, turn, events } = frame
  if (!isSeq(after) || !isSeq(seq) || seq <= after) return null
  if (turn !== undefined) {
    const isTurn = isJsonObject(turn) && isSeq(turn.seq) && Array.isArray(turn.steps)
    return isTurn ? { after, seq, turn: turn as unknown as Turn } : null
  }
  if (!Array.isArray(events)) return null
  const parsed: LedgerEvent[] = []
  for (const event of events as readonly unknown[]) {
    if (!isJsonObject(event) || !isSeq(event.seq)) return null
    parsed.push(toLedgerEvent(event, event.seq))
  }
  return { after, seq, events: parsed }
}

const isSeq = (value: unknown): value is Seq =>
  Number.isSafeInteger(value) && (value as number) >= 0

function toLedgerEvent(event: JsonObject, seq: Seq): LedgerEvent {
  if (event.type === 'unreadable') return event as unknown as LedgerEvent
  const turnId = typeof event.turnId === 'string' ? (event.turnId as MessageId) : null
  return parseEvent({ seq, at: Number(event.at), turnId }, event)
}
