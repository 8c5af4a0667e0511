import { isTurnEvent, type NewTurnEvent, type TurnEvent } from '../core/event.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import type { MessageId } from '../core/ids.ts'
import type { Append } from './store.ts'
import { toTurnBody } from './turn-body.ts'

/** A turn that this append seals, and whose whole state is known without reading what is stored. */
export interface PlannedSeal {
  readonly body: string
  /** The place in the append of the turn's last fact. */
  readonly lastOffset: number
  /** It also begins here: none of its facts need ever be stored. */
  readonly isBorn: boolean
}

/**
 * Of the turns to seal, those that can be folded before the transaction: what begins and ends in this
 * append, as in an import, and what its writer has folded. The store reads and folds the others.
 */
export function planSeals(append: Append): ReadonlyMap<MessageId, PlannedSeal> {
  const planned = new Map<MessageId, PlannedSeal>()
  for (const id of append.seal ?? []) {
    const lastOffset = append.events.findLastIndex((event) => isOf(event, id))
    if (lastOffset < 0) continue
    const first = append.events.find((event) => isOf(event, id))
    const isBorn = first?.type === 'turn-started'
    if (isBorn) planned.set(id, { body: foldBorn(append, id), lastOffset, isBorn })
    else if (append.folded?.id === id && append.expectedSeq !== undefined) {
      planned.set(id, { body: toTurnBody(append.folded), lastOffset, isBorn })
    }
  }
  return planned
}

const isOf = (event: Append['events'][number], id: MessageId): event is NewTurnEvent =>
  isTurnEvent(event) && event.turnId === id

function foldBorn({ events }: Append, id: MessageId): string {
  const facts = events.flatMap((event, offset): readonly TurnEvent[] =>
    isOf(event, id) ? [{ ...event, seq: offset + 1 }] : [],
  )
  return toTurnBody(foldTurn(emptyTurn(id, 1, facts[0]?.at ?? 0), facts))
}
