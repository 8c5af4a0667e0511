import { setImmediate } from 'node:timers/promises'
import type { NewEvent } from '../../core/event.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import {
  type MessageId,
  parseMessageId,
  parseThreadId,
  type Seq,
  type ThreadId,
} from '../../core/ids.ts'
import type { Message, Part, Turn, TurnProgress } from '../../core/message.ts'
import type { ThreadRecord } from '../../core/thread.ts'
import { withDefined } from '../../core/with-defined.ts'
import { isAnother } from '../../core/thread-place.ts'
import { bytesPerSlice } from '../../store/pacer.ts'
import type { Page, Store, StoredChange } from '../../store/store.ts'
import { checkNames } from '../options/check-names.ts'
import { pauseOf } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import { findThread, parseTitle, type ThreadScope } from '../thread-scope.ts'
import { enterLongEdit, longEditMessages } from './long-edits.ts'
import { writeCopy } from './write-copy.ts'

/** The options of `threads.fork`. */
export interface ForkOptions extends ThreadScope {
  /** The last message to copy; it must be visible. @default the last one that has ended */
  readonly messageId?: string
  /** The id of the new thread. @default one is generated */
  readonly id?: string
  /** At most 500 characters. @default that of the original thread */
  readonly title?: string
}

/** The result of `threads.fork`. */
export type ForkResult =
  | { readonly kind: 'forked'; readonly thread: ThreadRecord }
  /** A thread with this id exists, and belongs to the same owner. Nothing was changed. */
  | { readonly kind: 'exists'; readonly thread: ThreadRecord }
  /** The id belongs to another owner's thread. */
  | { readonly kind: 'taken' }
  /** The named message is a turn that runs or waits. */
  | { readonly kind: 'run-active'; readonly turnId: MessageId }
  | { readonly kind: 'no-message' }
  | { readonly kind: 'no-thread' }

/**
 * Copies by value: after a crash there is a whole copy or none, and later changes to either thread, its deletion too,
 * do not affect the other.
 */
export async function forkThread(
  engine: Engine,
  newThreadId: () => ThreadId,
  from: string,
  options: ForkOptions = {},
): Promise<ForkResult> {
  checkNames('threads.fork', options, ['ownerId', 'messageId', 'id', 'title'])
  const { store, clock } = engine
  const { ownerId: owner, messageId: last } = options
  const wanted = last === undefined ? undefined : parseMessageId(last)
  const title = options.title === undefined ? undefined : parseTitle(options.title)
  const id = options.id === undefined ? newThreadId() : parseThreadId(options.id)
  const source = await findThread(store, from, owner === undefined ? {} : { ownerId: owner })
  if (source === null) return { kind: 'no-thread' }
  const found = options.id === undefined ? null : await store.readThread(id)
  if (found !== null) {
    return found.ownerId === source.ownerId ? { kind: 'exists', thread: found } : { kind: 'taken' }
  }
  const attempt = async (): Promise<ForkResult | 'stale'> => {
    const messages = await readPath(engine, source, wanted)
    if (messages === null) return 'stale'
    if (messages === 'no-thread') return { kind: 'no-thread' }
    if (messages === 'no-message') return { kind: 'no-message' }
    const open = messages.find(isOpen)
    if (open !== undefined) return { kind: 'run-active', turnId: open.id }
    const tip = messages.at(-1)
    if (tip === undefined) return { kind: 'no-message' }
    const at = clock.now()
    const forkedFrom = { threadId: source.id, messageId: tip.id }
    const events = copyAll(engine, messages, { type: 'thread-forked', from: forkedFrom, at })
    // A placeholder title stays a placeholder in the copy.
    const isPlaceholder = title === undefined && source.titledBy === null
    const create = {
      ...{ ownerId: source.ownerId, title: title ?? source.title, at },
      ...(isPlaceholder ? ({ isPlaceholder } as const) : {}),
    }
    const isWritten = await writeCopy(engine, { id, create, events })
    const thread = await store.readThread(id)
    if (isWritten) {
      return thread === null ? { kind: 'no-thread' } : { kind: 'forked', thread }
    }
    // A thread with this id was created meanwhile.
    if (thread?.ownerId === source.ownerId) return { kind: 'exists', thread }
    if (thread !== null) return { kind: 'taken' }
    throw new HoldfastError('store-failed', 'The thread could not be forked.')
  }
  // All of the thread is held until it is written.
  const leave =
    source.seq > longEditMessages ? await enterLongEdit(store, source.ownerId) : undefined
  return retryWhileStale(pauseOf(clock), attempt).finally(leave)
}

const isOpen = (message: Message): message is Turn =>
  message.role === 'assistant' && message.progress.status !== 'ended'

/**
 * The visible messages up to the given one, oldest first; without it, up to the last that has ended. Null: another
 * version was shown meanwhile, or the thread was created again, and pages of two paths would be joined.
 */
async function readPath(
  { store }: Engine,
  { id: threadId, ownerId }: Pick<ThreadRecord, 'id' | 'ownerId'>,
  wanted: MessageId | undefined,
): Promise<readonly Message[] | 'no-message' | 'no-thread' | null> {
  const messages: Message[] = []
  let before: Seq | null = null
  let seq: Seq | undefined
  let last: Seq | undefined
  let incarnation = ''
  for (;;) {
    const page: Page | null = await store.readPage({
      ...{ threadId, limit: 200, before, live: 'include', results: 'full' },
      maxBytes: bytesPerSlice,
    })
    // Somebody else may have created a thread under this id since its owner was checked.
    if (page === null || page.ownerId !== ownerId) return 'no-thread'
    const found = page.place?.incarnation ?? ''
    if (isAnother(incarnation, found)) return null
    incarnation = found
    seq ??= page.seq
    last = page.seq
    for (const message of page.messages) {
      const isPast = messages.length > 0
      if (isPast || (wanted === undefined ? !isOpen(message) : message.id === wanted)) {
        messages.push(message)
      }
    }
    before = page.messages.at(-1)?.seq ?? null
    if (!page.hasMore || before === null) break
    await setImmediate()
  }
  if (seq !== last && (await hasSwitched(store, threadId, seq ?? 0))) return null
  return messages.length === 0 ? 'no-message' : messages.toReversed()
}

/** Whether anything was hidden or shown after a seq. Messages that were only added come after all that was read. */
export async function hasSwitched(store: Store, threadId: ThreadId, seq: Seq): Promise<boolean> {
  for (let after = seq; ;) {
    const read = await store.readChanges({ threadId, after, limit: 1_000, results: 'lazy' })
    if (read === null) return true
    const isSwitch = (change: StoredChange) =>
      change.kind === 'event' && switches.has(change.event.type)
    if (read.changes.some(isSwitch)) return true
    if (read.reached >= read.seq) return false
    after = read.reached
  }
}

const switches: ReadonlySet<string> = new Set(['messages-retired', 'messages-shown'])

function* copyAll(
  engine: Engine,
  messages: readonly Message[],
  last: NewEvent,
): Generator<NewEvent> {
  for (const message of messages) yield toCopy(engine, message)
  yield last
}

/** The same content under a new id; a person's message keeps its own, which is unique in its thread only. */
function toCopy(engine: Engine, message: Message): NewEvent {
  if (message.role !== 'assistant') {
    const { id: messageId, role, parts, metadata, createdAt: at } = message
    return withDefined({ type: 'message-added', messageId, role, parts, at } as const, { metadata })
  }
  const { createdAt: at, replyTo, metadata, choices, trace, recorded, unreadable } = message
  const { continuedAfter } = message
  const copy = (part: Part): Part =>
    part.type === 'call' ? { ...part, id: engine.newCallId() } : part
  const turn = withDefined(
    {
      replyTo,
      progress: message.progress as Extract<TurnProgress, { readonly status: 'ended' }>,
      steps: message.steps.map((step) => ({ ...step, parts: step.parts.map(copy) })),
      unreadable,
    },
    { metadata, choices, trace, recorded, continuedAfter },
  )
  return { type: 'turn-copied', turnId: engine.newMessageId(), at, turn }
}
