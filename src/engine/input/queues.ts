import { badRequestFault, HoldfastError } from '../../core/holdfast-error.ts'
import {
  type MessageId,
  type OwnerId,
  parseMessageId,
  parseStoredThreadId,
  type ThreadId,
} from '../../core/ids.ts'
import type { NewEvent } from '../../core/event.ts'
import type { Message, UserPart } from '../../core/message.ts'
import { foldQueue, foldQueueEvents } from '../../core/queue.ts'
import type { InputQueue, QueuedInput } from '../../core/queued-input.ts'
import { withDefined } from '../../core/with-defined.ts'
import { parseUserParts } from '../../protocol/chat-body.ts'
import { checkNames } from '../options/check-names.ts'
import { endFromOutside } from '../run/end-from-outside.ts'
import type { Store } from '../../store/store.ts'
import type { Engine } from '../engine.ts'
import { noModel } from '../agent/no-model.ts'
import { checkRoom } from './queue-input.ts'
import { hasJoined } from './sent-before.ts'
import { type Latest, readDownTo, readLatest } from '../threads/read-latest.ts'
import { retryInLine } from '../threads/writers-in-line.ts'
import { findThread, isOther, ownerIn, type ThreadScope } from '../thread-scope.ts'
import { toGivenJson } from '../to-json.ts'

/** How a queued input is changed: its content, its position, or both. */
export interface InputChange {
  /** Its text; its files stay. @default as it is */
  readonly text?: string
  /** All of its content. @default as it is */
  readonly parts?: readonly UserPart[]
  /** The input that it is moved before; null: to the end. @default where it is */
  readonly before?: string | null
}

/**
 * The queued inputs of a thread, without HTTP (IN2). An input that is no longer queued because it is being answered, or
 * was, is a `HoldfastError` `input-taken`; one that never existed is `message-not-found`.
 */
export interface Queues {
  /** In the order in which they are answered; null if there is no such thread. */
  list(threadId: string, scope?: ThreadScope): Promise<InputQueue | null>
  /** Returns the changed input; null if there is no such thread. */
  update(
    threadId: string,
    messageId: string,
    change: InputChange,
    scope?: ThreadScope,
  ): Promise<QueuedInput | null>
  /** False if there is no such thread. */
  withdraw(threadId: string, messageId: string, scope?: ThreadScope): Promise<boolean>
  /** Releases held inputs; in a thread at rest the turn of the first one begins. Null if there is no such thread. */
  release(threadId: string, scope?: ThreadScope): Promise<InputQueue | null>
}

export function createQueues(engine: Engine): Queues {
  const { store, clock } = engine

  /**
   * One commit on the thread as it was read; planned again if another writer was first, such as the run that takes the
   * input.
   */
  const write = async (
    threadId: string,
    scope: ThreadScope | undefined,
    plan: (queue: InputQueue, id: ThreadId, ownerId: OwnerId) => Promise<readonly NewEvent[]>,
  ): Promise<InputQueue | null> =>
    retryInLine(engine, threadId, async () => {
      const thread = await findThread(store, threadId, scope)
      if (thread === null) return null
      const { id, ownerId, queue, seq: expectedSeq, incarnation } = thread
      const events = await plan(queue, id, ownerId)
      const place = { threadId: id, expectedSeq, incarnation, queue }
      const result = await engine.append({ ...place, events })
      if (result.kind === 'stale') return 'stale'
      if (result.kind === 'appended') return foldQueueEvents(queue, events)
      if (result.kind === 'no-thread') return null
      throw new HoldfastError('store-failed', `The queue could not be changed: ${result.kind}.`)
    })

  return {
    async list(threadId, scope) {
      return (await findThread(store, threadId, scope))?.queue ?? null
    },

    async update(threadId, message, change, scope) {
      checkNames('queues.update', change, ['text', 'parts', 'before'])
      const messageId = parseMessageId(message)
      let revised: QueuedInput | null = null
      const queue = await write(threadId, scope, async (waiting, id, ownerId) => {
        const found = await findInput(engine, id, waiting, messageId)
        const parts = partsAfter(found, change)
        const before = parseBefore(change.before, waiting)
        if (parts === undefined && before === undefined) {
          throw badRequestFault('"text" or "before" is required.')
        }
        if (parts !== undefined) await engine.files.admit(ownerId, parts)
        revised = parts === undefined ? found : { ...found, parts }
        checkRoom(waiting.map((input) => (input === found ? (revised as QueuedInput) : input)))
        const event = { type: 'input-revised', messageId, at: clock.now() } as const
        return [withDefined(event, { parts, before })]
      })
      return queue === null ? null : (queue.find(({ id }) => id === messageId) ?? revised)
    },

    async withdraw(threadId, message, scope) {
      const messageId = parseMessageId(message)
      const queue = await write(threadId, scope, async (waiting, id) => {
        await findInput(engine, id, waiting, messageId)
        return [{ type: 'input-withdrawn', messageId, at: clock.now() }]
      })
      return queue !== null
    },

    release: (threadId, scope) =>
      retryInLine(engine, threadId, async () => {
        const ownedBy = ownerIn(scope ?? {})
        const id = parseStoredThreadId(threadId)
        const latest = await readLatest(store, id, 'lazy')
        if (latest === null || isOther(latest.ownerId, ownedBy)) return null
        return latest.queue.length === 0 ? latest.queue : releaseQueue(engine, id, latest)
      }),
  }
}

async function releaseQueue(
  engine: Engine,
  threadId: ThreadId,
  { last, queue, ownerId, seq: expectedSeq, incarnation }: Latest,
): Promise<InputQueue | 'stale' | null> {
  const { store, clock } = engine
  const isAtRest = last?.role !== 'assistant' || last.progress.status === 'ended'
  const released = { type: 'queue-released', at: clock.now() } as const
  const head = { threadId, expectedSeq, incarnation, queue, turns: [] }
  // A turn that runs or waits is followed by the released inputs when it ends. In a thread at rest the first input is
  // answered now, held or not: a server of an older version may have ended the turn before it without knowing the queue.
  if (!isAtRest) {
    if (queue.every(({ held }) => !held)) return queue
    const { kind } = await engine.append({ ...head, events: [released] })
    return kind === 'appended' ? foldQueue(queue, released) : 'stale'
  }
  if (!engine.agents.canAnswer) throw noModel()
  engine.assertOpen()
  const begun = await endFromOutside(engine, { ...head, ownerId }, [released], 'completed')
  if (begun.kind !== 'appended') return 'stale'
  // Which input left the queue was planned with the commit.
  return (await store.readThread(threadId))?.queue ?? null
}

async function findInput(
  engine: Engine,
  threadId: ThreadId,
  queue: InputQueue,
  messageId: MessageId,
): Promise<QueuedInput> {
  const found = queue.find(({ id }) => id === messageId)
  if (found !== undefined) return found
  const { store } = engine
  const isJoined = (message: Message) => hasJoined(message, messageId)
  const isTaken =
    (await store.readMessage(threadId, messageId, 'lazy')) !== null ||
    (store.findInput === undefined
      ? await isAmongNewest(store, threadId, isJoined)
      : typeof (await store.findInput(threadId, messageId))?.turnId === 'string')
  throw isTaken
    ? new HoldfastError('input-taken', 'This message is no longer queued: its turn has begun.')
    : new HoldfastError('message-not-found', 'This thread has no such queued message.')
}

async function isAmongNewest(
  store: Store,
  threadId: ThreadId,
  fits: (message: Message) => boolean,
): Promise<boolean> {
  const read = await readDownTo(store, threadId, fits, { exists: async () => false })
  return read !== null && read !== 'stale' && read.found !== null
}

function partsAfter(
  { parts }: QueuedInput,
  { text, parts: given }: InputChange,
): readonly UserPart[] | undefined {
  if (given !== undefined && text !== undefined)
    throw badRequestFault('Either "text" or "parts", not both.')
  if (given !== undefined) return parseUserParts({ parts: toGivenJson('parts', given) })
  if (text === undefined) return undefined
  if (typeof text !== 'string') throw badRequestFault('"text" is a text.')
  const files = parts.filter(({ type }) => type === 'file')
  const textParts = text.trim() === '' && files.length > 0 ? [] : [{ type: 'text', text } as const]
  return parseUserParts({ parts: toGivenJson('parts', [...textParts, ...files]) })
}

function parseBefore(
  before: InputChange['before'],
  queue: InputQueue,
): MessageId | null | undefined {
  if (before === undefined || before === null) return before
  const id = parseMessageId(before)
  if (!queue.some((input) => input.id === id))
    throw badRequestFault('"before" is not a queued message.')
  return id
}
