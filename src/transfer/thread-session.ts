import { type MessageId, type OwnerId, parseThreadId, type ThreadId } from '../core/ids.ts'
import { longestTitle } from '../core/thread.ts'
import {
  createIdKeeper,
  createMessageNamer,
  createTextHash,
  deriveId,
  type IdKeeper,
  type MessageNamer,
} from '../import/import-units.ts'
import { idOf } from '../import/old-fields.ts'
import { findOrder } from '../import/order.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import { toKnownMessages } from '../import/read-legacy-messages.ts'
import { type Pacer, runPaced } from '../store/pacer.ts'
import type { CreateThreadResult, NewThread, Store } from '../store/store.ts'
import { type ImportWriter, isOpenPage, newest } from './import-writer.ts'
import type { PlacedValue, ThreadIntake } from './thread-intake.ts'

/** A thread of the source, once its id in the store is known. */
export interface ThreadSession {
  readonly id: ThreadId
  readonly ownerId: OwnerId
  /** Whether this import created it, so that nothing else is in it. */
  readonly isNew: boolean
  /** Why its id is not the one in the source. */
  readonly renamed?: string
  readonly ids: IdKeeper
  readonly namer: MessageNamer
  /** Ids of turns that the source has, and that belong to turns of another thread. */
  readonly foreign: Set<string>
  replyTo: MessageId | null
  /** When the last message that was written was over. */
  endedAt: number | undefined
  hasWritten: boolean
}

/** Keeps the thread's id if it is free or the owner's own; `null`: a turn runs or waits in it. */
export async function openSession(
  parts: SessionParts,
  intake: ThreadIntake,
  ownerId: OwnerId,
  at: number,
): Promise<ThreadSession | null> {
  const { store, pace } = parts
  const wanted = await runPaced(toThreadId(intake), pace)
  const { title: given = '', metadata } = intake.fields
  const title = given.slice(0, longestTitle).toWellFormed()
  const thread = { ownerId, title, at, ...(metadata === undefined ? {} : { metadata }) }
  let id = wanted
  let claimed = await claimThread(parts, intake, { id, ...thread })
  for (let attempt = 0; claimed === 'taken'; attempt++) {
    id = deriveThreadId(wanted, ownerId, attempt)
    claimed = await claimThread(parts, intake, { id, ...thread })
  }
  const isNew = claimed === 'created'
  const page = isNew ? null : await store.readPage(newest(id))
  if (page !== null && isOpenPage(page)) return null
  const foreign = new Set<string>()
  const ids = createIdKeeper(id, (kind, wish) => kind === 'message' && foreign.has(wish))
  const namer = createMessageNamer(ids)
  const begun = { replyTo: null, endedAt: undefined, hasWritten: false }
  const session = { id, ownerId, isNew, ids, namer, foreign, ...begun }
  const { id: stated } = intake.fields
  if (stated === undefined || id === stated) return session
  // The report must not say that the id is in use: it would reveal what other owners have (HT2).
  const why = wanted === stated ? 'was not kept' : 'is not valid'
  const renamed = `The thread id ${JSON.stringify(stated.slice(0, 80))} ${why}: it became ${id}.`
  return { ...session, renamed }
}

/** What a session of a thread reads and writes with. */
export interface SessionParts {
  readonly store: Store
  readonly writer: ImportWriter
  readonly pace: Pacer
}

/**
 * A thread whose id is free is created in one transaction with its first messages. Metadata can be set by `createThread`
 * alone; only a source of the host has them.
 */
async function claimThread(
  { store, writer }: SessionParts,
  { where }: ThreadIntake,
  thread: NewThread,
): Promise<CreateThreadResult['kind']> {
  const { id, metadata, ...create } = thread
  // An earlier thread of the source may have the same id.
  await writer.flushThread(id)
  if (metadata !== undefined) return (await store.createThread(thread)).kind
  const found = await store.readThread(id)
  if (found !== null) return found.ownerId === thread.ownerId ? 'exists' : 'taken'
  await writer.add({ threadId: id, where, units: [], create })
  return 'created'
}

/** A thread without an id gets one from its oldest message, or, if that has none, from everything that is known. */
function* toThreadId({ fields, messages }: ThreadIntake): PausableWork<ThreadId> {
  if (fields.id !== undefined) {
    try {
      return parseThreadId(fields.id)
    } catch {
      // Not a valid id: one is derived from it.
      return deriveThreadId(fields.id)
    }
  }
  const values = yield* toKnownMessages(messages.map(({ value }) => value))
  const pages = messages.map(({ page = 0 }) => page)
  const { places } = yield* findOrder(values, pages)
  const oldest = values[places[0] ?? 0]
  const id = oldest == null ? undefined : idOf(oldest, 'id', 'message_id', 'messageId', '_id')
  return id === undefined ? yield* deriveFromAll(messages) : deriveThreadId(id)
}

/** The id that `deriveThreadId` makes of the JSON of all values, message by message: they may be many megabytes. */
function* deriveFromAll(messages: readonly PlacedValue[]): PausableWork<ThreadId> {
  const hash = createTextHash()
  const add = (text: string) => hash.add(JSON.stringify(text).slice(1, -1))
  hash.add('["thread","')
  for (const [index, { value }] of messages.entries()) {
    add(`${index === 0 ? '[' : ','}${JSON.stringify(value) ?? 'null'}`)
    yield
  }
  hash.add(`${messages.length === 0 ? '[' : ''}]"]`)
  return parseThreadId(`thr_${hash.digest()}`)
}

const deriveThreadId = (...place: readonly (string | number)[]): ThreadId =>
  parseThreadId(deriveId('msg', 'thread', ...place).replace('msg', 'thr'))
