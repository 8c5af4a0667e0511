import { isTurnEvent, type NewEvent, numberEvents } from '../../core/event.ts'
import { emptyTurn, foldTurn } from '../../core/fold-turn.ts'
import { badRequestFault, HoldfastError } from '../../core/holdfast-error.ts'
import {
  type MessageId,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Seq,
} from '../../core/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import type { ItemPart, Message, Turn, UserPart } from '../../core/message.ts'
import { runToEnd } from '../../core/pausable-work.ts'
import { withDefined } from '../../core/with-defined.ts'
import { readPart } from '../../import/message-parts.ts'
import { plainContext } from '../../import/old-call.ts'
import type { OldText } from '../../import/old-message.ts'
import { toTurnEvents } from '../../import/turn-events.ts'
import { parseUserParts } from '../../protocol/chat-body.ts'
import { sameJson } from '../../views/same-json.ts'
import { checkNames } from '../options/check-names.ts'
import type { Engine } from '../engine.ts'
import { readLatest } from './read-latest.ts'
import { takeOver } from '../run/recover.ts'
import { retryInLine } from './writers-in-line.ts'
import { isOther, parseTitle, type ThreadScope } from '../thread-scope.ts'
import { toGivenJson } from '../to-json.ts'

/** The parts that a posted assistant message may have, in the AI SDK's format. */
export type PostedPart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'file'; readonly mediaType: string; readonly url: string }
  | {
      readonly type: 'source-url'
      readonly sourceId: string
      readonly url: string
      readonly title?: string
    }
  | {
      readonly type: 'source-document'
      readonly sourceId: string
      readonly mediaType: string
      readonly title: string
      readonly filename?: string
    }
  | { readonly type: `data-${string}`; readonly id?: string; readonly data: Json }

/** A message that is stored and not answered. */
export type PostedMessage = {
  /**
   * The same id again with the same content is the same message; with other content it is a `HoldfastError` `conflict`.
   * An assistant message's id is unique among all threads.
   * @default one is made
   */
  readonly id?: string
  /** Any JSON; shown with the message. @default none */
  readonly metadata?: Json
} & (
  | { readonly role: 'user' | 'system'; readonly parts: readonly UserPart[] }
  /** Tool calls cannot be posted: see `record`, `toolCalls` and the import. */
  | { readonly role: 'assistant'; readonly parts: readonly PostedPart[] }
)

/** The options of `post`. */
export interface PostOptions extends ThreadScope {
  /**
   * Creates the thread with the message, in one commit, if it does not exist; otherwise it must belong to this owner.
   * @default nothing is created: `no-thread`
   */
  readonly create?: { readonly ownerId: string; readonly title?: string }
}

/** The result of `post`. */
export type PostResult =
  /** `seq`: the position of the message in the thread. */
  | { readonly kind: 'stored'; readonly messageId: MessageId; readonly seq: Seq }
  /** It was stored before; nothing was written. */
  | { readonly kind: 'repeated'; readonly messageId: MessageId; readonly seq: Seq }
  /**
   * A turn is being produced, or waits for a person or a client. Nothing was stored: the message would follow an answer
   * that has not ended. Post it when the turn has ended, or `stop` the turn.
   */
  | { readonly kind: 'run-active'; readonly turnId: MessageId }
  | { readonly kind: 'no-thread' }

/** Stores a message without answering it. */
export async function postMessage(
  engine: Engine,
  thread: string,
  message: PostedMessage,
  options: PostOptions = {},
): Promise<PostResult> {
  checkNames('post', message, ['id', 'role', 'parts', 'metadata'])
  checkNames('post', options, ['ownerId', 'create'])
  const { store, clock } = engine
  const threadId = parseThreadId(thread)
  const id = message.id === undefined ? engine.newMessageId() : parseMessageId(message.id)
  const create = options.create === undefined ? undefined : parseCreate(options.create)
  const ownerId = options.ownerId === undefined ? create?.ownerId : parseOwnerId(options.ownerId)
  const plan = planEvents(message, id)
  let isMade = message.id === undefined

  return retryInLine(engine, threadId, async (): Promise<PostResult | 'stale'> => {
    const latest = await readLatest(store, threadId, 'lazy')
    const owner = latest?.ownerId ?? create?.ownerId
    if (owner === undefined || (latest !== null && isOther(owner, ownerId))) {
      return { kind: 'no-thread' }
    }
    const last = latest?.last
    const isLookedFor = !isMade && last?.id !== id
    // If the write is refused, something has this id after all.
    isMade = false
    // Turn ids are unique across threads, since a turn can be found without its thread.
    const isTurn = message.role === 'assistant'
    const known = isLookedFor && isTurn ? await store.findTurn(id, 'lazy') : null
    const isIn = isLookedFor && latest !== null
    const found = last?.id === id ? last : known?.threadId === threadId ? known.turn : null
    const stored = found ?? (isIn ? await store.readMessage(threadId, id, 'lazy') : null)
    const at = clock.now()
    const events = plan(at)
    if (stored !== null) {
      if (!isSame(stored, toMessage(id, events))) throw conflict()
      return { kind: 'repeated', messageId: id, seq: stored.seq }
    }
    if (known !== null) throw conflict()
    if (last?.role === 'assistant' && last.progress.status !== 'ended') {
      // Its process may be dead: then the turn is taken over, and ends at some point.
      if (last.progress.status === 'running') await takeOver(engine, threadId)
      return { kind: 'run-active', turnId: last.id }
    }
    await engine.files.admit(owner, filesPosted(events))
    const { queue = [] } = latest ?? {}
    // A queued input with this id becomes a message later; one that joined a turn, or was withdrawn, had it (IN6).
    if (queue.some((input) => input.id === id)) throw conflict()
    if (isIn && (await store.findInput?.(threadId, id)) != null) throw conflict()
    const result = await engine.append({
      threadId,
      events,
      expectedSeq: latest?.seq ?? 0,
      incarnation: latest?.incarnation,
      queue,
      ...(create === undefined ? {} : { create: { ...create, at } }),
    })
    switch (result.kind) {
      case 'appended':
        return { kind: 'stored', messageId: id, seq: result.firstSeq }
      case 'no-thread':
        return { kind: 'no-thread' }
      case 'stale':
        return 'stale'
      // The message was stored meanwhile: the next attempt compares its content.
      case 'illegal':
        if (result.subject === 'message') return 'stale'
        throw new HoldfastError('bad-event', `The message cannot be stored: ${result.state}.`)
      default:
        throw new HoldfastError('store-failed', `The message could not be stored: ${result.kind}.`)
    }
  })
}

const filesPosted = (events: readonly NewEvent[]): readonly (UserPart | ItemPart)[] =>
  events.flatMap((event): readonly (UserPart | ItemPart)[] => {
    if (event.type === 'message-added') return event.parts
    return event.type === 'item-added' ? [event.item] : []
  })

function parseCreate(create: NonNullable<PostOptions['create']>) {
  checkNames('create of post', create, ['ownerId', 'title'])
  const { ownerId, title } = create
  return { ownerId: parseOwnerId(ownerId), title: title === undefined ? '' : parseTitle(title) }
}

/** Invalid messages are refused here, before anything is read. */
function planEvents(message: PostedMessage, id: MessageId): (at: number) => readonly NewEvent[] {
  const given = toGivenJson('parts', message.parts)
  const metadata =
    message.metadata === undefined ? undefined : toGivenJson('metadata', message.metadata)
  switch (message.role) {
    case 'user':
    case 'system': {
      const { role } = message
      const parts = parseUserParts({ parts: given })
      const added = { type: 'message-added', messageId: id, role, parts } as const
      return (at) => [{ ...withDefined(added, { metadata }), at }]
    }
    case 'assistant': {
      const parts = parseAssistantParts(given)
      const turn = withDefined(
        { kind: 'turn', steps: [{ parts }], ending: { kind: 'completed' } } as const,
        { metadata },
      )
      return (at) =>
        runToEnd(
          toTurnEvents(turn, {
            turnId: id,
            replyTo: null,
            at,
            isFollowedByUser: false,
            nextCallId: unreachable,
            mend: () => {},
          }),
        )
    }
    default:
      throw badRequestFault('"role" is user, system or assistant.')
  }
}

function parseAssistantParts(given: Json): readonly (OldText | ItemPart)[] {
  if (!Array.isArray(given)) throw badRequestFault('A message has "parts".')
  const parts = (given as readonly Json[]).map((value, index) => {
    const part = readPart(
      value,
      plainContext(0, () => {}),
    )
    if (part.type === 'unreadable') throw badRequestFault(`parts[${index}]: ${part.why}.`)
    if (
      part.type === 'call' ||
      part.type === 'answer' ||
      part.type === 'step-start' ||
      part.type === 'steering'
    ) {
      const type = isJsonObject(value) && typeof value.type === 'string' ? value.type : ''
      throw badRequestFault(`parts[${index}]: a part of the type "${type}" cannot be posted.`)
    }
    return part
  })
  if (parts.every((part) => isText(part) && part.text.trim() === '')) {
    throw badRequestFault('The message is empty.')
  }
  return parts
}

const isText = (part: OldText | ItemPart): part is OldText =>
  part.type === 'text' || part.type === 'reasoning'

const unreachable = (): never => {
  throw new Error('A posted message cannot have calls.')
}

/** The message that the events produce, for comparing content: its seq and time are arbitrary. */
function toMessage(id: MessageId, events: readonly NewEvent[]): Message {
  const [first] = events
  if (first?.type === 'message-added') {
    const { role, parts, metadata, at } = first
    return withDefined({ id, role, parts, seq: 1, createdAt: at }, { metadata })
  }
  const turnEvents = numberEvents(events.filter(isTurnEvent), 1)
  return foldTurn(emptyTurn(id, 1, first?.at ?? 0), turnEvents)
}

function isSame(stored: Message, wanted: Message): boolean {
  return sameJson(contentOf(stored), contentOf(wanted))
}

const contentOf = (message: Message): JsonObject => ({
  role: message.role,
  metadata: message.metadata ?? null,
  parts: (message.role === 'assistant'
    ? partsOf(message)
    : message.parts) as unknown as readonly Json[],
})

const partsOf = (turn: Turn) => turn.steps.flatMap(({ parts }) => parts)

const conflict = (): HoldfastError =>
  new HoldfastError('conflict', 'Another message has this id. Nothing was stored.')
