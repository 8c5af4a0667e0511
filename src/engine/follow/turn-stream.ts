import type { Call } from '../../core/call.ts'
import { isTurnEvent, type TurnEvent } from '../../core/event.ts'
import { foldTurn } from '../../core/fold-turn.ts'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import { hasOmittedOutput, type Turn } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import { toCallAddress } from '../../protocol/addresses.ts'
import type { Store } from '../../store/store.ts'
import type { LazyHref } from '../../views/lazy-output.ts'
import type { UiChunk } from '../../views/ui-chunk.ts'
import { createUiChunkCursor, nextChunks, type UiChunkCursor } from '../../views/ui-chunks.ts'
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
  /** Where the routes are: a result that is left out of a turn which would be too large with it gets its address. */
  readonly basePath?: string
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
  { threadId, turnId, sdk, sent, stored, basePath, gate = (read) => read() }: TurnStreamQuery,
  signal: AbortSignal,
): AsyncGenerator<TurnMove, void> {
  const lazyHref = basePath === undefined ? undefined : createLazyHref(threadId, basePath)
  const vocabulary = JSON.stringify([sdk, basePath])
  let cursor = createUiChunkCursor(withDefined({}, { sdk, sent, lazyHref }))
  const begin = ({ turn, incarnation }: StoredTurn) => ({
    ...{ turn, incarnation },
    first: nextChunks(cursor, turn),
  })
  // With its chunks: of a turn of thousands of calls they take as long as the read.
  const { incarnation, first, ...begun } =
    stored === undefined
      ? await gate(async () => begin(await readStored(feed.store, threadId, turnId)))
      : begin(stored)
  let { turn } = begun
  // A result that was left out stays left out: the turn folded by this process contains it, and would send it after
  // all.
  let isLean = hasOmittedOutput(turn)
  const move = (next: NextChunks): TurnMove => {
    cursor = next.cursor
    return { turn, chunks: next.chunks }
  }
  yield move(first)
  if (turn.progress.status !== 'running') return
  // Of this thread only: one that was created again under its id has no end of this turn, for which the client would
  // wait for ever.
  const place = { seq: turn.lastSeq, incarnation }
  /** The last turn that came with a frame: the same object for all followers. One that this stream folded is its own. */
  let shared: Turn | undefined
  for await (const frame of feed.subscribe(threadId, place, signal, gate)) {
    const folded = frame.turn?.id === turnId && !isLean ? frame.turn : undefined
    turn = folded ?? foldFrame(turn, frame)
    isLean ||= folded === undefined && hasOmittedOutput(turn)
    const isShared = folded !== undefined && cursor.turn === shared
    shared = folded ?? shared
    yield move(
      isShared ? nextSharedChunks(frame, vocabulary, cursor, turn) : nextChunks(cursor, turn),
    )
    if (turn.progress.status !== 'running') return
  }
  if (!signal.aborted) throw new TurnStreamBroken('The turn can no longer be followed here.')
}

/** Not inside `streamTurn`: cursors outlive their stream in `sharedMoves`, and would keep all that it refers to. */
const createLazyHref =
  (threadId: ThreadId, basePath: string): LazyHref =>
  ({ id }: Call) =>
    toCallAddress(threadId, id, basePath)

type NextChunks = ReturnType<typeof nextChunks>

interface SharedMove {
  readonly vocabulary: string
  readonly from: UiChunkCursor
  readonly next: NextChunks
}

const sharedMoves = new WeakMap<Frame, readonly SharedMove[]>()

/**
 * `nextChunks` to the turn that came with a frame, once for all followers with the same vocabulary whose clients have
 * the same state: they get the same array, which is encoded once (OP7a). Only for cursors whose turn came with a frame
 * too, because a frame in the live window keeps what is stored here: the turn that each follower has read when it
 * began would stay in memory once for each of them.
 */
function nextSharedChunks(
  frame: Frame,
  vocabulary: string,
  from: UiChunkCursor,
  turn: Turn,
): NextChunks {
  const moves = sharedMoves.get(frame) ?? []
  const known = moves.find(
    (move) => move.vocabulary === vocabulary && hasSameState(move.from, from),
  )
  if (known !== undefined) return known.next
  const next = nextChunks(from, turn)
  sharedMoves.set(frame, [...moves, { vocabulary, from, next }])
  return next
}

/** All of a cursor but its options, which are new objects in each stream; the vocabulary stands for them. */
const hasSameState = (one: UiChunkCursor, other: UiChunkCursor): boolean => {
  const keys = Object.keys(one) as readonly (keyof UiChunkCursor)[]
  return keys.every((key) => key === 'options' || one[key] === other[key])
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
