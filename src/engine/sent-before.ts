import type { MessageId, Seq } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import type { Message, Turn } from '../core/message.ts'
import { joinedInputs } from '../core/queue.ts'
import type { NewInput } from '../core/queued-input.ts'
import { checkSame } from './queue-input.ts'
import { isReplyTo } from './read-latest.ts'

/** The same message again: its run is live, or was (RS5). */
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

/** An edit that changes nothing, while the answer to it is being made (RS5). */
export function joined(
  newestFirst: readonly Message[],
  { id, parts }: Pick<NewInput, 'id' | 'parts'>,
  choices: Json | undefined,
): SentBefore | undefined {
  const stored = newestFirst.find(isMessage(id))
  const turn = newestFirst[0]
  if (stored === undefined || stored.role === 'assistant' || turn?.role !== 'assistant') return
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
  const stored = joinedTurn?.steps
    .flatMap((step) => step.parts)
    .find((part) => part.type === 'steering' && part.id === id)
  const message = stored ?? newestFirst.find(isMessage(id))
  if (message !== undefined && 'parts' in message) checkSame(message.parts, parts)
  if (turn === undefined) return undefined
  const kind = turn.progress.status === 'running' ? 'joined' : 'repeated'
  return { kind, turnId: turn.id, after: turn.seq - 1 }
}
