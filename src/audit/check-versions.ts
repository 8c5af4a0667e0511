import type { LedgerEvent } from '../core/event.ts'
import type { MessageId, Seq } from '../core/ids.ts'
import type { MessageVersion } from '../core/versions.ts'
import type { AuditMessage, RowChange } from '../store/audit.ts'
import { readVersionsText, toVersionsText } from '../store/version-path.ts'
import type { Problem } from './problem.ts'

/** What was found about the versions of one message, and the change that mends it. */
export interface VersionProblem extends Pick<Problem, 'kind' | 'what'> {
  readonly messageId: MessageId
  readonly seq: Seq
  readonly change: RowChange
}

interface Place extends Pick<AuditMessage, 'role' | 'isRetired' | 'parentSeq' | 'versions'> {
  readonly id: MessageId
  readonly list: readonly MessageVersion[]
}

/**
 * Finds versions that cannot be shown (VR1): hidden messages whose parent is not the one that their event says, or is not
 * there, and lists of siblings that differ from one another. It holds the places of a thread and none of its messages.
 */
export class VersionCheck {
  readonly #places = new Map<Seq, Place>()
  /** After which place the events say that a hidden message stood. */
  readonly #parents = new Map<Seq, Seq>()

  addMessage({ seq, messageId: id, role, isRetired, parentSeq, versions }: AuditMessage): void {
    const list = readVersionsText(versions) ?? []
    this.#places.set(seq, { id, role, isRetired, parentSeq, versions, list })
  }

  addEvent(event: LedgerEvent): void {
    if (event.type !== 'messages-retired' || event.kept === undefined) return
    const { kept } = event
    for (const [nth, place] of kept.places.entries()) {
      this.#parents.set(place, kept.places[nth - 1] ?? kept.after)
    }
  }

  find(): readonly VersionProblem[] {
    return [...this.#findParents(), ...this.#findVersions()]
  }

  *#findParents(): Generator<VersionProblem> {
    const newest = new Map<Place['role'], Seq>()
    for (const [seq, { id, role, isRetired, parentSeq }] of this.#places) {
      // Without a parent it was withdrawn, and is never shown again.
      if (isRetired && parentSeq !== null) {
        const told = this.#parents.get(seq)
        const isThere = (place: Seq) => place === 0 || (place < seq && this.#places.has(place))
        const others = [...newest].filter(([other]) => other !== role).map(([, place]) => place)
        const nearest = Math.max(0, ...others)
        const right = told !== undefined && isThere(told) ? told : nearest
        const isRight =
          told === undefined || !isThere(told) ? isThere(parentSeq) : parentSeq === told
        if (!isRight) {
          const what = `A hidden message is said to follow ${parentSeq}, and followed ${right}.`
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
      const versions = list.map((seq) => ({ id: this.#places.get(seq)?.id ?? '', seq }))
      const text = list.length < 2 ? null : toVersionsText(versions)
      for (const { id, seq } of versions) {
        const place = this.#places.get(seq)
        const has = place?.versions === null ? null : toVersionsText(place?.list ?? [])
        if (has === text) continue
        const what = `A message has ${list.length} versions, and its row names others.`
        const change = { kind: 'set-message', seq, versions: text } as const
        yield { kind: 'versions-differ', messageId: id, seq, what, change }
      }
    }
  }

  /** The places that their lists put together, each group once. What is not there is in none. */
  #siblings(): Iterable<ReadonlySet<Seq>> {
    const groups = new Map<Seq, Set<Seq>>()
    for (const [seq, { role, versions, list }] of this.#places) {
      if (versions === null) continue
      const isSibling = (other: MessageVersion) => {
        const place = this.#places.get(other.seq)
        return place?.id === other.id && place.role === role
      }
      const seqs = [seq, ...list.filter(isSibling).map((other) => other.seq)]
      const joined = new Set(seqs.flatMap((each) => [each, ...(groups.get(each) ?? [])]))
      for (const each of joined) groups.set(each, joined)
    }
    return new Set(groups.values())
  }
}
