import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import type { Message, UserPart } from '../../core/message.ts'
import { earlierVersions } from '../../core/versions.ts'
import { fitChoices, storedChoices } from '../agent/choices.ts'
import type { Engine } from '../engine.ts'
import { isOther, type ThreadScope } from '../thread-scope.ts'
import { readDownTo } from '../threads/read-latest.ts'
import { beginAnswer, type SendResult } from './begin-answer.ts'

/** The arguments of `regenerate`. */
export interface RegenerateRequest extends ThreadScope {
  readonly threadId: ThreadId
  /** The turn to regenerate, or the message it answered; without it, the last turn. */
  readonly messageId?: MessageId
  /** See `SendRequest`. @default those of the answer that is regenerated */
  readonly choices?: Json
  /**
   * `interrupt`: a running turn is stopped first. Otherwise the request is refused while one runs.
   * @default 'reject'
   */
  readonly whenBusy?: 'interrupt' | 'reject'
}

export async function regenerate(engine: Engine, request: RegenerateRequest): Promise<SendResult> {
  const { threadId, messageId, whenBusy = 'reject', ownerId: ownedBy } = request
  const { offer } = engine
  const chosen =
    request.choices === undefined ? undefined : await fitChoices(engine, request.choices)
  return beginAnswer(engine, { threadId, whenBusy }, async (onLong) => {
    const fits = (message: Message) =>
      message.role === 'assistant' &&
      (messageId === undefined || message.id === messageId || message.replyTo === messageId)
    const exists = async () =>
      messageId === undefined ||
      (await engine.store.readMessage(threadId, messageId, 'lazy')) !== null
    const read = await readDownTo(engine.store, threadId, fits, { exists, onLong, ownedBy })
    if (read === 'stale') return null
    if (read === null || isOther(read.ownerId, ownedBy)) return { kind: 'no-thread' }
    const turn = read.found?.message
    if (turn?.role !== 'assistant') {
      throw new HoldfastError('message-not-found', 'There is no answer to regenerate.')
    }
    if (!read.isOneRead) return null
    const { replyTo } = turn
    const partsOf = async (): Promise<readonly UserPart[]> => {
      const question = replyTo === null ? null : await engine.store.readMessage(threadId, replyTo)
      return question === null || question.role === 'assistant' ? [] : question.parts
    }
    return {
      ownerId: read.ownerId,
      choices:
        chosen === undefined
          ? await storedChoices(engine, turn)
          : await offer.fit(read.ownerId, chosen, partsOf),
      seq: read.seq,
      incarnation: read.incarnation,
      queue: read.queue,
      last: read.newest[0],
      replaced: read,
      versionOf: earlierVersions(turn),
      replyTo,
      events: [],
      history: null,
    }
  })
}
