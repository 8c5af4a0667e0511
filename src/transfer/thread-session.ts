import { type MessageId, type OwnerId, parseThreadId, type ThreadId } from '../core/ids.ts'
import type { Store } from '../store/store.ts'
import { deriveId } from '../import/import-ids.ts'
import type { IsTaken } from '../import/import-ids.ts'
import type { ImportWriter } from './import-writer.ts'
import { type Batch, readBatch, type ReadBatch, type Unit } from './read-batch.ts'
import type { ThreadIntake } from './thread-intake.ts'

/** A thread of the source once it has its place in the store. */
export interface ThreadSession {
  readonly id: ThreadId
  readonly isNew: boolean
  /** Why its id is not the one that the source gives it. */
  readonly renamed?: string
  /** How many of its messages were read. */
  offset: number
  replyTo: MessageId | null
  readonly used: { readonly message: Set<string>; readonly call: Set<string> }
}

/** Keeps the thread's id if it is free or the owner's own; `null`: somebody is answering in it. */
export async function openSession(
  store: Store,
  intake: ThreadIntake,
  ownerId: OwnerId,
  at: number,
): Promise<ThreadSession | null> {
  const wanted = toThreadId(intake)
  const title = intake.fields.title ?? ''
  let id = wanted
  let created = await store.createThread({ id, ownerId, title, at })
  for (let attempt = 0; created.kind === 'taken'; attempt++) {
    id = deriveThreadId(wanted, ownerId, attempt)
    created = await store.createThread({ id, ownerId, title, at })
  }
  const isNew = created.kind === 'created'
  if (!isNew) {
    const query = {
      threadId: id,
      limit: 1,
      before: null,
      live: 'exclude',
      results: 'lazy',
    } as const
    if ((await store.readPage(query))?.live != null) return null
  }
  const used = { message: new Set<string>(), call: new Set<string>() }
  const session = { id, isNew, offset: 0, replyTo: null, used }
  const { id: told } = intake.fields
  if (told === undefined || id === told) return session
  const why = wanted === told ? 'is in use' : 'is not valid'
  const renamed = `The thread id ${JSON.stringify(told.slice(0, 80))} ${why}: it became ${id}.`
  return { ...session, renamed }
}

/** A thread without an id is named after its first message, or, where that has none, after all we see. */
function toThreadId({ fields, messages }: ThreadIntake): ThreadId {
  if (fields.id !== undefined) {
    try {
      return parseThreadId(fields.id)
    } catch {
      // Not an id that can be kept: one is derived from it.
      return deriveThreadId(fields.id)
    }
  }
  const first = messages[0]?.value as { readonly id?: unknown } | null | undefined
  const id = typeof first === 'object' ? first?.id : undefined
  const name = id === undefined ? messages.map(({ value }) => value) : first
  return deriveThreadId(JSON.stringify(name))
}

const deriveThreadId = (...place: readonly (string | number)[]): ThreadId =>
  parseThreadId(deriveId('msg', 'thread', ...place).replace('msg', 'thr'))

export type BatchSource = Pick<Batch, 'format' | 'at' | 'messages' | 'isFollowed'>

/** Reads a batch so that no id in it is another message's, and leaves out what is stored already. */
export async function readNewUnits(
  store: Store,
  writer: ImportWriter,
  session: ThreadSession,
  source: BatchSource,
): Promise<ReadBatch & { readonly known: number }> {
  const foreign = { message: new Set<string>(), call: new Set<string>() }
  const isTaken: IsTaken = (kind, id) => session.used[kind].has(id) || foreign[kind].has(id)
  for (;;) {
    const { id: threadId, offset, replyTo } = session
    const read = readBatch({ ...source, threadId, offset, replyTo, isTaken })
    const owners = await findTurnOwners(store, writer, read.units)
    const elsewhere = [...owners].filter(([, owner]) => owner !== threadId).map(([id]) => id)
    for (const id of elsewhere) foreign.message.add(id)
    // Only with its right id can a turn be known again, and its calls not be taken for another's.
    if (elsewhere.length > 0) continue
    const stored = session.isNew ? new Set<MessageId>() : await findStored(store, session, read)
    const units = read.units.filter(({ id }) => !stored.has(id))
    const clashing = session.isNew ? [] : await findClashes(store, session, units)
    for (const id of clashing) foreign.call.add(id)
    if (clashing.length > 0) continue
    remember(session, source, read.units)
    return { ...read, units, known: read.units.length - units.length }
  }
}

/** Turns have ids that are unique everywhere. */
async function findTurnOwners(
  store: Store,
  writer: ImportWriter,
  units: readonly Unit[],
): Promise<ReadonlyMap<MessageId, ThreadId>> {
  const ids = units.filter(({ isTurn }) => isTurn).map(({ id }) => id)
  const owners = new Map<MessageId, ThreadId>()
  for (const id of ids) {
    const threadId = writer.threadOf(id)
    if (threadId !== undefined) owners.set(id, threadId)
  }
  if (store.audit !== undefined) {
    for (const { turnId, threadId } of await store.audit.findTurns(ids))
      owners.set(turnId, threadId)
    return owners
  }
  for (const id of ids) {
    const found = await store.findTurn(id)
    if (found !== null) owners.set(id, found.threadId)
  }
  return owners
}

async function findStored(
  store: Store,
  { id: threadId }: ThreadSession,
  { units }: ReadBatch,
): Promise<ReadonlySet<MessageId>> {
  const stored = new Set<MessageId>()
  await inParallel(units, async ({ id }) => {
    if ((await store.readMessage(threadId, id)) !== null) stored.add(id)
  })
  return stored
}

/** Calls that another turn of the thread has. */
async function findClashes(
  store: Store,
  { id: threadId }: ThreadSession,
  units: readonly Unit[],
): Promise<readonly string[]> {
  const clashes: string[] = []
  await inParallel([...callsOf(units)], async (callId) => {
    if ((await store.readCall(threadId, callId)) !== null) clashes.push(callId)
  })
  return clashes
}

function* callsOf(units: readonly Unit[]) {
  for (const { events } of units) {
    for (const event of events) {
      if (event.type === 'call-recorded' || event.type === 'call-announced') yield event.callId
    }
  }
}

function remember(session: ThreadSession, source: BatchSource, units: readonly Unit[]): void {
  session.offset += source.messages.length
  for (const { id } of units) session.used.message.add(id)
  for (const id of callsOf(units)) session.used.call.add(id)
  for (const { events } of units) {
    const [first] = events
    if (first?.type === 'message-added' && first.role === 'user') session.replyTo = first.messageId
  }
}

const atOnce = 8

async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]()
  const worker = async () => {
    for (const item of iterator) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
