import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { CallLifecycle } from '../../core/lifecycle.ts'
import type { TurnStatus, UserMessage } from '../../core/message.ts'
import type { StoredOutput } from '../stored-output.ts'

/** The rule of `isHeld` in SQL: whether the lease in a row of `threads` binds, by the database's clock. */
export const leaseHeld = 'coalesce(lease_until > clock_timestamp(), false)'

/**
 * One statement reads rows of several tables, so that each verb is one round trip and one snapshot. The rows
 * come in one list, distinguished by `kind`; a column that a kind does not have is null.
 */
export type LedgerRow = ThreadColumns | MessageColumns | BatchColumns | CallColumns

interface ThreadColumns {
  readonly kind: 'thread'
  readonly threadId: ThreadId
  readonly ownerId: OwnerId
  readonly seq: Seq
  readonly incarnation: string
  readonly mark: string
  /** The waiting inputs, as JSON text. */
  readonly content: string
  /** The running turn, where the query asks for it. */
  readonly messageId: MessageId | null
  /** See `ThreadRow`. */
  readonly newest: MessageId | null
  readonly edge: MessageId | null
}

interface MessageColumns {
  readonly kind: 'message'
  readonly messageId: MessageId
  readonly role: UserMessage['role'] | 'assistant'
  readonly state: TurnStatus | null
  readonly seq: Seq
  readonly bodySeq: Seq | null
  readonly commitSeq: Seq
  readonly mark: string
  readonly at: number
  readonly content: string | null
  /** JSON text. */
  readonly versions: string | null
  /** False: only its seq was read, because the rows before it reached the limit of bytes. */
  readonly isRead: boolean
}

/** A batch of events. */
export interface BatchColumns {
  readonly kind: 'event'
  readonly messageId: MessageId | null
  readonly seq: Seq
  readonly size: number
  readonly commitSeq: Seq
  readonly mark: string
  readonly at: number
  /** The lines of its events. */
  readonly content: string
  readonly isRead: boolean
}

interface CallColumns extends StoredOutput {
  readonly kind: 'call'
  readonly messageId: MessageId
  readonly callId: CallId
  readonly seq: Seq
  readonly name: string
  readonly state: CallLifecycle
  /** The input. */
  readonly content: string | null
}

/** See `PlaceEvidence`. */
export interface PlaceColumns {
  readonly incarnation: string
  readonly threadSeq: Seq
  readonly mark: string | null
  readonly newestId: MessageId | null
  readonly newestBodySeq: Seq | null
}

/**
 * A message on one of the two paths, which `part` names. The row with `thread` has the thread's seq, and its incarnation in
 * place of an id.
 */
export interface PathColumns {
  readonly part: 'thread' | 'wanted' | 'fork' | 'hide' | 'show'
  readonly ownerId: OwnerId | null
  readonly seq: Seq
  readonly id: MessageId | null
  readonly role: UserMessage['role'] | 'assistant' | null
}

/** The result of one call. */
export interface OutputColumns {
  readonly callId: CallId
  readonly output: string | null
  readonly modelOutput: string | null
}

const types = {
  threadId: 'text',
  ownerId: 'text',
  messageId: 'text',
  callId: 'text',
  role: 'text',
  name: 'text',
  state: 'text',
  seq: 'bigint',
  size: 'integer',
  bodySeq: 'bigint',
  commitSeq: 'bigint',
  at: 'bigint',
  content: 'text',
  output: 'text',
  outputBytes: 'integer',
  modelOutput: 'text',
  isRead: 'boolean',
  incarnation: 'text',
  mark: 'text',
  newest: 'text',
  edge: 'text',
  versions: 'text',
} as const

/** The select list of one kind of row, the same columns in the same order for each. */
export function selectRows(
  kind: LedgerRow['kind'],
  columns: Partial<Record<keyof typeof types, string>>,
): string {
  const list = Object.entries(types).map(
    ([name, type]) => `${columns[name as keyof typeof types] ?? `NULL::${type}`} AS "${name}"`,
  )
  return `SELECT '${kind}' AS kind, ${list.join(', ')}`
}
