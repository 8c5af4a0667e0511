import { isTurnEvent, type TurnEvent } from '../core/event.ts'
import { foldTurn } from '../core/fold-turn.ts'
import type { MessageId, Seq, ThreadId } from '../core/ids.ts'
import type { Turn } from '../core/message.ts'
import type { Store } from '../store/store.ts'
import type { UiChunk } from '../views/ui-chunk.ts'
import { createUiChunkCursor, nextChunks } from '../views/ui-chunks.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'
import { readTurn } from './engine.ts'
import type { Frame } from './live-window.ts'

/** What a turn is followed with. */
export interface TurnFeed {
  readonly store: Store
  subscribe(threadId: ThreadId, after: Seq, signal?: AbortSignal): AsyncGenerator<Frame, void>
}

export interface TurnStreamQuery {
  readonly threadId: ThreadId
  readonly turnId: MessageId
  readonly sdk: SdkVersion | undefined
  /** What the client has of it already: then only what follows is sent. */
  readonly sent?: Turn
  /** The turn at some time since it was begun, where that is known: then it is not read again. */
  readonly stored?: Turn
}

/**
 * The thread was deleted or the server is going. Clients take a stream that ends in good order for a
 * complete one, so this one must break.
 */
class TurnStreamBroken extends Error {
  override readonly name = 'TurnStreamBroken'
}

/** One move of a turn: where it stands after it, and the chunks that bring a client there. */
export interface TurnMove {
  readonly turn: Turn
  readonly chunks: readonly UiChunk[]
}

/**
 * A turn as AI SDK chunks: what there is of it, compact, then what is committed to it, until it waits
 * or has ended. It ends only after that end is stored.
 */
export async function* streamTurn(
  feed: TurnFeed,
  { threadId, turnId, sdk, sent, stored }: TurnStreamQuery,
  signal: AbortSignal,
): AsyncGenerator<TurnMove, void> {
  const options = { ...(sdk === undefined ? {} : { sdk }), ...(sent === undefined ? {} : { sent }) }
  let cursor = createUiChunkCursor(options)
  let turn = stored ?? (await readTurn(feed.store, threadId, turnId))
  const move = (): TurnMove => {
    const next = nextChunks(cursor, turn)
    cursor = next.cursor
    return { turn, chunks: next.chunks }
  }
  yield move()
  if (turn.progress.status !== 'running') return
  for await (const frame of feed.subscribe(threadId, turn.lastSeq, signal)) {
    turn = frame.turn?.id === turnId ? frame.turn : foldFrame(turn, frame)
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
