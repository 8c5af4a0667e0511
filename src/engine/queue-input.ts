import { HoldfastError } from '../core/holdfast-error.ts'
import type { MessageId, Seq, ThreadId } from '../core/ids.ts'
import type { Turn } from '../core/message.ts'
import type { InputQueue, NewInput } from '../core/queued-input.ts'
import { sameJson } from '../views/same-json.ts'
import type { Engine } from './engine.ts'

/** A message that waits. `after`: following from this seq shows the turn that answers it, or what became of it. */
export type QueuedResult =
  | { readonly kind: 'queued'; readonly messageId: MessageId; readonly after: Seq }
  /** It joins the turn that runs, which is shown from its beginning. */
  | {
      readonly kind: 'steering'
      readonly turnId: MessageId
      readonly messageId: MessageId
      readonly after: Seq
    }

/** At most so many inputs wait in a thread, and so many characters of JSON (IN6). */
export const mostQueued = 50
const mostQueuedChars = 1_048_576

export interface EnqueueRequest {
  readonly threadId: ThreadId
  readonly expectedSeq: Seq
  readonly queue: InputQueue
  readonly input: NewInput
  /** The thread's last turn, which is not over. */
  readonly turn: Turn
}

/** Stores an input that waits. `stale`: somebody was quicker, the end of the turn perhaps. */
export async function enqueue(
  engine: Engine,
  { threadId, expectedSeq, queue, input, turn }: EnqueueRequest,
): Promise<QueuedResult | { readonly kind: 'no-thread' } | 'stale'> {
  checkRoom([...queue, { ...input, held: false, at: 0 }])
  // It gets its place later. Were its id another's by then, one that is shown or can be shown again, the turn before it
  // could never end.
  if ((await engine.store.readMessage(threadId, input.id, 'lazy')) !== null) throw taken()
  const events = [{ type: 'input-queued', input, at: engine.clock.now() } as const]
  const result = await engine.append({ threadId, events, expectedSeq, queue })
  switch (result.kind) {
    case 'appended':
      if (input.mode === 'interrupt') await interruptRun(engine, threadId, turn.id)
      return toQueuedResult(input, turn, result.seq)
    case 'no-thread':
      return { kind: 'no-thread' }
    case 'stale':
      return 'stale'
    default:
      throw new HoldfastError('store-failed', `The message could not be stored: ${result.kind}.`)
  }
}

export function checkRoom(queue: InputQueue): void {
  const isFull = queue.length > mostQueued || JSON.stringify(queue).length > mostQueuedChars
  if (!isFull) return
  throw new HoldfastError(
    'queue-full',
    `At most ${mostQueued} messages wait in a thread, and 1 MiB of them. Nothing was stored.`,
  )
}

/** Only that it is quick: a run that finds such an input in its queue ends by itself (IN4). */
async function interruptRun(engine: Engine, threadId: ThreadId, turnId: MessageId): Promise<void> {
  const own = engine.runs.get(threadId)
  if (own?.turnId === turnId) own.run.interrupt({ kind: 'stop' })
  else await engine.store.requestStop(threadId, turnId).catch(() => undefined)
}

/** The same input again: it is one (IN6). */
export function findQueued(
  queue: InputQueue,
  { id, parts }: Pick<NewInput, 'id' | 'parts'>,
  last: Turn | null,
  seq: Seq,
): QueuedResult | undefined {
  const waiting = queue.find((input) => input.id === id)
  if (waiting === undefined) return undefined
  checkSame(waiting.parts, parts)
  return toQueuedResult(waiting, last, seq)
}

/** Two contents under one id: which of them was meant, nobody can tell (IN6). */
export function checkSame(stored: NewInput['parts'], given: NewInput['parts']): void {
  if (sameJson(stored, given)) return
  throw new HoldfastError(
    'conflict',
    'A message with this id and other content was stored before. Nothing was stored.',
  )
}

export const taken = (): HoldfastError =>
  new HoldfastError(
    'conflict',
    'Another message of this thread has this id, an answer perhaps. Nothing was stored.',
  )

function toQueuedResult(
  { id: messageId, mode }: Pick<NewInput, 'id' | 'mode'>,
  turn: Turn | null,
  seq: Seq,
): QueuedResult {
  return mode === 'steer' && turn?.progress.status === 'running'
    ? { kind: 'steering', turnId: turn.id, messageId, after: turn.seq - 1 }
    : { kind: 'queued', messageId, after: seq }
}
