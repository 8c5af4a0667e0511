import { isTurnEvent, type TurnEvent } from '../../core/event.ts'
import { foldTurn } from '../../core/fold-turn.ts'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import { hasOmittedOutput, type Turn } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { Store } from '../../store/store.ts'
import type { LazyHref } from '../../views/lazy-output.ts'
import type { UiChunk } from '../../views/ui-chunk.ts'
import { createUiChunkCursor, nextChunks } from '../../views/ui-chunks.ts'
import type { SdkVersion } from '../../views/ui-vocabulary.ts'
import { readTurn } from '../engine.ts'
import type { FollowedPlace, ReadGate } from './hub.ts'
import type { Frame } from './live-window.ts'

/** The sources that a turn is followed with. */
export interface TurnFeed {
  readonly store: Store
  subscribe(
    threadId: ThreadId,
    after: FollowedPlace,
    signal?: AbortSignal,
    gate?: ReadGate,
  ): AsyncGenerator<Frame, void>
}

/** A turn, and the incarnation of the thread that it was read from or stored in; empty: not known (OP6). */
export interface StoredTurn {
  readonly turn: Turn
  readonly incarnation: string
}

export interface TurnStreamQuery {
  readonly threadId: ThreadId
  readonly turnId: MessageId
  readonly sdk: SdkVersion | undefined
  /** What the client has of the turn already: then only what follows is sent. */
  readonly sent?: Turn
  /** The turn at some time since it began, where it is known: then it is not read again. */
  readonly stored?: StoredTurn
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
  const begun = stored ?? (await gate(() => readStored(feed.store, threadId, turnId)))
  const { incarnation } = begun
  let { turn } = begun
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
  // Of this thread only: one that was created again under its id has no end of this turn, for which the client would
  // wait for ever.
  const place = { seq: turn.lastSeq, incarnation }
  for await (const frame of feed.subscribe(threadId, place, signal, gate)) {
    const folded = frame.turn?.id === turnId && !isLean ? frame.turn : undefined
    turn = folded ?? foldFrame(turn, frame)
    isLean ||= folded === undefined && hasOmittedOutput(turn)
    yield move()
    if (turn.progress.status !== 'running') return
  }
  if (!signal.aborted) throw new TurnStreamBroken('The turn can no longer be followed here.')
}

/** A turn that is hidden has ended, and is found in its thread only; no thread is followed for it. */
async function readStored(
  store: Store,
  threadId: ThreadId,
  turnId: MessageId,
): Promise<StoredTurn> {
  const found = await store.findTurn(turnId, 'bounded')
  if (found?.threadId === threadId) {
    return { turn: found.turn, incarnation: found.incarnation ?? '' }
  }
  return { turn: await readTurn(store, threadId, turnId, 'bounded'), incarnation: '' }
}

function foldFrame(turn: Turn, { changes }: Frame): Turn {
  const ended = changes.findLast((change) => change.kind === 'turn' && change.turn.id === turn.id)
  const events = changes.flatMap((change): readonly TurnEvent[] =>
    change.kind === 'event' && isTurnEvent(change.event) ? [change.event] : [],
  )
  return foldTurn(ended?.kind === 'turn' ? ended.turn : turn, events)
}
