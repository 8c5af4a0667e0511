import type { LedgerEvent } from '../core/event.ts'
import type { MessageId, Seq } from '../core/ids.ts'
import type { MessageVersion } from '../core/versions.ts'
import type { AuditMessage, RowChange } from '../store/audit.ts'
import { readVersionsText, toVersionsText } from '../store/version-path.ts'
import type { Problem } from './problem.ts'

/** A problem with the versions of one message, and the change that repairs it. */
export interface VersionProblem extends Pick<Problem, 'kind' | 'what'> {
  readonly messageId: MessageId
  readonly seq: Seq
  readonly change: RowChange
}

interface VersionRow extends Pick<AuditMessage, 'role' | 'isRetired' | 'parentSeq' | 'versions'> {
  readonly id: MessageId
  readonly list: readonly MessageVersion[]
}

/**
 * Finds versions that cannot be shown (VR1): hidden messages whose parent is not the one in their event, or
 * does not exist, and lists of siblings that differ from one another. It keeps the seqs of a thread and none
 * of its messages.
 */
export class VersionCheck {
  readonly #rows = new Map<Seq, VersionRow>()
  /** The parent of each hidden message according to the events. */
  readonly #parents = new Map<Seq, Seq>()

  addMessage({ seq, messageId: id, role, isRetired, parentSeq, versions }: AuditMessage): void {
    const list = readVersionsText(versions) ?? []
    this.#rows.set(seq, { id, role, isRetired, parentSeq, versions, list })
  }

  addEvent(event: LedgerEvent): void {
    if (event.type !== 'messages-retired' || event.kept === undefined) return
    const { kept } = event
    for (const [nth, hidden] of kept.places.entries()) {
      this.#parents.set(hidden, kept.places[nth - 1] ?? kept.after)
    }
  }

  find(): readonly VersionProblem[] {
    return [...this.#findParents(), ...this.#findVersions()]
  }

  *#findParents(): Generator<VersionProblem> {
    const newest = new Map<VersionRow['role'], Seq>()
    for (const [seq, { id, role, isRetired, parentSeq }] of this.#rows) {
      // A hidden message without a parent was withdrawn, and is never shown again.
      if (isRetired && parentSeq !== null) {
        const recorded = this.#parents.get(seq)
        const exists = (parent: Seq) => parent === 0 || (parent < seq && this.#rows.has(parent))
        const others = [...newest].filter(([other]) => other !== role).map(([, seq]) => seq)
        const nearest = Math.max(0, ...others)
        const right = recorded !== undefined && exists(recorded) ? recorded : nearest
        const isRight =
          recorded === undefined || !exists(recorded) ? exists(parentSeq) : parentSeq === recorded
        if (!isRight) {
          const what = `The row of a hidden message names ${parentSeq} as its predecessor; its event names ${right}.`
          const change = { kind: 'set-message', seq, parentSeq: right } as const
          yield { kind: 'parent-differs', messageId: id, seq, what, change }
        }
      }
      newest.set(role, seq)
    }
  }

  *#findVersions(): Generator<VersionProblem> {
    for (const group of this.#siblings()) {
      const list = [...group].sort((left, right) => left - right)
      const versions = list.map((seq) => ({ id: this.#rows.get(seq)?.id ?? '', seq }))
      const text = list.length < 2 ? null : toVersionsText(versions)
      for (const { id, seq } of versions) {
        const row = this.#rows.get(seq)
        const has = row?.versions === null ? null : toVersionsText(row?.list ?? [])
        if (has === text) continue
        const what = `A message has ${list.length} versions, but its row lists others.`
        const change = { kind: 'set-message', seq, versions: text } as const
        yield { kind: 'versions-differ', messageId: id, seq, what, change }
      }
    }
  }

  /** Groups of seqs that their lists connect, each group once. A seq without a message is in none. */
  #siblings(): Iterable<ReadonlySet<Seq>> {
    const groups = new Map<Seq, Set<Seq>>()
    for (const [seq, { role, versions, list }] of this.#rows) {
      if (versions === null) continue
      const isSibling = (other: MessageVersion) => {
        const row = this.#rows.get(other.seq)
        return row?.id === other.id && row.role === role
      }
      const seqs = [seq, ...list.filter(isSibling).map((other) => other.seq)]
      const joined = new Set(seqs.flatMap((each) => [each, ...(groups.get(each) ?? [])]))
      for (const each of joined) groups.set(each, joined)
    }
    return new Set(groups.values())
  }
}
