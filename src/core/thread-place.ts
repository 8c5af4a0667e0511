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
