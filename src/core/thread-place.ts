import type { Seq } from './ids.ts'

/**
 * A place in the history of a thread (OP6). The seq alone is not enough: a thread that was deleted and
 * made anew, a backup that was restored, a standby that had not got everything, all count on from a
 * number that another history has had before. An empty text: not known, so nothing is compared.
 */
export interface ThreadPlace {
  readonly seq: Seq
  /** Drawn when the thread was made. */
  readonly incarnation: string
  /** Drawn for the commit that the seq belongs to. */
  readonly mark: string
  /** A fingerprint of the id of the message or turn that this commit was about. */
  readonly subject: string
}
