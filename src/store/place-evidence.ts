import { fingerprint } from '../core/fingerprint.ts'
import type { MessageId, Seq } from '../core/ids.ts'
import type { ThreadPlace } from '../core/thread-place.ts'
import type { PlannedCommit } from './plan-commit.ts'

/** What a store finds at a seq of a thread. */
export interface PlaceEvidence {
  readonly incarnation: string
  /** The thread's seq at this read. */
  readonly threadSeq: Seq
  /** The mark of the commit that the seq belongs to; null if no row is left that says it. */
  readonly mark: string | null
  /** The newest message or turn that begins at this seq or before it. */
  readonly newest: { readonly id: MessageId; readonly bodySeq: Seq | null } | null
}

/**
 * Whether a place belongs to another history than the one that is stored (OP6).
 *
 * The commits of a turn that has ended are gone, and its snapshot stands for them. A place among them is
 * taken for one of this history if the newest message there is the turn that it was in: the whole turn
 * is sent again then, so nothing that a reader has of another one can stay.
 */
export function isOtherHistory(place: ThreadPlace, found: PlaceEvidence): boolean {
  if (isAnother(place.incarnation, found.incarnation)) return true
  if (place.seq > found.threadSeq) return true
  if (place.seq === 0) return false
  if (found.mark !== null) return isAnother(place.mark, found.mark)
  if (place.subject === '') return false
  const { newest } = found
  if (newest === null || fingerprint(newest.id) !== place.subject) return true
  return newest.bodySeq === null || newest.bodySeq <= place.seq
}

const isAnother = (known: string, found: string): boolean =>
  known !== '' && found !== '' && known !== found

/** Of so many letters nobody draws the same twice in one thread. */
const letters = 10

/** A name that is drawn, for a thread or a commit. */
export function drawMark(): string {
  let mark = ''
  while (mark.length < letters) mark += Math.random().toString(36).slice(2)
  return mark.slice(0, letters)
}

const marks = new WeakMap<PlannedCommit, string>()

/** The mark of a commit: drawn once, however often it is tried, and by whichever connection. */
export function markOf(commit: PlannedCommit): string {
  let mark = marks.get(commit)
  if (mark === undefined) {
    mark = drawMark()
    marks.set(commit, mark)
  }
  return mark
}
