import type { NumberedEvent } from '../core/event.ts'
import type { MessageId, Seq } from '../core/ids.ts'
import type { Message, Turn, TurnStatus, UserMessage } from '../core/message.ts'
import { type PausableWork, portionsOf } from '../core/pausable-work.ts'
import { addVersion, type MessageVersion, removeVersion } from '../core/versions.ts'
import { toSnapshot } from './turn-snapshot.ts'

/** The rows of `messages` that a commit writes. */
export interface PlannedMessages {
  readonly newMessages: readonly NewMessageRow[]
  readonly changedMessages: readonly ChangedMessageRow[]
  /** The seqs of messages that are shown again. Written after the changed ones, which may be the same or have the same ids. */
  readonly shownMessages: readonly Seq[]
}

/** A row of `messages` that is inserted. With a body it is a user's message or a snapshot of a turn. */
export interface NewMessageRow {
  readonly seq: Seq
  readonly id: MessageId
  readonly role: UserMessage['role'] | 'assistant'
  readonly status: TurnStatus | null
  readonly at: number
  readonly body: string | null
  readonly bodySeq: Seq | null
  readonly retiredSeq: Seq | null
  /** See `ChangedMessageRow`. */
  readonly parentSeq: Seq | null
  /** All versions of the message, including itself; null if it has no others. */
  readonly versions: readonly MessageVersion[] | null
}

/** A row of `messages` that exists and changes. Without `seq` it is found by its id, and only retired. */
export interface ChangedMessageRow {
  readonly id: MessageId
  readonly seq: Seq | null
  readonly status: TurnStatus | null
  readonly snapshot: { readonly body: string; readonly seq: Seq } | null
  readonly retiredSeq: Seq | null
  /**
   * With `retiredSeq`: the seq of the message that it followed (0: none), by which it can be shown again;
   * null: it is never shown again. A message that is shown needs none: it follows the shown one before it.
   */
  readonly parentSeq: Seq | null
  /** Null: unchanged. Empty: it has no others any more. */
  readonly versions: readonly MessageVersion[] | null
}

export const statusOf = (turn: Turn | undefined): TurnStatus | null => turn?.progress.status ?? null

/** An ended turn is stored as its snapshot; its events are deleted, or were never stored. */
export const isEnded = (turn: Turn | undefined): boolean => statusOf(turn) === 'ended'

/** The rows of `messages` that an append writes. It may hide a whole long thread: see `planInSteps`. */
export function* planMessages(
  known: ReadonlyMap<MessageId, Turn>,
  turns: ReadonlyMap<MessageId, Turn>,
  events: readonly NumberedEvent[],
  withdrawn: readonly Message[] = [],
): PausableWork<PlannedMessages> {
  const added: NewMessageRow[] = []
  const shown: Seq[] = []
  // Keyed by seq where it is known: an edit may keep the id, so two rows of one id can change in one commit.
  const changed = new Map<MessageId | Seq, ChangedMessageRow>()
  const change = (id: MessageId, knownSeq: Seq | null, more: Partial<ChangedMessageRow>) => {
    const seq = knownSeq ?? turns.get(id)?.seq ?? null
    const row = changed.get(seq ?? id) ?? { ...unchanged, id, seq }
    changed.set(seq ?? id, { ...row, ...more })
  }
  const addToVersions = (earlier: readonly MessageVersion[], own: MessageVersion) => {
    const versions = addVersion(earlier, own) ?? null
    for (const { id, seq } of earlier) change(id, seq, { versions })
    return versions
  }
  const removeFromVersions = ({ seq, versions = [] }: Message) => {
    const left = removeVersion(versions, seq)
    for (const version of versions) {
      change(version.id, version.seq, { versions: version.seq === seq ? [] : left })
    }
  }
  const toWithdraw = new Map(withdrawn.map((message) => [message.id, message]))
  for (const [id, turn] of turns) {
    const before = known.get(id)
    if (before === undefined) continue
    const status = statusOf(turn)
    const snapshot = isEnded(turn) ? { body: toSnapshot(turn), seq: turn.lastSeq } : null
    // A turn that had ended and is resumed is no longer complete in its snapshot.
    if (status === statusOf(before) && snapshot === null) continue
    change(id, turn.seq, { status, snapshot })
  }
  for (const event of events) {
    const { seq } = event
    switch (event.type) {
      case 'message-added': {
        const { messageId: id, role, at, parts, metadata, versionOf = [] } = event
        const body = JSON.stringify({ parts, metadata })
        const versions = addToVersions(versionOf, { id, seq })
        added.push({ ...newRow, seq, id, role, at, body, bodySeq: seq, versions })
        break
      }
      case 'turn-started':
      case 'turn-copied': {
        const { turnId: id, at } = event
        const versionOf = ('versionOf' in event ? event.versionOf : undefined) ?? []
        const turn = turns.get(id)
        const isWhole = turn !== undefined && isEnded(turn)
        added.push({
          ...newRow,
          seq,
          id,
          role: 'assistant',
          status: statusOf(turn),
          at,
          body: isWhole ? toSnapshot(turn) : null,
          bodySeq: isWhole ? turn.lastSeq : null,
          versions: addToVersions(versionOf, { id, seq }),
        })
        break
      }
      case 'messages-retired':
        // A rewrite has deleted these rows, so there is nothing to mark as retired.
        if (event.from !== undefined) break
        for (const portion of portionsOf([...event.messageIds.entries()])) {
          for (const [nth, id] of portion) {
            const { after, places } = event.kept ?? { after: null, places: [] }
            const parentSeq = nth === 0 ? after : (places[nth - 1] ?? null)
            const own = added.findLastIndex((row) => row.id === id && row.retiredSeq === null)
            if (own >= 0)
              added[own] = { ...(added[own] as NewMessageRow), retiredSeq: seq, parentSeq }
            else {
              const message = event.kept === undefined ? toWithdraw.get(id) : undefined
              if (message !== undefined) removeFromVersions(message)
              change(id, places[nth] ?? message?.seq ?? null, { retiredSeq: seq, parentSeq })
            }
          }
          yield
        }
        break
      case 'messages-shown':
        for (const place of event.places) shown.push(place)
        break
      default:
    }
  }
  return { newMessages: added, changedMessages: [...changed.values()], shownMessages: shown }
}

const unchanged = {
  status: null,
  snapshot: null,
  retiredSeq: null,
  parentSeq: null,
  versions: null,
} as const
const newRow = { status: null, retiredSeq: null, parentSeq: null } as const
