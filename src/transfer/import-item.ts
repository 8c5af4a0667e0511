import type { JsonObject } from '../core/json.ts'
/**
 * The items of a source of old threads, one after another, so that no source has to fit into memory. `key`
 * identifies a thread within the source; `where` is its position there, for the report.
 */
export type ImportItem =
  /** Once or several times per thread: later fields add to earlier ones. */
  | {
      readonly kind: 'thread'
      readonly key: string
      readonly where: string
      readonly fields: ThreadFields
      /** False: its id may still follow, after its messages. */
      readonly isComplete: boolean
    }
  | {
      readonly kind: 'message'
      readonly key: string
      readonly where: string
      readonly value: unknown
      /** The page of a message that came in an envelope of pages. */
      readonly page?: number
      /** One that is kept and not shown (VR1). */
      readonly isHidden?: true
      /** One that waited for its turn (IN2). */
      readonly isQueued?: true
    }
  /** No more items of this thread follow. */
  | { readonly kind: 'thread-ended'; readonly key: string }
  | { readonly kind: 'unreadable'; readonly where: string; readonly why: string }

/** The fields of a thread in the source. */
export interface ThreadFields {
  readonly id?: string
  readonly title?: string
  readonly createdAt?: number
  readonly owner?: string
  /** The host's metadata; used only from a source that may set the owners of its threads. */
  readonly metadata?: JsonObject
  /** The owner's flags (FK2); used only if this import creates the thread. */
  readonly pinned?: true
  readonly archived?: true
  /** Its messages are oldest first, whatever their dates are. */
  readonly isOrdered?: true
  /** Whether an envelope of pages announces another page. */
  readonly hasMore?: boolean
}
