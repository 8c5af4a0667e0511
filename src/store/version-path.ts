import type { MessageId, OwnerId, Seq } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import { type PausableWork, runToEnd } from '../core/pausable-work.ts'
import { type MessageVersion, parseVersionId } from '../core/versions.ts'
import { readStoredJson } from './stored-output.ts'

/** What has to be hidden and what shown, so that a message on a hidden path is shown (VR2). */
export interface VersionPath {
  readonly ownerId: OwnerId
  /** The thread's seq at this read. */
  readonly seq: Seq
  /** The incarnation of the thread (OP6). */
  readonly incarnation?: string
  /** The message that the query named. */
  readonly wanted: MessageVersion & Pick<PathRow, 'role'>
  /** The last message that both paths share; 0: they differ from the beginning. */
  readonly after: Seq
  /** The messages that are shown after it, in order. */
  readonly hide: readonly MessageVersion[]
  /** The messages to show in their place, in order; empty if the wanted message is shown already. */
  readonly show: readonly MessageVersion[]
}

/** The columns of a message that paths depend on. */
export interface PathRow extends MessageVersion {
  readonly role: Message['role']
  /** Null: the message is shown. */
  readonly retiredSeq: Seq | null
  /** Of a hidden message: the seq of the message that it followed, 0 for none; null if it cannot be shown again. */
  readonly parentSeq: Seq | null
}

/** Lookups over the messages of a thread. */
export interface PathRows {
  at(seq: Seq): PathRow | undefined
  /** The shown message with this id, or else the one that was hidden last. */
  byId(id: MessageId): PathRow | undefined
  /** Of the hidden messages that followed this seq, the one that was hidden last. */
  lastHidden(parent: Seq): PathRow | undefined
  /** In order of seq, the first `limit` of them; more are no fault. */
  shownAfter(seq: Seq, limit: number): readonly PathRow[]
}

/**
 * Walks up from the wanted message to one that is shown, and down along what was hidden last: the path as it
 * was when it was left. A parent comes before its children, so the walk ends. Null: there is no such message,
 * or it was withdrawn.
 */
export function walkPath(
  rows: PathRows,
  target: string,
): Omit<VersionPath, 'ownerId' | 'seq' | 'incarnation'> | null {
  return runToEnd(walkInSteps(rows, target))
}

const rowsAtOnce = 64

/** The same with pauses: either path may have thousands of messages (OP7). */
export function* walkInSteps(
  rows: PathRows,
  target: string,
): PausableWork<Omit<VersionPath, 'ownerId' | 'seq' | 'incarnation'> | null> {
  const found = findTarget(rows, target)
  if (found === undefined) return null
  const wanted = { ...toVersion(found), role: found.role }
  if (found.retiredSeq === null) return { wanted, after: found.seq, hide: [], show: [] }
  const above: PathRow[] = []
  let up: PathRow | undefined = found
  for (; up !== undefined && up.retiredSeq !== null; up = rows.at(up.parentSeq)) {
    // Withdrawn, or a damaged row whose parent is not before it.
    if (up.parentSeq === null || up.parentSeq >= up.seq) return null
    above.push(up)
    if (up.parentSeq === 0) break
    yield
  }
  // Its parent does not exist.
  if (up === undefined) return null
  const after = up.retiredSeq === null ? up.seq : 0
  const show = above.toReversed()
  for (let row = rows.lastHidden(wanted.seq); row !== undefined; row = rows.lastHidden(row.seq)) {
    if (row.seq <= (show.at(-1)?.seq ?? 0)) break
    show.push(row)
    yield
  }
  const hide: MessageVersion[] = []
  for (let last = after; ;) {
    const some = rows.shownAfter(last, rowsAtOnce)
    for (const row of some) hide.push(toVersion(row))
    if (some.length < rowsAtOnce) break
    last = hide.at(-1)?.seq ?? last
    yield
  }
  return { wanted, after, hide, show: show.map(toVersion) }
}

function findTarget(rows: PathRows, target: string): PathRow | undefined {
  for (const { id, seq } of parseVersionId(target)) {
    const row = seq === null ? rows.byId(id) : rows.at(seq)
    if (row?.id === id) return row
  }
  return undefined
}

const toVersion = ({ id, seq }: PathRow): MessageVersion => ({ id, seq })

/** `PathRows` of all messages of a thread, in order of seq. */
export function createPathRows(messages: readonly PathRow[]): PathRows {
  const bySeq = new Map(messages.map((row) => [row.seq, row]))
  const byId = new Map<MessageId, PathRow>()
  const lastHidden = new Map<Seq, PathRow>()
  // Each later one stands behind the earlier ones in `messages`, so of two that were hidden together it is the last.
  const isLater = (row: PathRow, than: PathRow | undefined) =>
    than === undefined ||
    (row.retiredSeq ?? Number.POSITIVE_INFINITY) >= (than.retiredSeq ?? Number.POSITIVE_INFINITY)
  for (const row of messages) {
    const { id, retiredSeq, parentSeq } = row
    if (isLater(row, byId.get(id))) byId.set(id, row)
    if (retiredSeq === null || parentSeq === null) continue
    if (isLater(row, lastHidden.get(parentSeq))) lastHidden.set(parentSeq, row)
  }
  return {
    at: (seq) => bySeq.get(seq),
    byId: (id) => byId.get(id),
    lastHidden: (parent) => lastHidden.get(parent),
    shownAfter: (seq) => messages.filter((row) => row.seq > seq && row.retiredSeq === null),
  }
}

/** The column as it is stored. */
export const toVersionsText = (versions: readonly MessageVersion[] | null): string | null =>
  versions === null ? null : JSON.stringify(versions.map(({ id, seq }) => ({ id, seq })))

/**
 * A text that cannot be parsed counts as no versions: a damaged list of siblings must not hide the message
 * (LG7).
 */
export function readVersionsText(text: string | null): readonly MessageVersion[] | null {
  const value = text === null ? undefined : readStoredJson(text)
  if (!Array.isArray(value)) return null
  const list = value as readonly Json[]
  return list.every(isVersion) ? list : null
}

const isVersion = (value: unknown): value is Json & MessageVersion =>
  isJsonObject(value) && typeof value.id === 'string' && Number.isSafeInteger(value.seq)
