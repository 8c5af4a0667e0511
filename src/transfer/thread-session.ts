import { type MessageId, type OwnerId, parseThreadId, type ThreadId } from '../core/ids.ts'
import { isJsonObject } from '../core/json.ts'
import { longestTitle } from '../core/thread.ts'
import {
  createIdKeeper,
  createMessageNamer,
  deriveId,
  type IdKeeper,
  type MessageNamer,
} from '../import/import-units.ts'
import { idOf } from '../import/old-fields.ts'
import { toKnownNames } from '../import/old-names.ts'
import { findOrder } from '../import/order.ts'
import { runToEnd } from '../core/pausable-work.ts'
import type { Store } from '../store/store.ts'
import { isOpenPage, newest } from './import-writer.ts'
import type { ThreadIntake } from './thread-intake.ts'

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
  hasWritten: boolean
}

/** Keeps the thread's id if it is free or the owner's own; `null`: a turn runs or waits in it. */
export async function openSession(
  store: Store,
  intake: ThreadIntake,
  ownerId: OwnerId,
  at: number,
): Promise<ThreadSession | null> {
  const wanted = toThreadId(intake)
  const { title: given = '', metadata } = intake.fields
  const title = given.slice(0, longestTitle).toWellFormed()
  const own = metadata === undefined ? {} : { metadata }
  let id = wanted
  let created = await store.createThread({ id, ownerId, title, ...own, at })
  for (let attempt = 0; created.kind === 'taken'; attempt++) {
    id = deriveThreadId(wanted, ownerId, attempt)
    created = await store.createThread({ id, ownerId, title, ...own, at })
  }
  const isNew = created.kind === 'created'
  const page = isNew ? null : await store.readPage(newest(id))
  if (page !== null && isOpenPage(page)) return null
  const foreign = new Set<string>()
  const ids = createIdKeeper(id, (kind, wish) => kind === 'message' && foreign.has(wish))
  const namer = createMessageNamer(ids)
  const session = { id, ownerId, isNew, ids, namer, foreign, replyTo: null, hasWritten: false }
  const { id: stated } = intake.fields
  if (stated === undefined || id === stated) return session
  // The report must not say that the id is in use: it would reveal what other owners have (HT2).
  const why = wanted === stated ? 'was not kept' : 'is not valid'
  const renamed = `The thread id ${JSON.stringify(stated.slice(0, 80))} ${why}: it became ${id}.`
  return { ...session, renamed }
}

/** A thread without an id gets one from its oldest message, or, if that has none, from everything that is known. */
function toThreadId({ fields, messages }: ThreadIntake): ThreadId {
  if (fields.id !== undefined) {
    try {
      return parseThreadId(fields.id)
    } catch {
      // Not a valid id: one is derived from it.
      return deriveThreadId(fields.id)
    }
  }
  const values = messages.map(({ value }) => (isJsonObject(value) ? toKnownNames(value) : null))
  const pages = messages.map(({ page = 0 }) => page)
  const oldest = values[runToEnd(findOrder(values, pages)).places[0] ?? 0]
  const id = oldest == null ? undefined : idOf(oldest, 'id', 'message_id', 'messageId', '_id')
  return deriveThreadId(id ?? JSON.stringify(messages.map(({ value }) => value)))
}

const deriveThreadId = (...place: readonly (string | number)[]): ThreadId =>
  parseThreadId(deriveId('msg', 'thread', ...place).replace('msg', 'thr'))
