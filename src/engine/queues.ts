import { HoldfastError } from '../core/holdfast-error.ts'
import { type MessageId, type OwnerId, parseMessageId, type ThreadId } from '../core/ids.ts'
import type { NewEvent } from '../core/event.ts'
import type { Message, UserPart } from '../core/message.ts'
import { joinedInputs } from '../core/queue.ts'
import type { InputQueue, QueuedInput } from '../core/queued-input.ts'
import { withDefined } from '../core/with-defined.ts'
import { parseUserParts } from '../protocol/chat-body.ts'
import { checkNames } from './check-names.ts'
import { endFromOutside } from './end-from-outside.ts'
import { pauseOf } from './clock.ts'
import type { Engine } from './engine.ts'
import { noModel } from './no-model.ts'
import { checkRoom } from './queue-input.ts'
import { readDownTo } from './read-latest.ts'
import { retryWhileStale } from '../store/retry-while-stale.ts'
import { findThread, type ThreadScope } from './threads.ts'
import { toGivenJson } from './to-json.ts'

/** How an input that waits is changed. Other words, another place, or both. */
export interface InputChange {
  /** Its words; files that came with it stay. @default as they are */
  readonly text?: string
  /** All of its content. @default as it is */
  readonly parts?: readonly UserPart[]
  /** Before which other input it is to stand; null: at the end. @default where it is */
  readonly before?: string | null
}

/**
 * The inputs that wait for their turn, without HTTP (IN2). One that is no longer there because it is being answered, or
 * was, is a `HoldfastError` `input-taken`; one that was never there is `message-not-found`.
 */
export interface Queues {
  /** In the order in which they are answered; null if there is no such thread. */
  list(threadId: string, scope?: ThreadScope): Promise<InputQueue | null>
  /** The input as it is then; null if there is no such thread. */
  update(
    threadId: string,
    messageId: string,
    change: InputChange,
    scope?: ThreadScope,
  ): Promise<QueuedInput | null>
  /** False if there is no such thread. */
  withdraw(threadId: string, messageId: string, scope?: ThreadScope): Promise<boolean>
  /** Sends on what was held back; in a thread at rest the first begins its turn. Null if there is no such thread. */
  release(threadId: string, scope?: ThreadScope): Promise<InputQueue | null>
}

export function createQueues(engine: Engine): Queues {
  const { store, clock } = engine

  /** One commit on the thread as it was read, and read anew if somebody was quicker: the run that takes it, perhaps. */
  const write = async (
    threadId: string,
    scope: ThreadScope | undefined,
    plan: (queue: InputQueue, id: ThreadId, ownerId: OwnerId) => Promise<readonly NewEvent[]>,
  ): Promise<InputQueue | null> =>
    retryWhileStale(pauseOf(clock), async () => {
      const thread = await findThread(store, threadId, scope)
      if (thread === null) return null
      const { id, ownerId, queue, seq: expectedSeq } = thread
      const events = await plan(queue, id, ownerId)
      const result = await engine.append({ threadId: id, events, expectedSeq, queue })
      if (result.kind === 'stale') return 'stale'
      if (result.kind === 'appended') return (await store.readThread(id))?.queue ?? []
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
          throw bad('"text" or "before" says what to change.')
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
      retryWhileStale(pauseOf(clock), async () => {
        const thread = await findThread(store, threadId, scope)
        if (thread === null) return null
        const { id, ownerId, queue } = thread
        if (queue.every(({ held }) => !held)) return queue
        const result = await releaseQueue(engine, id, ownerId)
        if (result === 'stale') return 'stale'
        return (await store.readThread(id))?.queue ?? null
      }),
  }
}

async function releaseQueue(
  engine: Engine,
  threadId: ThreadId,
  ownerId: OwnerId,
): Promise<'released' | 'stale'> {
  const { store, clock } = engine
  const page = await store.readPage({
    ...{ threadId, limit: 1, before: null, live: 'include', results: 'lazy' },
  })
  if (page === null) return 'stale'
  const { queue, seq: expectedSeq } = page
  const [last] = page.messages
  const isAtRest = last?.role !== 'assistant' || last.progress.status === 'ended'
  const released = { type: 'queue-released', at: clock.now() } as const
  const stand = { threadId, expectedSeq, queue, turns: [] }
  // A turn that runs or waits is followed by them when it ends.
  if (!isAtRest) {
    const { kind } = await engine.append({ ...stand, events: [released] })
    return kind === 'appended' ? 'released' : 'stale'
  }
  if (!engine.agents.canAnswer) throw noModel()
  const begun = await endFromOutside(engine, { ...stand, ownerId }, [released], 'completed')
  return begun.kind === 'appended' ? 'released' : 'stale'
}

async function findInput(
  engine: Engine,
  threadId: ThreadId,
  queue: InputQueue,
  messageId: MessageId,
): Promise<QueuedInput> {
  const found = queue.find(({ id }) => id === messageId)
  if (found !== undefined) return found
  const joined = (message: Message) =>
    message.role === 'assistant' && joinedInputs(message).includes(messageId)
  const isTaken =
    (await engine.store.readMessage(threadId, messageId, 'lazy')) !== null ||
    (await readDownTo(engine.store, threadId, joined, async () => false))?.found === true
  throw isTaken
    ? new HoldfastError('input-taken', 'It is being answered, or was: it no longer waits.')
    : new HoldfastError('message-not-found', 'No such message waits in this thread.')
}

function partsAfter(
  { parts }: QueuedInput,
  { text, parts: given }: InputChange,
): readonly UserPart[] | undefined {
  if (given !== undefined && text !== undefined) throw bad('Either "text" or "parts", not both.')
  if (given !== undefined) return parseUserParts({ parts: toGivenJson('parts', given) })
  if (text === undefined) return undefined
  if (typeof text !== 'string') throw bad('"text" is a text.')
  const files = parts.filter(({ type }) => type === 'file')
  const said = text.trim() === '' && files.length > 0 ? [] : [{ type: 'text', text } as const]
  return parseUserParts({ parts: toGivenJson('parts', [...said, ...files]) })
}

function parseBefore(
  before: InputChange['before'],
  queue: InputQueue,
): MessageId | null | undefined {
  if (before === undefined || before === null) return before
  const id = parseMessageId(before)
  if (!queue.some((input) => input.id === id)) throw bad('"before" is no message that waits.')
  return id
}

const bad = (message: string): HoldfastError => new HoldfastError('bad-request', message)
