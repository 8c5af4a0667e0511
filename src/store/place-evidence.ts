import { fingerprint } from '../core/fingerprint.ts'
import type { MessageId, OwnerId, Seq } from '../core/ids.ts'
import { isAnother, type ThreadPlace } from '../core/thread-place.ts'
import type { PlannedCommit } from './plan-commit.ts'

/** What a store finds at a seq of a thread: the evidence for or against a reader's place. */
export interface PlaceEvidence {
  readonly incarnation: string
  /** The thread's owner at this read. Of a store that leaves it out, the thread is read too. */
  readonly ownerId?: OwnerId
  /** The thread's seq at this read. */
  readonly threadSeq: Seq
  /** The mark of the commit that the seq belongs to; null if no row of that commit is left. */
  readonly mark: string | null
  /** The newest message or turn that begins at this seq or before it. */
  readonly newest: { readonly id: MessageId; readonly bodySeq: Seq | null } | null
}

/**
 * Whether a reader's place belongs to another history than the stored one (OP6).
 *
 * The commits of an ended turn are deleted, and its snapshot replaces them. A place among them counts as one of
 * this history if the newest message there is the turn that the place was in: the whole turn is then sent again,
 * so a reader keeps nothing of another history's turn.
 */
export function isOtherHistory(place: ThreadPlace, evidence: PlaceEvidence): boolean {
  if (isAnother(place.incarnation, evidence.incarnation)) return true
  if (place.seq > evidence.threadSeq) return true
  if (place.seq === 0) return false
  if (evidence.mark !== null) return isAnother(place.mark, evidence.mark)
  // Of an event about no message or turn, such as a new title: no snapshot deletes its row, so in its own history its mark
  // is found. A rewrite of the thread does, and its readers read again as after any place that it removed.
  if (place.subject === '') return place.mark !== ''
  const { newest } = evidence
  if (newest === null || fingerprint(newest.id) !== place.subject) return true
  return newest.bodySeq === null || newest.bodySeq <= place.seq
}

/** 36^10 values: two commits of one thread practically never draw the same. */
const letters = 10

/** A random mark for a thread or a commit. */
export function drawMark(): string {
  let mark = ''
  while (mark.length < letters) mark += Math.random().toString(36).slice(2)
  return mark.slice(0, letters)
}

const marks = new WeakMap<PlannedCommit, string>()

/**
 * The mark of a commit: drawn once, so that every attempt to store it, over any connection, writes the same
 * one.
 */
export function markOf(commit: PlannedCommit): string {
  let mark = marks.get(commit)
  if (mark === undefined) {
    mark = drawMark()
    marks.set(commit, mark)
  }
  return mark
}
