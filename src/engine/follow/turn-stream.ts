import { isTurnEvent, type TurnEvent } from '../../core/event.ts'
import { foldTurn } from '../../core/fold-turn.ts'
import type { MessageId, Seq, ThreadId } from '../../core/ids.ts'
import { hasOmittedOutput, type Turn } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { Store } from '../../store/store.ts'
import type { LazyHref } from '../../views/lazy-output.ts'
import type { UiChunk } from '../../views/ui-chunk.ts'
import { createUiChunkCursor, nextChunks } from '../../views/ui-chunks.ts'
import type { SdkVersion } from '../../views/ui-vocabulary.ts'
import { readTurn } from '../engine.ts'
import type { ReadGate } from './hub.ts'
import type { Frame } from './live-window.ts'

/** The sources that a turn is followed with. */
export interface TurnFeed {
  readonly store: Store
  subscribe(
    threadId: ThreadId,
    after: Seq,
    signal?: AbortSignal,
    gate?: ReadGate,
  ): AsyncGenerator<Frame, void>
}

export interface TurnStreamQuery {
  readonly threadId: ThreadId
  readonly turnId: MessageId
  readonly sdk: SdkVersion | undefined
  /** What the client has of the turn already: then only what follows is sent. */
  readonly sent?: Turn
  /** The turn at some time since it began, where it is known: then it is not read again. */
  readonly stored?: Turn
  /** The address of a result that is left out of a turn which would be too large with it. */
  readonly lazyHref?: LazyHref
  readonly gate?: ReadGate
}

/**
 * The thread was deleted or the server is shutting down. Clients take a stream that ends normally for a complete one,
 * so this one must break.
 */
export class TurnStreamBroken extends Error {
  override readonly name = 'TurnStreamBroken'
}

/** One update of a turn: its state after it, and the chunks that bring a client there. */
export interface TurnMove {
  readonly turn: Turn
  readonly chunks: readonly UiChunk[]
}

/**
 * A turn as AI SDK chunks: its current content, compact, then what is committed to it, until it waits or has ended. The
 * stream ends only after that end is stored.
 */
export async function* streamTurn(
  feed: TurnFeed,
  { threadId, turnId, sdk, sent, stored, lazyHref, gate = (read) => read() }: TurnStreamQuery,
  signal: AbortSignal,
): AsyncGenerator<TurnMove, void> {
  let cursor = createUiChunkCursor(withDefined({}, { sdk, sent, lazyHref }))
  let turn = stored ?? (await gate(() => readTurn(feed.store, threadId, turnId, 'bounded')))
  // A result that was left out stays left out: the turn folded by this process contains it, and would send it after
  // all.
  let isLean = hasOmittedOutput(turn)
  const move = (): TurnMove => {
    const next = nextChunks(cursor, turn)
    cursor = next.cursor
    return { turn, chunks: next.chunks }
  }
  yield move()
  if (turn.progress.status !== 'running') return
  for await (const frame of feed.subscribe(threadId, turn.lastSeq, signal, gate)) {
    const folded = frame.turn?.id === turnId && !isLean ? frame.turn : undefined
    turn = folded ?? foldFrame(turn, frame)
    isLean ||= folded === undefined && hasOmittedOutput(turn)
    yield move()
    if (turn.progress.status !== 'running') return
  }
  if (!signal.aborted) throw new TurnStreamBroken('The turn can no longer be followed here.')
}

function foldFrame(turn: Turn, { changes }: Frame): Turn {
  const ended = changes.findLast((change) => change.kind === 'turn' && change.turn.id === turn.id)
  const events = changes.flatMap((change): readonly TurnEvent[] =>
    change.kind === 'event' && isTurnEvent(change.event) ? [change.event] : [],
  )
  return foldTurn(ended?.kind === 'turn' ? ended.turn : turn, events)
}
