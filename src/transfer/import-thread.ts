import { setTimeout } from 'node:timers/promises'
import type { CallState } from '../core/call.ts'
import type { NewEvent } from '../core/event.ts'
import { isMessageId, type MessageId, type Seq } from '../core/ids.ts'
import type { LegacyFormat } from '../import/old-shapes.ts'
import { noCall, type OldThread } from '../import/entity-turns.ts'
import {
  createIdKeeper,
  createMessageNamer,
  earliestOf,
  endOfMessage,
  endOfUnit,
  type IdKeeper,
  isUser,
  type NamedMessage,
  toUnits,
  type Unit,
  type UnitOptions,
} from '../import/import-units.ts'
import { type MergedMessage, mergeThread, type StoredMessage } from '../import/merge-thread.ts'
import { callsIn } from '../import/merge-turn.ts'
import {
  findStaying,
  type MergedVersions,
  mergeVersions,
  type StoredHidden,
  type StoredVersion,
} from '../import/merge-versions.ts'
import { hasTooManyParts } from '../import/message-width.ts'
import type { OldMessage, Report } from '../import/old-message.ts'
import { readOldMessages } from '../import/read-legacy-messages.ts'
import { isImported, toOldMessage } from '../import/turn-events.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'
import { type UnitPlace, type VersionRoot, writeTree } from '../import/version-tree.ts'
import { attemptWhileStale } from '../store/retry-while-stale.ts'
import type { Store } from '../store/store.ts'
import type { ReportWriter } from './import-report.ts'
import { withOwnFeedback } from './own-feedback.ts'
import { reportMissingFiles } from './own-files.ts'
import { nameHidden, readHiddenValues, readStoredHidden } from './import-versions.ts'
import { type ImportWriter, isBusy, isOpenPage } from './import-writer.ts'
import { copyReport, createPlacedReport, type PlacedValues } from './placed-report.ts'
import { type Pacer, runPaced } from '../store/pacer.ts'
import { findHidden, readAll, readRetired, type StoredThread } from './read-stored-thread.ts'
import type { ThreadIntake } from './thread-intake.ts'
import type { ThreadSession } from './thread-session.ts'

export interface ThreadWrite extends PlacedValues {
  readonly pace: Pacer
  readonly store: Store
  readonly writer: ImportWriter
  readonly report: ReportWriter
  readonly session: ThreadSession
  readonly intake: ThreadIntake
  readonly format: LegacyFormat | 'auto'
  /** The date of a first message without one. */
  readonly at: number
  /** Whether a message of a person comes next. */
  readonly isFollowed: boolean
  /** Whether the source may say what others than the thread's owner think of an answer. */
  readonly trustsAuthors: boolean
}

/** Appends messages to a thread that this import created, after those that it has written. */
export async function appendMessages(write: ThreadWrite): Promise<void> {
  const { session, report, writer, intake, at, isFollowed, pace } = write
  const placedReport = createPlacedReport(write)
  const read = await readList(write, placedReport)
  if (session.hasWritten && read.orphans.length > 0) return mergeMessages(write)
  for (const { index } of read.orphans) placedReport.fail(index, noCall)
  await findForeign(write, read.messages, session.foreign)
  await reportMissingFiles(write.store, session.ownerId, read.messages, placedReport, pace)
  const mendAt = (index: number) => (what: string) => placedReport.mend(index, what)
  const { ids, replyTo, endedAt: after, namer } = session
  const name = mapInSteps(read.messages, (message) => namer.name(message, mendAt(message.index)))
  const named = await runPaced(name, pace)
  const place = { at, after, ids, replyTo, isFollowed, mendAt }
  const units = await runPaced(toUnits(named, place), pace)
  const last = units.at(-1)
  session.replyTo = lastQuestion(named) ?? session.replyTo
  session.endedAt = last === undefined ? after : endOfUnit(last)
  session.hasWritten = true
  report.count({ messages: units.length })
  for (const { states } of units) report.countCalls(states)
  copyReport(placedReport, report)
  await writer.add({ threadId: session.id, where: intake.where, units })
}

/** How often a merge is tried: each attempt reads the whole thread. */
const mostMerges = 3

/** Merges messages into a thread that has some already, from an earlier import or from its users. */
export async function mergeMessages(write: ThreadWrite): Promise<void> {
  const { session, report, writer, intake } = write
  await writer.flushThread(session.id)
  let placedReport = createPlacedReport(write)
  const outcome = await attemptWhileStale(
    setTimeout,
    async () => {
      placedReport = createPlacedReport(write)
      const merged = await tryMerge(write, placedReport)
      if (typeof merged === 'string') return merged
      placedReport = createPlacedReport(write)
      for (const index of merged.blocked) placedReport.fail(index, merged.why)
      return (await tryMerge({ ...write, hidden: [] }, placedReport)) as MergeOutcome
    },
    mostMerges,
  )
  copyReport(placedReport, report)
  session.hasWritten = true
  const where = intake.where === '' ? 'thread' : intake.where
  if (outcome !== 'done') report.fail(where, isBusy)
}

type MergeOutcome = 'done' | 'stale' | 'leased'

/** Versions that cannot be brought here, by their places in the report. Nothing was written: all the rest still can. */
interface BlockedVersions {
  readonly blocked: readonly number[]
  readonly why: string
}

async function tryMerge(
  write: ThreadWrite,
  placedReport: Report,
): Promise<MergeOutcome | BlockedVersions> {
  const { store, session, report, at, isFollowed, pace } = write
  const { id: threadId } = session
  const stored = await readAll(store, threadId, pace)
  if (isOpenPage({ live: null, messages: stored.messages.slice(-1) })) return 'leased'
  const read = await readList(write, placedReport)
  const { hidden: values, messages: shownValues, format } = write
  const place = { format, at }
  const unnamed = keepFeedback(
    write,
    await readHiddenValues(values, shownValues.length, place, placedReport, pace),
    placedReport,
  )
  const foreign = new Set<string>()
  const all = [...read.messages, ...unnamed]
  await findForeign(write, all, foreign)
  await reportMissingFiles(store, session.ownerId, all, placedReport, pace)
  const ids = createIdKeeper(threadId, (kind, id) => kind === 'message' && foreign.has(id))
  const namer = createMessageNamer(ids)
  const mendAt = (index: number) => (what: string) =>
    index < 0 ? undefined : placedReport.mend(index, what)
  const name = mapInSteps(read.messages, (message) => namer.name(message, mendAt(message.index)))
  const named = await runPaced(name, pace)
  const readHidden = await runPaced(nameHidden(unnamed, ids, placedReport), pace)
  const readBack = mapInSteps(stored.messages, (message) => ({
    id: message.id,
    seq: message.seq,
    message: toOldMessage(message),
    isImported: isImported(message),
  }))
  const kept = await runPaced(readBack, pace)
  const hasVersions = stored.messages.some(({ versions }) => versions !== undefined)
  const canRewrite = store.rewriteThread !== undefined
  let hidden =
    hasVersions || readHidden.length > 0 ? await readStoredHidden(store, threadId, pace) : undefined
  await runPaced(reserveCalls(ids, [...kept, ...(hidden ?? [])]), pace)
  const source = canRewrite ? readHidden : []
  const staying = await runPaced(findStaying(kept, hidden ?? [], named, source), pace)
  const shownNow = kept.slice(0, staying.count)
  const gone = staying.gone ?? (await findHidden(store, threadId, stored.messages, named, pace))
  const shown = named.filter(({ id }) => !gone.has(id) || staying.back.has(id))
  const { messages, known } = await runPaced(mergeThread(shownNow, shown, read, placedReport), pace)
  let plan = planWrite(messages, shownNow, canRewrite)
  // What is not shown stands among what is taken out, and has to be written again with it.
  if (plan.isRewrite) hidden ??= await readStoredHidden(store, threadId, pace)
  const merging = { messages, shown: kept, staying, hidden: hidden ?? [], read: named, readHidden }
  const versions = await runPaced(mergeVersions(merging, placedReport), pace)
  const tree = canRewrite
    ? planTree(plan, versions, { messages, kept, hidden: hidden ?? [] })
    : null
  if (tree === null && readHidden.length > 0) {
    const why = canRewrite
      ? threadContinued
      : 'This store does not take versions that are not shown.'
    return { blocked: versions.added.map(({ index }) => index), why }
  }
  if (tree === null) plan = planWrite(messages, shownNow, false)
  for (const index of plan.left) placedReport.fail(index, threadContinued)
  const { added } = versions
  let units: readonly Unit[]
  if (tree === null || tree.from === Number.POSITIVE_INFINITY) {
    const question = lastQuestion(messages.filter(isStored)) ?? null
    const last = messages.findLast(isStored)?.message
    const after = last === undefined ? undefined : endOfMessage(last)
    const options = { at, after, ids, isFollowed, mendAt, replyTo: question }
    units = await runPaced(toUnits(plan.written, options), pace)
    const { incarnation } = stored
    await write.writer.add({ threadId, where: write.intake.where, units, incarnation })
  } else {
    const options = { ids, isFollowed, mendAt, at: earliestOf(messages, at), from: tree.from }
    const rewritten = await rewrite(write, stored, versions.root, options)
    if (typeof rewritten === 'string') return rewritten
    units = rewritten
  }
  const isAdded = ({ fate, id }: MergedMessage) => fate === 'added' && !staying.back.has(id)
  const skipped = known + gone.size + versions.known.length
  const isRewrite = tree !== null && tree.from !== Number.POSITIVE_INFINITY
  report.count({
    messages: skipped + plan.written.filter(isAdded).length + added.length,
    skipped,
    updated: isRewrite ? plan.written.filter(({ fate }) => fate === 'changed').length : 0,
  })
  const states = new Map(units.map((unit) => [unit.id, unit.states]))
  const before = new Map(kept.map(({ id, message }) => [id, message]))
  for (const { id, isRead } of messages) {
    const old = before.get(id)
    if (!isRead) continue
    report.countCalls(states.get(id) ?? (old === undefined ? [] : statesOf(old)))
  }
  for (const { id } of added) report.countCalls(states.get(id) ?? [])
  for (const { message } of versions.known) report.countCalls(statesOf(message))
  return 'done'
}

function* reserveCalls(ids: IdKeeper, stored: readonly StoredMessage[]): PausableWork<void> {
  for (const { message } of stored) {
    yield
    if (message.kind !== 'turn') continue
    for (const { ownId } of callsIn(message)) if (ownId !== undefined) ids.reserveCall(ownId)
  }
}

/** From where on the thread is written anew; Infinity: what is new stands behind it. Null: somebody has gone on from there. */
function planTree(
  { first, isRewrite }: WritePlan,
  versions: MergedVersions,
  stored: {
    readonly messages: readonly MergedMessage[]
    readonly kept: readonly StoredVersion[]
    readonly hidden: readonly StoredHidden[]
  },
): { readonly from: Seq } | null {
  const { messages, kept, hidden } = stored
  let { from } = versions
  if (isRewrite) {
    const rest = new Set(messages.slice(first).map(({ id }) => id))
    for (const { id, seq } of kept) if (rest.has(id)) from = Math.min(from, seq)
  }
  if (versions.added.length === 0 && from === Number.POSITIVE_INFINITY) return { from }
  // The events that hid them are taken out too, unless all of that was before.
  if (versions.added.length > 0 || hidden.some(({ hiddenSeq }) => hiddenSeq >= from)) {
    for (const { seq } of hidden) from = Math.min(from, seq)
  }
  const last = kept.at(-1)?.seq ?? 0
  if (from === Number.POSITIVE_INFINITY) from = last + 1
  const isFree = [...kept, ...hidden].every(({ seq, isImported: isFrom }) => seq < from || isFrom)
  return isFree ? { from } : null
}

const threadContinued = 'This thread was continued since: it was left unchanged.'

interface WritePlan {
  /** The first index in the merged thread that differs from what is stored. */
  readonly first: number
  readonly isRewrite: boolean
  readonly written: readonly MergedMessage[]
  /** The indexes in the list of messages that could not be stored. */
  readonly left: readonly number[]
}

/**
 * New messages at the end are appended; anything else needs a rewrite, which is possible only if the thread
 * has not been continued since the import.
 */
function planWrite(
  messages: readonly MergedMessage[],
  stored: readonly { readonly id: MessageId; readonly isImported: boolean }[],
  canRewrite: boolean,
): WritePlan {
  const isWritten = ({ fate }: MergedMessage) => fate === 'added' || fate === 'changed'
  const first = messages.findIndex(isWritten)
  const lastStored = messages.findLastIndex(isStored)
  const left = messages.filter(({ fate }) => fate === 'left').map(({ index }) => index)
  if (first < 0) return { first: messages.length, isRewrite: false, written: [], left }
  const rest = messages.slice(lastStored + 1)
  if (first > lastStored) return { first, isRewrite: false, written: rest, left }
  const fixed = new Set(stored.filter((one) => !one.isImported).map(({ id }) => id))
  if (canRewrite && !messages.slice(first).some(({ id }) => fixed.has(id))) {
    return { first, isRewrite: true, written: messages.slice(first), left }
  }
  const blocked = messages.slice(first, lastStored + 1).filter(isWritten)
  const places = [...left, ...blocked.map(({ index }) => index)]
  return { first: lastStored + 1, isRewrite: false, written: rest, left: places }
}

const isStored = ({ fate }: MergedMessage): boolean => fate !== 'added'

async function rewrite(
  { store, session, at, pace }: ThreadWrite,
  stored: StoredThread,
  root: VersionRoot,
  { from, ...options }: Omit<UnitOptions, 'replyTo'> & { readonly from: Seq },
): Promise<readonly Unit[] | 'stale' | 'leased'> {
  const { id: threadId } = session
  const gone = stored.messages.filter(({ seq }) => seq >= from)
  const messageIds = new Set<MessageId>(gone.map(({ id }) => id))
  for (const id of await readRetired(store, threadId, from, pace)) messageIds.add(id)
  const retired: NewEvent = { type: 'messages-retired', messageIds: [...messageIds], from, at }
  const toUnit = function* (item: NamedMessage, place: UnitPlace): PausableWork<Unit> {
    const isFollowed = options.isFollowed || place.isFollowed
    const [unit] = yield* toUnits([item], { ...options, ...place, isFollowed })
    return unit as Unit
  }
  const work = writeTree(root, { from, first: stored.seq + 2, at, toUnit })
  const { appends, units } = await runPaced(work, pace)
  const rewritten = await store.rewriteThread?.({
    ...{ threadId, from, expectedSeq: stored.seq, incarnation: stored.incarnation },
    appends: [[retired], ...appends],
  })
  return rewritten === 'rewritten' ? units : (rewritten ?? 'stale')
}

/** Ids in one statement. */
const mostSought = 1_000

/**
 * Finds turns of other threads with the same ids: ids of turns are globally unique. And inputs of this thread that wait:
 * each becomes a message with its id later (IN5).
 */
async function findForeign(
  { store, writer, session, pace }: ThreadWrite,
  messages: readonly { readonly message: OldMessage }[],
  foreign: Set<string>,
): Promise<void> {
  // What cannot be an id becomes another one, and a database may refuse to look for it.
  const ids = messages.flatMap(({ message }) =>
    message.kind === 'turn' && isMessageId(message.id) ? [message.id] : [],
  )
  const others = ids.filter((id) => {
    const threadId = writer.threadOf(id)
    return threadId !== undefined && threadId !== session.id
  })
  for (const id of others) foreign.add(id)
  await pace()
  const thread = session.isNew ? null : await store.readThread(session.id)
  for (const { id } of thread?.queue ?? []) foreign.add(id)
  if (store.audit !== undefined) {
    for (let at = 0; at < ids.length; at += mostSought) {
      await pace()
      for (const found of await store.audit.findTurns(ids.slice(at, at + mostSought))) {
        if (found.threadId !== session.id) foreign.add(found.turnId)
      }
    }
    return
  }
  for (const id of ids) {
    await pace()
    const found = await store.findTurn(id)
    if (found !== null && found.threadId !== session.id) foreign.add(id)
  }
}

async function readList(write: ThreadWrite, placedReport: Report): Promise<OldThread> {
  const { messages, format, at, intake, session, pace } = write
  const values = messages.map(({ value }) => value)
  const hasPages = messages.some(({ page }) => page !== undefined)
  const pages = hasPages ? messages.map(({ page = 0 }) => page) : undefined
  const isOrdered = intake.fields.isOrdered === true
  const from = session.endedAt ?? at
  const options = { format, at: from, isOrdered, ...(pages === undefined ? {} : { pages }) }
  const read = await runPaced(readOldMessages(values, options, placedReport), pace)
  const kept = read.messages.filter(
    ({ message, index }) => !hasTooManyParts(message, index, placedReport),
  )
  return { ...read, messages: keepFeedback(write, kept, placedReport) }
}

const keepFeedback = <Read extends { readonly index: number; readonly message: OldMessage }>(
  { session, trustsAuthors }: ThreadWrite,
  messages: readonly Read[],
  placedReport: Report,
): readonly Read[] =>
  trustsAuthors ? messages : withOwnFeedback(messages, session.ownerId, placedReport)

const lastQuestion = (messages: readonly NamedMessage[]): MessageId | undefined =>
  messages.findLast(({ message }) => isUser(message))?.id

function statesOf(message: MergedMessage['message']): readonly CallState[] {
  if (message.kind !== 'turn') return []
  return callsIn(message).map(({ outcome }) =>
    typeof outcome === 'string' ? 'interrupted' : outcome.state,
  )
}
