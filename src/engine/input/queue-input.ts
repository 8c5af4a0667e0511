import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MessageId, Seq, ThreadId } from '../../core/ids.ts'
import type { Turn } from '../../core/message.ts'
import { isQueueFull, mostQueued } from '../../core/queue.ts'
import type { InputQueue, NewInput } from '../../core/queued-input.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { StoredSeq } from '../../store/store.ts'
import { sameJson } from '../../views/same-json.ts'
import { parseUserParts } from '../../protocol/chat-body.ts'
import type { Engine } from '../engine.ts'
import { toJson } from '../to-json.ts'

/**
 * The result for a queued message. `after`: following from this seq shows the turn that answers it, or what else
 * becomes of it.
 */
export type QueuedResult =
  | {
      readonly kind: 'queued'
      readonly messageId: MessageId
      readonly after: Seq
      /** The incarnation of the thread that `after` is a seq of (OP6). */
      readonly incarnation?: string
    }
  /** It joins the running turn; following from `after` shows that turn from its beginning. */
  | {
      readonly kind: 'steering'
      readonly turnId: MessageId
      readonly messageId: MessageId
      readonly after: Seq
    }

export interface EnqueueRequest {
  readonly threadId: ThreadId
  readonly expectedSeq: Seq
  /** See `Append`. */
  readonly incarnation: string | undefined
  readonly queue: InputQueue
  readonly input: NewInput
  /** The thread's last turn, which has not ended. */
  readonly turn: Turn
}

/**
 * Stores a queued input. `stale`: another writer was first, perhaps with the end of the turn. The input becomes a message
 * later: if another message had its id by then, the turn before it could never end. `findSentBefore` has made sure at
 * `expectedSeq` that the id is free.
 */
export async function enqueue(
  engine: Engine,
  { threadId, expectedSeq, incarnation, queue, input, turn }: EnqueueRequest,
): Promise<QueuedResult | { readonly kind: 'no-thread' } | 'stale'> {
  checkRoom([...queue, { ...input, held: false, at: 0 }])
  const events = [{ type: 'input-queued', input, at: engine.clock.now() } as const]
  const result = await engine.append({ threadId, events, expectedSeq, incarnation, queue })
  switch (result.kind) {
    case 'appended':
      if (input.mode === 'interrupt') await interruptRun(engine, threadId, turn.id)
      return toQueuedResult(input, turn, result)
    case 'no-thread':
      return { kind: 'no-thread' }
    case 'stale':
      return 'stale'
    default:
      throw new HoldfastError('store-failed', `The message could not be stored: ${result.kind}.`)
  }
}

export function checkRoom(queue: InputQueue): void {
  if (!isQueueFull(queue)) return
  throw new HoldfastError(
    'queue-full',
    `A thread queues at most ${mostQueued} messages with 1 MiB in total. Nothing was stored.`,
  )
}

/** Only makes it faster: a run that finds such an input in its queue ends by itself (IN4). */
async function interruptRun(engine: Engine, threadId: ThreadId, turnId: MessageId): Promise<void> {
  const own = engine.runs.get(threadId)
  if (own?.turnId === turnId) own.run.interrupt({ kind: 'stop' })
  else await engine.store.requestStop(threadId, { turnId }).catch(() => undefined)
}

/** The result for an input that is queued already: it is not stored twice (IN6). */
export function findQueued(
  queue: InputQueue,
  { id, parts }: Pick<NewInput, 'id' | 'parts'>,
  last: Turn | null,
  at: StoredSeq,
): QueuedResult | undefined {
  const waiting = queue.find((input) => input.id === id)
  if (waiting === undefined) return undefined
  checkSame(waiting.parts, parts)
  return toQueuedResult(waiting, last, at)
}

/** Refuses two contents under one id: which of them was meant cannot be known (IN6). */
export function checkSame(stored: NewInput['parts'], given: NewInput['parts']): void {
  if (sameJson(stored, given) || sameJson(readAgain(stored), given)) return
  throw new HoldfastError(
    'conflict',
    'A message with this id and other content was stored before. Nothing was stored.',
  )
}

/** Older versions of the library stored more of a part than is read today. */
function readAgain(stored: NewInput['parts']): NewInput['parts'] {
  try {
    return parseUserParts({ parts: toJson(stored) })
  } catch {
    return stored
  }
}

export const idTaken = (): HoldfastError =>
  new HoldfastError(
    'conflict',
    'Another message of this thread, possibly an answer, has this id. Nothing was stored.',
  )

function toQueuedResult(
  { id: messageId, mode }: Pick<NewInput, 'id' | 'mode'>,
  turn: Turn | null,
  { seq, incarnation }: StoredSeq,
): QueuedResult {
  return mode === 'steer' && turn?.progress.status === 'running'
    ? { kind: 'steering', turnId: turn.id, messageId, after: turn.seq - 1 }
    : withDefined({ kind: 'queued', messageId, after: seq } as const, { incarnation })
}
