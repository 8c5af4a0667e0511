import { setTimeout } from 'node:timers/promises'
import type { CallState } from '../core/call.ts'
import type { NewEvent } from '../core/event.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { MessageId, Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import type { LegacyFormat } from '../import/detect-format.ts'
import { noCall, type OldThread } from '../import/entity-turns.ts'
import {
  createIdKeeper,
  createMessageNamer,
  isUser,
  type NamedMessage,
  toUnits,
  type Unit,
} from '../import/import-units.ts'
import { type MergedMessage, mergeThread } from '../import/merge-thread.ts'
import { callsIn } from '../import/merge-turn.ts'
import { createReport, type Report } from '../import/old-message.ts'
import { readOldMessages } from '../import/read-legacy-messages.ts'
import { isImported, toOldMessage } from '../import/stored-message.ts'
import { mapInSteps, type PausableWork } from '../import/pausable-work.ts'
import { attemptWhileStale } from '../store/retry-while-stale.ts'
import type { Store } from '../store/store.ts'
import type { ReportWriter } from './import-report.ts'
import { cutUnits, type ImportWriter } from './import-writer.ts'
import { type Pacer, runPaced } from './pacer.ts'
import type { PlacedValue, ThreadIntake } from './thread-intake.ts'
import type { ThreadSession } from './thread-session.ts'

export interface ThreadWrite {
  readonly pace: Pacer
  readonly store: Store
  readonly writer: ImportWriter
  readonly report: ReportWriter
  readonly session: ThreadSession
  readonly intake: ThreadIntake
  readonly messages: readonly PlacedValue[]
  readonly format: LegacyFormat | 'auto'
  /** The date of what has none. */
  readonly at: number
  /** A message of a person comes next. */
  readonly isFollowed: boolean
}

/** Writes messages of a thread that this import made, after those that it has written. */
export async function appendMessages(write: ThreadWrite): Promise<void> {
  const { session, report, writer, intake, at, isFollowed, pace } = write
  const said = createPlacedReport(write)
  const read = await runPaced(readList(write, said), pace)
  if (session.hasWritten && read.orphans.length > 0) return mergeMessages(write)
  for (const { index } of read.orphans) said.fail(index, noCall)
  await findForeign(write, read, session.foreign)
  const mendAt = (index: number) => (what: string) => said.mend(index, what)
  const { ids, replyTo, namer } = session
  const name = mapInSteps(read.messages, (message) => namer.name(message, mendAt(message.index)))
  const named = await runPaced(name, pace)
  const units = await runPaced(toUnits(named, { at, ids, replyTo, isFollowed, mendAt }), pace)
  session.replyTo = lastQuestion(named) ?? session.replyTo
  session.hasWritten = true
  report.count({ messages: units.length })
  for (const { states } of units) report.countCalls(states)
  passOn(said, report)
  await writer.add({ threadId: session.id, where: intake.where, units })
}

/** A merge reads the whole thread. */
const mostMerges = 3

/** Brings messages into a thread that has some already, from an import before or by its people. */
export async function mergeMessages(write: ThreadWrite): Promise<void> {
  const { session, report, writer, intake } = write
  await writer.flush()
  let said = createPlacedReport(write)
  const outcome = await attemptWhileStale(
    setTimeout,
    () => {
      said = createPlacedReport(write)
      return tryMerge(write, said)
    },
    mostMerges,
  )
  passOn(said, report)
  session.hasWritten = true
  const where = intake.where === '' ? 'thread' : intake.where
  if (outcome !== 'done') report.fail(where, isBusy)
}

export const isBusy = 'A turn of this thread is being produced. Import it when it is over.'

async function tryMerge(write: ThreadWrite, said: Report): Promise<'done' | 'stale' | 'leased'> {
  const { store, session, report, at, isFollowed, pace } = write
  const { id: threadId } = session
  const stored = await readAll(store, threadId, pace)
  const read = await runPaced(readList(write, said), pace)
  const foreign = new Set<string>()
  await findForeign(write, read, foreign)
  const ids = createIdKeeper(threadId, (kind, id) => kind === 'message' && foreign.has(id))
  const namer = createMessageNamer(ids)
  const mendAt = (index: number) => (what: string) =>
    index < 0 ? undefined : said.mend(index, what)
  const name = mapInSteps(read.messages, (message) => namer.name(message, mendAt(message.index)))
  const named = await runPaced(name, pace)
  const readBack = mapInSteps(stored.messages, (message) => ({
    id: message.id,
    message: toOldMessage(message),
    isImported: isImported(message),
  }))
  const kept = await runPaced(readBack, pace)
  for (const { message } of kept) {
    if (message.kind !== 'turn') continue
    for (const { ownId } of callsIn(message)) if (ownId !== undefined) ids.reserveCall(ownId)
  }
  const hidden = await findHidden(store, threadId, stored.messages, named)
  const shown = named.filter(({ id }) => !hidden.has(id))
  const { messages, known } = await runPaced(mergeThread(kept, shown, read, said), pace)
  const plan = planWrite(messages, kept, store.rewriteThread !== undefined)
  for (const index of plan.left) said.fail(index, goneOn)
  const untouched = messages.slice(0, plan.first)
  const written = plan.written
  const question = lastQuestion(plan.isRewrite ? untouched : messages.filter(isStored)) ?? null
  const place = { at, ids, isFollowed, mendAt, replyTo: question }
  const units = await runPaced(toUnits(written, place), pace)
  if (plan.isRewrite) {
    const outcome = await rewrite(write, stored, untouched.length, units)
    if (outcome !== 'rewritten') return outcome
  } else {
    await write.writer.add({ threadId, where: write.intake.where, units })
  }
  const added = written.filter(({ fate }) => fate === 'added').length
  report.count({
    messages: known + hidden.size + added,
    skipped: known + hidden.size,
    updated: plan.isRewrite ? written.filter(({ fate }) => fate === 'changed').length : 0,
  })
  const states = new Map(units.map((unit) => [unit.id, unit.states]))
  const before = new Map(kept.map(({ id, message }) => [id, message]))
  for (const { id, isRead } of messages) {
    const old = before.get(id)
    if (!isRead) continue
    report.countCalls(states.get(id) ?? (old === undefined ? [] : statesOf(old)))
  }
  return 'done'
}

const goneOn = 'Somebody has gone on in this thread since: it was left as it is.'

interface WritePlan {
  /** The first place in the merged thread that is not as it is stored. */
  readonly first: number
  readonly isRewrite: boolean
  readonly written: readonly MergedMessage[]
  /** The places in the list of what could not be stored. */
  readonly left: readonly number[]
}

/** What is new at the end is appended; anything else asks for a rewrite, if nobody has gone on since. */
function planWrite(
  messages: readonly MergedMessage[],
  stored: readonly { readonly id: MessageId; readonly isImported: boolean }[],
  canRewrite: boolean,
): WritePlan {
  const isNews = ({ fate }: MergedMessage) => fate === 'added' || fate === 'changed'
  const first = messages.findIndex(isNews)
  const lastStored = messages.findLastIndex(isStored)
  const left = messages.filter(({ fate }) => fate === 'left').map(({ index }) => index)
  if (first < 0) return { first: messages.length, isRewrite: false, written: [], left }
  const tail = messages.slice(lastStored + 1)
  if (first > lastStored) return { first, isRewrite: false, written: tail, left }
  const fixed = new Set(stored.filter((one) => !one.isImported).map(({ id }) => id))
  if (canRewrite && !messages.slice(first).some(({ id }) => fixed.has(id))) {
    return { first, isRewrite: true, written: messages.slice(first), left }
  }
  const blocked = messages.slice(first, lastStored + 1).filter(isNews)
  const places = [...left, ...blocked.map(({ index }) => index)]
  return { first: lastStored + 1, isRewrite: false, written: tail, left: places }
}

const isStored = ({ fate }: MergedMessage): boolean => fate !== 'added'

async function rewrite(
  { store, session, at }: ThreadWrite,
  stored: StoredThread,
  place: number,
  units: readonly Unit[],
): Promise<'rewritten' | 'stale' | 'leased'> {
  const { id: threadId } = session
  const gone = stored.messages.slice(place)
  const from = gone[0]?.seq ?? stored.seq + 1
  const messageIds = new Set<MessageId>(gone.map(({ id }) => id))
  for (const id of await readRetired(store, threadId, from)) messageIds.add(id)
  const retired: NewEvent = { type: 'messages-retired', messageIds: [...messageIds], from, at }
  const appends = [...cutUnits(units)].map((part) => part.flatMap(({ events }) => events))
  const [first = [], ...others] = appends
  const rewritten = await store.rewriteThread?.({
    ...{ threadId, from, expectedSeq: stored.seq },
    appends: [[retired, ...first], ...others],
  })
  return rewritten ?? 'stale'
}

/** A reader who is further back than an older rewrite has to be told of what went with that one too. */
async function readRetired(
  store: Store,
  threadId: ThreadId,
  from: Seq,
): Promise<readonly MessageId[]> {
  const retired: MessageId[] = []
  for (let after = from - 1; ;) {
    const read = await store.readChanges({ threadId, after, limit: 1_000, results: 'lazy' })
    if (read === null) return retired
    for (const change of read.changes) {
      if (change.kind !== 'event' || change.event.type !== 'messages-retired') continue
      retired.push(...change.event.messageIds)
    }
    if (read.reached >= read.seq) return retired
    after = read.reached
  }
}

interface StoredThread {
  readonly seq: Seq
  /** Oldest first. */
  readonly messages: readonly Message[]
}

async function readAll(store: Store, threadId: ThreadId, pace: Pacer): Promise<StoredThread> {
  const messages: Message[] = []
  let before: Seq | null = null
  let seq: Seq = 0
  for (;;) {
    await pace()
    const query = { threadId, limit: 20, before, live: 'include', results: 'full' } as const
    const page = await store.readPage(query)
    if (page === null) throw new HoldfastError('thread-not-found', 'There is no such thread.')
    if (before === null) seq = page.seq
    for (const message of page.messages) messages.push(message)
    before = page.messages.at(-1)?.seq ?? null
    if (!page.hasMore || before === null) return { seq, messages: messages.toReversed() }
  }
}

/** Messages that are in the ledger and not shown: a person has taken them back. */
async function findHidden(
  store: Store,
  threadId: ThreadId,
  shown: readonly Message[],
  named: readonly NamedMessage[],
): Promise<ReadonlySet<MessageId>> {
  const known = new Set<string>(shown.map(({ id }) => id))
  const hidden = new Set<MessageId>()
  // What was imported and nobody has touched is never hidden.
  if (shown.every(isImported)) return hidden
  for (const { id } of named) {
    if (known.has(id)) continue
    if ((await store.readMessage(threadId, id)) !== null) hidden.add(id)
  }
  return hidden
}

/** Turns have ids that are unique everywhere. */
async function findForeign(
  { store, writer, session }: ThreadWrite,
  { messages }: OldThread,
  foreign: Set<string>,
): Promise<void> {
  const ids = messages.flatMap(({ message }) =>
    message.kind === 'turn' && message.id !== undefined ? [message.id as MessageId] : [],
  )
  const others = ids.filter((id) => {
    const threadId = writer.threadOf(id)
    return threadId !== undefined && threadId !== session.id
  })
  for (const id of others) foreign.add(id)
  if (store.audit !== undefined) {
    for (const { turnId, threadId } of await store.audit.findTurns(ids)) {
      if (threadId !== session.id) foreign.add(turnId)
    }
    return
  }
  for (const id of ids) {
    const found = await store.findTurn(id)
    if (found !== null && found.threadId !== session.id) foreign.add(id)
  }
}

function readList(
  { messages, format, at, intake }: ThreadWrite,
  said: Report,
): PausableWork<OldThread> {
  const values = messages.map(({ value }) => value)
  const hasPages = messages.some(({ page }) => page !== undefined)
  const pages = hasPages ? messages.map(({ page = 0 }) => page) : undefined
  const isOrdered = intake.fields.isOrdered === true
  const options = { format, at, isOrdered, ...(pages === undefined ? {} : { pages }) }
  return readOldMessages(values, options, said)
}

const createPlacedReport = ({ messages }: ThreadWrite): Report =>
  createReport((index) => messages[index]?.where ?? '')

function passOn({ guessed, mended, failed }: Report, report: ReportWriter): void {
  for (const { where, what } of guessed) report.guess(where, what)
  for (const { where, what } of mended) report.mend(where, what)
  for (const { where, why } of failed) report.fail(where, why)
}

const lastQuestion = (messages: readonly NamedMessage[]): MessageId | undefined =>
  messages.findLast(({ message }) => isUser(message))?.id

function statesOf(message: MergedMessage['message']): readonly CallState[] {
  if (message.kind !== 'turn') return []
  return callsIn(message).map(({ outcome }) =>
    typeof outcome === 'string' ? 'interrupted' : outcome.state,
  )
}
