import type { JsonObject } from '../core/json.ts'
/**
 * What a source of old threads says, one thing after another, so that no source has to fit into
 * memory. `key` names a thread inside the source; `where` is its place there, for the report.
 */
export type ImportItem =
  /** Once or several times for a thread: what comes later adds to what came before. */
  | {
      readonly kind: 'thread'
      readonly key: string
      readonly where: string
      readonly fields: ThreadFields
      /** False: its id may still come, after its messages. */
      readonly isComplete: boolean
    }
  | {
      readonly kind: 'message'
      readonly key: string
      readonly where: string
      readonly value: unknown
      /** Of messages that came in an envelope of pages: in which one. */
      readonly page?: number
    }
  /** Nothing more of it will come. */
  | { readonly kind: 'thread-ended'; readonly key: string }
  | { readonly kind: 'unreadable'; readonly where: string; readonly why: string }

export interface ThreadFields {
  readonly id?: string
  readonly title?: string
  readonly createdAt?: number
  readonly owner?: string
  /** What the host kept with it; taken only from a source that may say whose its threads are. */
  readonly metadata?: JsonObject
  /** What its owner did with it (FK2); taken where this import makes it. */
  readonly pinned?: true
  readonly archived?: true
  /** Its messages are oldest first, whatever their dates say. */
  readonly isOrdered?: true
  /** Whether an envelope of pages says that there is another page. */
  readonly hasMore?: boolean
}
