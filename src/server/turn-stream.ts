import { isTurnEvent, type TurnEvent } from '../core/event.ts'
import { foldTurn } from '../core/fold-turn.ts'
import type { MessageId, ThreadId } from '../core/ids.ts'
import type { Turn } from '../core/message.ts'
import type { Holdfast } from '../engine/create-holdfast.ts'
import type { Frame } from '../engine/tail.ts'
import type { UiChunk } from '../views/ui-chunk.ts'
import { createUiChunkCursor, nextChunks } from '../views/ui-chunks.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'
import { notFound } from './http-error.ts'

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
  holdfast: Holdfast,
  { threadId, turnId, sdk, sent, stored }: TurnStreamQuery,
  signal: AbortSignal,
): AsyncGenerator<TurnMove, void> {
  const options = { ...(sdk === undefined ? {} : { sdk }), ...(sent === undefined ? {} : { sent }) }
  let cursor = createUiChunkCursor(options)
  let turn = stored ?? (await readTurn(holdfast, threadId, turnId))
  const move = (): TurnMove => {
    const next = nextChunks(cursor, turn)
    cursor = next.cursor
    return { turn, chunks: next.chunks }
  }
  yield move()
  if (turn.progress.status !== 'running') return
  for await (const frame of holdfast.subscribe(threadId, turn.lastSeq, signal)) {
    turn = frame.turn?.id === turnId ? frame.turn : foldFrame(turn, frame)
    yield move()
    if (turn.progress.status !== 'running') return
  }
  if (!signal.aborted) throw new TurnStreamBroken('The turn can no longer be followed here.')
}

function foldFrame(turn: Turn, { changes }: Frame): Turn {
  const sealed = changes.findLast((change) => change.kind === 'turn' && change.turn.id === turn.id)
  const events = changes.flatMap((change): readonly TurnEvent[] =>
    change.kind === 'event' && isTurnEvent(change.event) ? [change.event] : [],
  )
  return foldTurn(sealed?.kind === 'turn' ? sealed.turn : turn, events)
}

export async function readTurn(
  { store }: Holdfast,
  threadId: ThreadId,
  turnId: MessageId,
): Promise<Turn> {
  const message = await store.readMessage(threadId, turnId)
  if (message?.role !== 'assistant') throw notFound('message')
  return message
}
