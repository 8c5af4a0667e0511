import type { NewTurnEvent } from '../../core/event.ts'

/**
 * Events that wait for the next commit. Adjacent deltas of one text are merged, half of a surrogate pair at the end
 * of a delta waits for its other half (LG8), a call that became complete before its beginning was committed is
 * one event instead of a beginning, deltas and a complete call, and of the progress of a call only the newest waits
 * (CL10): a tool that is faster than the disk would fill the memory.
 */
export interface EventBuffer {
  readonly size: number
  /** Changes when the events that `peek` returned are no longer the first events of the buffer. */
  readonly revision: number
  push(event: NewTurnEvent): void
  /**
   * Extends the last text delta; false if the last event is not a delta of this block, or a surrogate pair is
   * split.
   */
  extend(block: string, delta: string): boolean
  peek(): readonly NewTurnEvent[]
  drain(): readonly NewTurnEvent[]
  /** Puts drained events that could not be committed back before everything else. */
  restore(drained: readonly NewTurnEvent[]): void
}

type Mutable<Item> = { -readonly [Key in keyof Item]: Item[Key] }
type Progressed = Extract<NewTurnEvent, { readonly type: 'call-progressed' }>
type Recorded = Extract<NewTurnEvent, { readonly type: 'call-recorded' }>
type Piece = Extract<NewTurnEvent, { readonly delta: string }>
const isPiece = (event: NewTurnEvent): event is Piece => 'delta' in event
const subjectOf = (piece: Piece): string =>
  piece.type === 'text-appended' ? piece.block : piece.callId

const endsInHalf = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff
}

export function createEventBuffer(): EventBuffer {
  let events: NewTurnEvent[] = []
  const halves = new Map<string, string>()
  // Where the progress of each call waits.
  const progress = new Map<string, number>()
  // The last event, as long as it has not left this buffer: then further deltas are merged into it.
  let open: Mutable<Piece> | null = null
  let revision = 0

  const add = (event: NewTurnEvent) => {
    open = null
    events.push(event)
  }
  const addPiece = (piece: Piece) => {
    if (
      open !== null &&
      open.type === piece.type &&
      subjectOf(open) === subjectOf(piece) &&
      !('providerMetadata' in piece)
    ) {
      open.delta += piece.delta
    } else {
      open = { ...piece }
      events.push(open)
    }
  }

  return {
    get size() {
      return events.length
    },
    get revision() {
      return revision
    },
    push(event) {
      if (!isPiece(event)) {
        if (event.type === 'text-ended') release(event)
        if (event.type === 'call-progressed') addProgress(event)
        else if (event.type !== 'call-recorded' || !replaceBeginning(event)) add(event)
        return
      }
      // Nearly always: no half of a pair is waiting, and this delta does not end in one.
      if (halves.size === 0 && !endsInHalf(event.delta)) {
        if (event.delta !== '' || 'providerMetadata' in event) addPiece(event)
        return
      }
      const key = `${event.type} ${subjectOf(event)}`
      const whole = (halves.get(key) ?? '') + event.delta
      halves.delete(key)
      if (endsInHalf(whole)) halves.set(key, whole.slice(-1))
      const delta = halves.has(key) ? whole.slice(0, -1) : whole
      if (delta !== '' || 'providerMetadata' in event) addPiece({ ...event, delta })
    },
    extend(block, delta) {
      if (open?.type !== 'text-appended' || open.block !== block) return false
      if (halves.size > 0 || endsInHalf(delta)) return false
      open.delta += delta
      return true
    },
    peek() {
      open = null
      return events
    },
    restore(drained) {
      open = null
      revision++
      progress.clear()
      events = [...drained, ...events]
    },
    drain() {
      open = null
      revision++
      progress.clear()
      const drained = events
      events = []
      return drained
    },
  }

  function addProgress(event: Progressed): void {
    const place = progress.get(event.callId)
    if (place === undefined) {
      progress.set(event.callId, events.length)
      add(event)
    } else {
      events[place] = event
      revision++
    }
  }

  /** Replaces the beginning of a call by the complete call, at the same position; other events in between stay. */
  function replaceBeginning(event: Recorded): boolean {
    const start = events.findLastIndex(
      (earlier) => earlier.type === 'call-announced' && earlier.callId === event.callId,
    )
    const begun = events[start]
    if (begun?.type !== 'call-announced') return false
    const { dynamic: _, ...origin } = event.call
    // Whether a call is dynamic is set by its first event, as in the fold.
    const call = begun.call.dynamic === true ? { ...origin, dynamic: true as const } : origin
    const after = events.splice(start)
    revision++
    // Their places have changed.
    progress.clear()
    events.push({ ...event, call })
    for (const other of after.slice(1)) {
      const isPieceOfIt = other.type === 'call-input-appended' && other.callId === event.callId
      if (!isPieceOfIt) events.push(other)
    }
    open = null
    return true
  }

  /** The other half of the pair never arrived: the first half is kept all the same. */
  function release(event: Extract<NewTurnEvent, { readonly type: 'text-ended' }>): void {
    const key = `text-appended ${event.block}`
    const half = halves.get(key)
    if (half === undefined) return
    halves.delete(key)
    const { turnId, at, block } = event
    addPiece({ type: 'text-appended', turnId, at, block, delta: half })
  }
}
