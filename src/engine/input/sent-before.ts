import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MessageId, Seq, ThreadId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import type { Message, Turn } from '../../core/message.ts'
import { joinedInputs } from '../../core/queue.ts'
import type { NewInput } from '../../core/queued-input.ts'
import type { Store } from '../../store/store.ts'
import { checkSame, idTaken } from './queue-input.ts'
import { isReplyTo } from '../threads/read-latest.ts'

/** The same message was sent before: its run is live, or has ended (RS5). */
export interface SentBefore {
  readonly kind: 'joined' | 'repeated'
  readonly turnId: MessageId
  /** Following from this seq shows the turn from its beginning. */
  readonly after: Seq
}

export const turnOf = (message: Message | undefined): Turn | null =>
  message?.role === 'assistant' ? message : null

/** A message that joined a turn was answered by it (IN3). */
export const hasJoined = (message: Message, id: MessageId): message is Turn =>
  message.role === 'assistant' && joinedInputs(message).includes(id)

export const isMessage =
  (id: MessageId) =>
  (message: Message): boolean =>
    message.role !== 'assistant' && message.id === id

/** An edit that changes nothing, while the answer to it is being produced (RS5). */
export function joined(
  stored: Message,
  turn: Message | undefined,
  { id, parts }: Pick<NewInput, 'id' | 'parts'>,
  choices: Json | undefined,
): SentBefore | undefined {
  if (stored.role === 'assistant' || turn?.role !== 'assistant') return
  if (turn.replyTo !== id || turn.progress.status !== 'running') return
  const isSame = JSON.stringify([stored.parts, turn.choices]) === JSON.stringify([parts, choices])
  return isSame ? { kind: 'joined', turnId: turn.id, after: turn.seq - 1 } : undefined
}

export function repeated(
  newestFirst: readonly Message[],
  { id, parts }: Pick<NewInput, 'id' | 'parts'>,
): SentBefore | undefined {
  const joinedTurn = newestFirst.find((message) => hasJoined(message, id))
  const turn = joinedTurn ?? (newestFirst.find(isReplyTo(id)) as Turn | undefined)
  const message = newestFirst.find(isMessage(id))
  if (joinedTurn !== undefined) checkSame(joinedParts(joinedTurn, id), parts)
  else if (message !== undefined && 'parts' in message) checkSame(message.parts, parts)
  return turn === undefined ? undefined : toSentBefore(turn)
}

/** The parts of a message that joined a turn. */
const joinedParts = (turn: Turn, id: MessageId): NewInput['parts'] =>
  turn.steps
    .flatMap((step) => step.parts)
    .flatMap((part) => (part.type === 'steering' && part.id === id ? part.parts : []))

function toSentBefore(turn: Turn): SentBefore {
  const kind = turn.progress.status === 'running' ? 'joined' : 'repeated'
  return { kind, turnId: turn.id, after: turn.seq - 1 }
}

/**
 * The same of a message that is not among the newest: one that stands further back, or on a path that is hidden, or that
 * joined a turn, or that was withdrawn. By its id alone, whatever the length of the thread. `stale`: what was read at `seq`
 * has changed. A message that was withdrawn is none to be answered: what comes after that is the same message, late.
 */
export async function findSentBefore(
  store: Store,
  threadId: ThreadId,
  { id, parts }: Pick<NewInput, 'id' | 'parts'>,
  seq: Seq,
): Promise<SentBefore | 'stale' | undefined> {
  const [stored, input] = await Promise.all([
    store.readMessage(threadId, id, 'lazy'),
    store.findInput?.(threadId, id) ?? null,
  ])
  if (stored?.role === 'assistant') throw idTaken()
  if (stored !== null) {
    const answer = await readAnswer(store, threadId, stored)
    // It was withdrawn together with its turn (`record`), so its id is free again, for other words too (RS4).
    if (answer === null) return undefined
    checkSame(stored.parts, parts)
    if (answer.turn !== null) return toSentBefore(answer.turn)
    if (answer.seq !== seq) return 'stale'
    throw new HoldfastError('bad-request', 'A message with this id was stored without an answer.')
  }
  if (input === null) return undefined
  if (input.turnId === null) {
    throw new HoldfastError('conflict', 'This message was withdrawn. Nothing was stored.')
  }
  const turn = turnOf((await store.readMessage(threadId, input.turnId, 'lazy')) ?? undefined)
  if (turn === null) return undefined
  checkSame(joinedParts(turn, id), parts)
  return toSentBefore(turn)
}

/**
 * The answer to a message stands right behind it, on its path; of a hidden one, the answer that it was left with. Null: the
 * message is on no path.
 */
async function readAnswer(
  store: Store,
  threadId: ThreadId,
  { id, seq }: Message,
): Promise<{ readonly turn: Turn | null; readonly seq: Seq } | null> {
  const path = await store.readPath(threadId, `${id}@${seq}`)
  if (path === null) return null
  const at = path.show.findIndex((shown) => shown.seq === seq)
  const next = at < 0 ? undefined : path.show[at + 1]
  const query = { threadId, limit: 1, before: seq, live: 'include', results: 'lazy' } as const
  const page = at < 0 ? await store.readPage({ ...query, order: 'oldest-first' }) : null
  const found =
    next === undefined ? page?.messages[0] : await store.readMessage(threadId, next.id, 'lazy')
  const turn = turnOf(found ?? undefined)
  return { turn: turn?.replyTo === id ? turn : null, seq: page?.seq ?? path.seq }
}
