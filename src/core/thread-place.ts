import type { Seq } from './ids.ts'

/**
 * A reader's place in the history of a thread (OP6). The seq alone is not enough: a thread that was deleted
 * and made again, a restored backup, or a standby that lagged behind all count on from a seq that another
 * history has used before. An empty string is unknown, and is not compared.
 */
export interface ThreadPlace {
  readonly seq: Seq
  /** Random, drawn when the thread was made. */
  readonly incarnation: string
  /** Random, drawn for the commit that the seq belongs to. */
  readonly mark: string
  /** A fingerprint of the id of the message or turn that this commit was about. */
  readonly subject: string
}

/** Whether two incarnations or two marks differ; an empty one is unknown and differs from none. */
export const isAnother = (known: string, stored: string): boolean =>
  known !== '' && stored !== '' && known !== stored

/** Where a thread stands, and which of those that have had its id it is. */
interface ThreadState {
  readonly seq: Seq
  readonly incarnation?: string | undefined
}

/**
 * Whether a thread that is read now is not the one that was known before under its id. A thread's seq never falls, so a
 * lower one is another thread's too: with a store that has no incarnations nothing else tells them apart.
 */
export const isOtherThread = (known: ThreadState, now: ThreadState): boolean =>
  now.seq < known.seq || isAnother(known.incarnation ?? '', now.incarnation ?? '')
