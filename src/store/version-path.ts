import type { MessageId, OwnerId, Seq } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import { type MessageVersion, parseVersionId } from '../core/versions.ts'
import { readStoredJson } from './stored-output.ts'

/** What has to be hidden and what shown, so that a message on a hidden path is shown (VR2). */
export interface VersionPath {
  readonly ownerId: OwnerId
  /** The thread's seq at this read. */
  readonly seq: Seq
  /** The message that was asked for. */
  readonly wanted: MessageVersion & Pick<PathRow, 'role'>
  /** The last message that both paths have; 0: they differ from the beginning. */
  readonly after: Seq
  /** What is shown behind it, in order. */
  readonly hide: readonly MessageVersion[]
  /** What is to be shown instead, in order; empty if the message is shown as it is. */
  readonly show: readonly MessageVersion[]
}

/** A message as far as paths are concerned. */
export interface PathRow extends MessageVersion {
  readonly role: Message['role']
  /** Null: it is shown. */
  readonly retiredSeq: Seq | null
  /** Of one that is hidden: the place of the message that it followed, 0 for none; null if it cannot be shown again. */
  readonly parentSeq: Seq | null
}

/** How the messages of a thread are looked up. */
export interface PathRows {
  at(seq: Seq): PathRow | undefined
  /** The one of this id that is shown, or else the one that was hidden last. */
  byId(id: MessageId): PathRow | undefined
  /** Of the hidden messages that followed this place, the one that was hidden last. */
  lastHidden(parent: Seq): PathRow | undefined
  /** In order of seq. */
  shownAfter(seq: Seq): readonly PathRow[]
}

/**
 * From the message that is wanted upwards to one that is shown, and downwards along what was hidden last: the
 * thread as it stood when it was left. A parent stands before its children, so the walk ends. Null: there is no
 * such message, or it was withdrawn.
 */
export function walkPath(
  rows: PathRows,
  target: string,
): Omit<VersionPath, 'ownerId' | 'seq'> | null {
  const found = findTarget(rows, target)
  if (found === undefined) return null
  const wanted = { ...toPlace(found), role: found.role }
  if (found.retiredSeq === null) return { wanted, after: found.seq, hide: [], show: [] }
  const show: PathRow[] = []
  let up: PathRow | undefined = found
  for (; up !== undefined && up.retiredSeq !== null; up = rows.at(up.parentSeq)) {
    // Withdrawn, or a damaged row: a parent stands before its child.
    if (up.parentSeq === null || up.parentSeq >= up.seq) return null
    show.unshift(up)
    if (up.parentSeq === 0) break
  }
  // Its parent is not there.
  if (up === undefined) return null
  const after = up.retiredSeq === null ? up.seq : 0
  for (let row = rows.lastHidden(wanted.seq); row !== undefined; row = rows.lastHidden(row.seq)) {
    if (row.seq <= (show.at(-1)?.seq ?? 0)) break
    show.push(row)
  }
  return { wanted, after, hide: rows.shownAfter(after).map(toPlace), show: show.map(toPlace) }
}

function findTarget(rows: PathRows, target: string): PathRow | undefined {
  for (const { id, seq } of parseVersionId(target)) {
    const row = seq === null ? rows.byId(id) : rows.at(seq)
    if (row?.id === id) return row
  }
  return undefined
}

const toPlace = ({ id, seq }: PathRow): MessageVersion => ({ id, seq })

/** `PathRows` of all messages of a thread, in order of seq. */
export function createPathRows(messages: readonly PathRow[]): PathRows {
  const latest = (rows: readonly PathRow[]): PathRow | undefined =>
    rows.toSorted(
      (left, right) =>
        (right.retiredSeq ?? Number.POSITIVE_INFINITY) -
          (left.retiredSeq ?? Number.POSITIVE_INFINITY) || right.seq - left.seq,
    )[0]
  return {
    at: (seq) => messages.find((row) => row.seq === seq),
    byId: (id) =>
      messages.find((row) => row.id === id && row.retiredSeq === null) ??
      latest(messages.filter((row) => row.id === id)),
    lastHidden: (parent) =>
      latest(messages.filter((row) => row.retiredSeq !== null && row.parentSeq === parent)),
    shownAfter: (seq) => messages.filter((row) => row.seq > seq && row.retiredSeq === null),
  }
}

/** The column as it is stored. */
export const toVersionsText = (versions: readonly MessageVersion[] | null): string | null =>
  versions === null ? null : JSON.stringify(versions.map(({ id, seq }) => ({ id, seq })))

/** What cannot be read counts as none: a message must not be hidden by its list of siblings (LG7). */
export function readVersionsText(text: string | null): readonly MessageVersion[] | null {
  const value = text === null ? undefined : readStoredJson(text)
  if (!Array.isArray(value)) return null
  const list = value as readonly Json[]
  return list.every(isVersion) ? list : null
}

const isVersion = (value: unknown): value is Json & MessageVersion =>
  isJsonObject(value) && typeof value.id === 'string' && Number.isSafeInteger(value.seq)
