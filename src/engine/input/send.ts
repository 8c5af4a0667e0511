import { type NewEvent, numberEvents } from '../../core/event.ts'
import { foldThread } from '../../core/fold-thread.ts'
import { emptyTurn, foldTurn } from '../../core/fold-turn.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import {
  hasOmittedOutput,
  type Message,
  type Turn,
  type TurnEnding,
  type UserPart,
} from '../../core/message.ts'
import { planTurnEnd } from '../../core/plan-turn-end.ts'
import { firstReady } from '../../core/queue.ts'
import type { InputMode, InputQueue, NewInput } from '../../core/queued-input.ts'
import { pauseOf } from '../clock.ts'
import type { Begin, Engine, Work } from '../engine.ts'
import { earlierVersions, type MessageVersion } from '../../core/versions.ts'
import { withDefined } from '../../core/with-defined.ts'
import { fitChoices, storedChoices } from '../agent/choices.ts'
import type { WhenBusy } from '../../protocol/chat-body.ts'
import { enqueue, findQueued, type QueuedResult, idTaken } from './queue-input.ts'
import { readDownTo } from '../threads/read-latest.ts'
import { takeOver } from '../run/recover.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import { noModel } from '../agent/no-model.ts'
import { stopRun } from '../run/stop.ts'
import { type NewThreadRequest, toNewThread } from '../threads/new-thread.ts'
import {
  findSentBefore,
  hasJoined,
  isMessage,
  joined,
  repeated,
  type SentBefore,
  turnOf,
} from './sent-before.ts'
import type { ThreadToCreate } from '../../store/plan-commit.ts'
import { isOther, type ThreadScope } from '../thread-scope.ts'
import { planHiding } from '../threads/show-version.ts'
import { toGivenJson } from '../to-json.ts'

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

/** `after`: following from this seq shows the turn from its beginning. */
export type SendResult =
  | {
      readonly kind: 'started'
      readonly turnId: MessageId
      readonly after: Seq
      /** The turn as it was stored: followed from its `lastSeq` on, nothing of it is missed. */
      readonly turn: Turn
    }
  | SentBefore
  | { readonly kind: 'run-active'; readonly turnId: MessageId }
  | { readonly kind: 'no-thread' }
  | QueuedResult

/** With `work`, the answer is not produced by the engine's loop, but by `work`, and recorded. */
export async function send(
  engine: Engine,
  request: SendRequest,
  work?: WorkFor,
): Promise<SendResult> {
  const { replaces, threadId } = request
  const message = { ...request.message, id: request.message.id ?? engine.newMessageId() }
  // Converted once, and before anything is read: content that cannot be stored is refused before it costs anything
  // (CL6a).
  const content = withDefined(
    { parts: toGivenJson('parts', message.parts) as unknown as readonly UserPart[] },
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
  let isNew = create !== undefined
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
  return attempt(
    engine,
    {
      threadId,
      whenBusy,
      ...(create === undefined ? {} : { create }),
      ...(isEdit || work !== undefined ? {} : { toInput }),
    },
    async () => {
      const { id } = message
      const at = engine.clock.now()
      const replyTo = id
      const added = { type: 'message-added', at, messageId: id, role: 'user', ...content } as const
      if (isNew) {
        // A new thread usually does not exist yet, so nothing is read; if it exists, the commit is refused as stale.
        isNew = false
        const { ownerId } = create as NonNullable<typeof create>
        await admit(ownerId)
        const events = [added]
        const none = { seq: 0, last: undefined, replaced: null, history: [], queue: [] }
        return { ...none, ownerId, replyTo, choices: chosen, events }
      }
      const target = replaces ?? message.id
      const { store } = engine
      // Only who replaces it has to know all that stands behind it.
      const exists = async () =>
        isEdit && (await store.readMessage(threadId, target, 'lazy')) !== null
      const fits = (other: Message) =>
        isMessage(target)(other) || (!isEdit && hasJoined(other, target))
      const read = await readDownTo(store, threadId, fits, exists)
      if (read === null || isOther(read.ownerId, ownedBy)) return { kind: 'no-thread' }
      const waiting = { id, parts: content.parts }
      const queued = findQueued(read.queue, waiting, turnOf(read.messages[0]), read.seq)
      if (queued !== undefined && (isEdit || work !== undefined)) throw idTaken()
      if (queued !== undefined) return queued
      if (read.found && replaces === undefined) {
        const again = repeated(read.messages, waiting)
        if (again !== undefined) return again
        // The message was written between two pages of the read, so its answer is in neither.
        if (!read.isOneRead) return null
        throw new HoldfastError(
          'bad-request',
          'A message with this id was stored without an answer.',
        )
      }
      if (!read.found && (replaces === undefined || replaces === id)) {
        const before = await findSentBefore(store, threadId, waiting, read.seq)
        if (before !== undefined) return before === 'stale' ? null : before
      }
      // A client that sends its last message again names it as its own replacement.
      if (!read.found && replaces !== undefined && replaces !== message.id) {
        throw new HoldfastError('message-not-found', 'The message to replace does not exist.')
      }
      await admit(read.ownerId)
      if (read.found && replaces === message.id) {
        const live = joined(read.messages, message, chosen)
        if (live !== undefined) return live
      }
      const old = replaces === undefined || !read.found ? undefined : read.messages.at(-1)
      // The messages before it may come from another read: then its position is not known.
      if (old !== undefined && !read.isOneRead) return null
      const { ownerId, seq, queue } = read
      const place = { ownerId, choices: chosen, seq, queue, replyTo }
      const answers = read.messages.slice(0, -1)
      const answer = answers.at(-1)
      // An edit that changes nothing regenerates the answer, and the message stays as it is.
      if (old !== undefined && answer?.role === 'assistant' && isSameContent(old, content)) {
        const replaced = { messages: answers, after: old.seq }
        const versionOf = earlierVersions(answer)
        return { ...place, last: answers[0], replaced, versionOf, events: [], history: null }
      }
      return {
        ...place,
        last: read.messages[0],
        replaced: old === undefined ? null : read,
        events: [old === undefined ? added : { ...added, versionOf: earlierVersions(old) }],
        history: isWholeHistory(read) ? read.messages.toReversed() : null,
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

export type WorkFor = (turnId: MessageId) => Work

export async function regenerate(engine: Engine, request: RegenerateRequest): Promise<SendResult> {
  const { threadId, messageId, whenBusy = 'reject', ownerId } = request
  const { offer, options } = engine
  const chosen =
    request.choices === undefined ? undefined : await fitChoices(engine, request.choices)
  return attempt(engine, { threadId, whenBusy }, async () => {
    const fits = (message: Message) =>
      message.role === 'assistant' &&
      (messageId === undefined || message.id === messageId || message.replyTo === messageId)
    const read = await readDownTo(engine.store, threadId, fits)
    if (read === null || isOther(read.ownerId, ownerId)) return { kind: 'no-thread' }
    const turn = read.messages.at(-1)
    if (!read.found || turn?.role !== 'assistant') {
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
          ? await storedChoices(options.choices, turn)
          : await offer.fit(read.ownerId, chosen, partsOf),
      seq: read.seq,
      queue: read.queue,
      last: read.messages[0],
      replaced: read,
      versionOf: earlierVersions(turn),
      replyTo,
      events: [],
      history: null,
    }
  })
}

interface Plan {
  readonly ownerId: OwnerId
  readonly choices: Json | undefined
  readonly seq: Seq
  /** The inputs that wait at `seq`. */
  readonly queue: InputQueue
  readonly last: Message | undefined
  /** The replaced messages, newest first, and the seq of the message before them. */
  readonly replaced: { readonly messages: readonly Message[]; readonly after: Seq } | null
  /** The versions of the answer. */
  readonly versionOf?: readonly MessageVersion[]
  readonly replyTo: MessageId | null
  readonly events: readonly NewEvent[]
  /** All messages before the events, oldest first, if they have been read. */
  readonly history: readonly Message[] | null
}

interface Attempt extends Pick<SendRequest, 'threadId'> {
  readonly create?: Omit<ThreadToCreate, 'at'>
  readonly whenBusy: WhenBusy
  /** The message as a queued input. Absent: it cannot be queued, because it replaces something. */
  readonly toInput?: (mode: InputMode) => NewInput
}

/**
 * Stores the message, ends a turn that was still waiting (AP8) and begins the run, all in one commit; or, while a turn
 * runs, stores it as a queued input (IN1). A message that is refused is not stored, and one that is stored is answered
 * (LG6, RS5).
 */
async function attempt(
  engine: Engine,
  { threadId, create, whenBusy, toInput }: Attempt,
  plan: () => Promise<Plan | SendResult | null>,
  work?: WorkFor,
): Promise<SendResult> {
  if (work === undefined && !engine.agents.canAnswer) throw noModel()
  const recorded = work === undefined ? {} : ({ recorded: true } as const)
  return retryWhileStale(pauseOf(engine.clock), async (): Promise<SendResult | 'stale'> => {
    const planned = await plan()
    if (planned === null) return 'stale'
    if ('kind' in planned) return planned
    const { last, replaced, replyTo, seq, ownerId, choices, queue, versionOf } = planned
    const left = last?.role === 'assistant' && last.progress.status !== 'ended' ? last : null
    const isRunning = left?.progress.status === 'running'
    const whileBusy = async (turnId: MessageId): Promise<SendResult | 'stale'> => {
      if (toInput === undefined && whenBusy === 'interrupt') {
        await stopRun(engine, threadId)
        return 'stale'
      }
      if (left === null || toInput === undefined || whenBusy === 'reject') {
        return { kind: 'run-active', turnId }
      }
      const input = toInput(whenBusy)
      return enqueue(engine, { threadId, expectedSeq: seq, queue, input, turn: left })
    }
    // The process of the run may be dead. Then the turn is taken over, and this message waits for it.
    if (isRunning && (await takeOver(engine, threadId, !engine.agents.canAnswer))) {
      return whenBusy === 'reject' ? { kind: 'run-active', turnId: left.id } : 'stale'
    }
    // Inputs that are queued behind a turn that waits for a person are not overtaken, except by an interrupt.
    const isBehind = toInput !== undefined && firstReady(queue) !== undefined
    if (left !== null && isBehind && whenBusy !== 'interrupt') return whileBusy(left.id)
    // A turn of the engine's loop has a lease for as long as it runs. If the lease expires between these two reads, the
    // turn is taken over; beginning a new turn over it would break off an answer that a person waits for (CR5).
    if (isRunning && left.recorded !== true) return whileBusy(left.id)
    const own = engine.runs.get(threadId)
    if (isRunning && own?.turnId === left.id) return whileBusy(left.id)
    const at = engine.clock.now()
    const turnId = engine.newMessageId()
    const before: readonly NewEvent[] = [
      ...(left === null ? [] : planTurnEnd(left, endingOf(left, planned), at)),
      ...(replaced === null
        ? []
        : [planHiding(replaced.messages.toReversed(), replaced.after, at)]),
      ...planned.events,
    ]
    const started = withDefined(
      { type: 'turn-started', turnId, at, replyTo, ...recorded } as const,
      { choices, versionOf },
    )
    const result = await engine.begin({
      threadId,
      ownerId,
      turnId,
      how: 'sent',
      events: [...before, started],
      expectedSeq: seq,
      isIdle: !isRunning,
      ...(create === undefined ? {} : { create: { ...create, at } }),
      ...(work === undefined ? {} : { work: work(turnId) }),
      turns: left === null ? [] : [left],
      queue,
      // Messages that are closed or retired here have changed since they were read.
      ...(before.length > planned.events.length ? {} : toHistory(planned)),
    })
    if (result.kind === 'appended') {
      const { seq: first } = result
      const turn = foldTurn(emptyTurn(turnId, first, at), [{ ...started, seq: first }])
      return { kind: 'started', turnId, after: first - 1, turn }
    }
    if (result.kind === 'leased') {
      return isRunning ? whileBusy(result.turnId) : { kind: 'run-active', turnId: result.turnId }
    }
    if (result.kind === 'no-thread') return { kind: 'no-thread' }
    if (result.kind === 'illegal' && result.subject === 'message' && result.id !== turnId) {
      throw idTaken()
    }
    if (result.kind === 'stale') return result.kind
    throw new HoldfastError('store-failed', `The message could not be stored: ${result.kind}.`)
  })
}

/** With the expected seq, the messages read and the events added are the whole history. */
function toHistory({ seq, events, history }: Plan): Pick<Begin, 'history'> {
  if (history === null) return {}
  const { messages } = foldThread(
    { seq, messages: history },
    numberEvents(events, seq + 1).map((event) => ({ kind: 'event', seq: event.seq, event })),
  )
  return { history: messages }
}

/**
 * A running turn of the engine's loop holds a lease and is not touched; one without a lease is a loop of the host
 * application that was broken off.
 */
function endingOf(left: Turn, { events }: Plan): TurnEnding {
  if (left.progress.status !== 'waiting') return { kind: 'interrupted' }
  // Without a message of its own the answer is regenerated.
  return events.length === 0 ? { kind: 'superseded', by: 'regenerate' } : { kind: 'superseded' }
}

/** Whether the read contains the whole thread, with every result: then the prompt needs no second read. */
const isWholeHistory = (read: {
  readonly messages: readonly Message[]
  readonly isOneRead: boolean
  readonly isWhole: boolean
}): boolean =>
  read.isWhole &&
  read.isOneRead &&
  read.messages.every((message) => message.role !== 'assistant' || !hasOmittedOutput(message))
