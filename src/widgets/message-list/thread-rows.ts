import type { PendingMessage, ThreadSnapshot } from '../../client/thread-snapshot.ts'
import { callsOf, isTurn, type Message } from '../../core/message.ts'
import { versionsOf } from '../../core/versions.ts'
import { versionKeyOf } from '../message/lasting-effects.ts'

export type ListRow =
  | { readonly kind: 'message'; readonly key: string; readonly message: Message }
  | { readonly kind: 'pending'; readonly key: string; readonly pending: PendingMessage }

/**
 * The stored messages, then the pending ones. A message keeps its key when it is stored, and when another version is
 * shown.
 */
export function toThreadRows({
  messages,
  pending,
}: Pick<ThreadSnapshot, 'messages' | 'pending'>): readonly ListRow[] {
  return [
    ...messages
      .filter(({ role }) => role !== 'system')
      .map((message) => ({ kind: 'message', key: versionKeyOf(message), message }) as const),
    ...pending.map((each) => ({ kind: 'pending', key: each.id, pending: each }) as const),
  ]
}

/** The row of the message that a deep link names, by its own id or by that of one of its calls. */
export const findRow = (rows: readonly ListRow[], target: string): number =>
  rows.findIndex(
    (row) =>
      (row.kind === 'pending' && row.key === target) ||
      (row.kind === 'message' && isTarget(row.message, target)),
  )

/** Whether a deep link names this message: by its own id, by that of its version, or of one of its calls. */
export const isTarget = (message: Message, target: string): boolean =>
  message.id === target ||
  versionsOf(message)?.shown === target ||
  (isTurn(message) && [...callsOf(message)].some(({ id }) => id === target))

/** The last row that is stored or being sent. A message that failed to send does not count. */
export const lastSentRow = (rows: readonly ListRow[]): number =>
  rows.findLastIndex((row) => row.kind === 'message' || row.pending.state === 'sending')
