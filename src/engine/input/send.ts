import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MessageId, OwnerId, ThreadId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import { hasOmittedOutput, type Message, type UserPart } from '../../core/message.ts'
import type { InputMode, NewInput } from '../../core/queued-input.ts'
import { earlierVersions } from '../../core/versions.ts'
import { withDefined } from '../../core/with-defined.ts'
import { parseUserParts, type WhenBusy } from '../../protocol/chat-body.ts'
import { fitChoices } from '../agent/choices.ts'
import type { Engine } from '../engine.ts'
import { isOther, type ThreadScope } from '../thread-scope.ts'
import { type NewThreadRequest, toNewThread } from '../threads/new-thread.ts'
import { type ReadDown, readDownTo } from '../threads/read-latest.ts'
import { toGivenJson } from '../to-json.ts'
import { type AnswerPlan, beginAnswer, type SendResult, type WorkFor } from './begin-answer.ts'
import { findQueued, idTaken } from './queue-input.ts'
import { findSentBefore, hasJoined, isMessage, joined, repeated, turnOf } from './sent-before.ts'

/** The arguments of `send`. */
export interface SendRequest extends ThreadScope {
  readonly threadId: ThreadId
  readonly message: {
    /** A request with the same id is the same message (RS5). @default one is generated */
    readonly id?: MessageId
    readonly parts: readonly UserPart[]
    readonly metadata?: Json
  }
  /** The choices for the agent, as the schema of the option `choices` returns them. @default the schema's defaults */
  readonly choices?: Json
  /** What happens while a turn runs (IN1). @default the option `whenBusy` */
  readonly whenBusy?: WhenBusy
  /** Edit: this message and all messages after it are replaced by the new one, and stay as a version (VR1). */
  readonly replaces?: MessageId
  /**
   * The thread is created with this message, in one commit, if it does not exist; otherwise it must belong to this
   * owner.
   */
  readonly create?: NewThreadRequest
}

/** A request whose message has its id. */
export type NamedSendRequest = Omit<SendRequest, 'message'> & {
  readonly message: SendRequest['message'] & { readonly id: MessageId }
}

/** With `work`, the answer is not produced by the engine's loop, but by `work`, and recorded. */
export async function send(
  engine: Engine,
  request: SendRequest,
  work?: WorkFor,
): Promise<SendResult> {
  const { replaces, threadId } = request
  const message = { ...request.message, id: request.message.id ?? engine.newMessageId() }
  // Converted once, and before anything is read: content that cannot be stored is refused before it costs anything
  // (CL6a). A text part without its text would be in every later prompt, and fail each.
  const content = withDefined(
    { parts: parseUserParts({ parts: toGivenJson('parts', message.parts) }) },
    {
      metadata:
        message.metadata === undefined ? undefined : toGivenJson('metadata', message.metadata),
    },
  )
  const create =
    request.create === undefined ? undefined : toNewThread(request.create, content.parts)
  const ownedBy = request.ownerId ?? create?.ownerId
  // The host application's own loop has no agent that would need default choices.
  const isChosen = work === undefined || request.choices !== undefined
  const choices = isChosen ? await fitChoices(engine, request.choices) : undefined
  const isEdit = replaces !== undefined
  const whenBusy = work === undefined ? (request.whenBusy ?? engine.options.whenBusy) : 'reject'
  let chosen: Json | undefined
  const toInput = (mode: InputMode): NewInput =>
    withDefined({ id: message.id, mode, ...content }, { choices: chosen })
  // With `create` alone the thread usually does not exist yet, so nothing is read; if it exists, the commit is refused as
  // stale. With `ownerId` beside it the thread usually exists, and is read first.
  let isNew = create !== undefined && request.ownerId === undefined
  let isAdmitted = false
  /**
   * Runs once, when the owner is known: files in the message must be the owner's, and a picked model offered to the
   * owner.
   */
  const admit = async (ownerId: OwnerId): Promise<void> => {
    if (isAdmitted) return
    await engine.files.admit(ownerId, content.parts)
    if (isChosen) chosen = await engine.offer.fit(ownerId, choices, async () => content.parts)
    isAdmitted = true
  }
  return beginAnswer(
    engine,
    {
      threadId,
      whenBusy,
      ...(create === undefined ? {} : { create }),
      ...(isEdit || work !== undefined ? {} : { toInput }),
    },
    async (onLong) => {
      const { id } = message
      const at = engine.clock.now()
      const replyTo = id
      const added = { type: 'message-added', at, messageId: id, role: 'user', ...content } as const
      const planNew = async ({ ownerId }: NonNullable<typeof create>): Promise<AnswerPlan> => {
        await admit(ownerId)
        const events = [added]
        const none = { seq: 0, incarnation: undefined, last: undefined, replaced: null }
        return { ...none, history: [], queue: [], ownerId, replyTo, choices: chosen, events }
      }
      if (isNew && create !== undefined) {
        isNew = false
        return planNew(create)
      }
      const target = replaces ?? message.id
      const { store } = engine
      // Only who replaces it has to know all that stands behind it.
      const exists = async () =>
        isEdit && (await store.readMessage(threadId, target, 'lazy')) !== null
      const fits = (other: Message) =>
        isMessage(target)(other) || (!isEdit && hasJoined(other, target))
      const read = await readDownTo(store, threadId, fits, { exists, onLong, ownedBy })
      if (read === 'stale') return null
      if (read === null && create !== undefined) return planNew(create)
      if (read === null || isOther(read.ownerId, ownedBy)) return { kind: 'no-thread' }
      const waiting = { id, parts: content.parts }
      const queued = findQueued(read.queue, waiting, turnOf(read.newest[0]), read)
      if (queued !== undefined && (isEdit || work !== undefined)) throw idTaken()
      if (queued !== undefined) return queued
      if (read.found !== null && replaces === undefined) {
        const again = repeated(read.newest, waiting)
        if (again !== undefined) return again
        // The message was written between two pages of the read, so its answer is in neither.
        if (!read.isOneRead) return null
        throw new HoldfastError(
          'bad-request',
          'A message with this id was stored without an answer.',
        )
      }
      if (read.found === null && (replaces === undefined || replaces === id)) {
        const before = await findSentBefore(store, threadId, waiting, read.seq)
        if (before !== undefined) return before === 'stale' ? null : before
      }
      // A client that sends its last message again names it as its own replacement.
      if (read.found === null && replaces !== undefined && replaces !== message.id) {
        throw new HoldfastError('message-not-found', 'The message to replace does not exist.')
      }
      await admit(read.ownerId)
      if (read.found !== null && replaces === message.id) {
        // As it is stored: a field that the ledger does not keep must not make it another message.
        const live = joined(read.found.message, read.newest[0], waiting, chosen)
        if (live !== undefined) return live
      }
      const old = replaces === undefined ? undefined : read.found?.message
      // The id of a turn stays the turn's, shown or hidden.
      if (old !== undefined && old.id !== id) {
        const other = await store.readMessage(threadId, id, 'lazy')
        if (other?.role === 'assistant') throw idTaken()
      }
      // The messages before it may come from another read: then its position is not known.
      if (old !== undefined && !read.isOneRead) return null
      const { ownerId, seq, incarnation, queue } = read
      const place = { ownerId, choices: chosen, seq, incarnation, queue, replyTo }
      const answer = read.found?.next
      // An edit that changes nothing regenerates the answer, and the message stays as it is.
      if (old !== undefined && answer?.role === 'assistant' && isSameContent(old, content)) {
        const replaced = { path: read.path.slice(0, -1), after: old.seq }
        const versionOf = earlierVersions(answer)
        return { ...place, last: read.newest[0], replaced, versionOf, events: [], history: null }
      }
      return {
        ...place,
        last: read.newest[0],
        replaced: old === undefined ? null : read,
        events: [old === undefined ? added : { ...added, versionOf: earlierVersions(old) }],
        history: isWholeHistory(read) ? read.newest.toReversed() : null,
      }
    },
    work,
  )
}

const isSameContent = (
  stored: Message,
  { parts, metadata }: Pick<SendRequest['message'], 'parts' | 'metadata'>,
): boolean =>
  stored.role !== 'assistant' &&
  JSON.stringify([stored.parts, stored.metadata]) === JSON.stringify([parts, metadata])

/** Whether the read contains the whole thread, with every result: then the prompt needs no second read. */
const isWholeHistory = ({ isWhole, newest }: ReadDown): boolean =>
  isWhole && newest.every((message) => message.role !== 'assistant' || !hasOmittedOutput(message))
