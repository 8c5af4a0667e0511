import { isTurnEvent, numberEvents } from '../../src/core/event.ts'
import { emptyTurn, foldTurn } from '../../src/core/fold-turn.ts'
import type { Turn } from '../../src/core/message.ts'
import { randomLedger } from '../../src/testing/random-ledger.ts'

/** Every state that each turn of a random ledger goes through. */
export function turnStates(seed: number): readonly (readonly Turn[])[] {
  const turns = new Map<string, Turn[]>()
  for (const event of numberEvents(randomLedger(seed, { turns: 2 }), 1)) {
    if (!isTurnEvent(event)) continue
    const states = turns.get(event.turnId) ?? []
    const before = states.at(-1) ?? emptyTurn(event.turnId, event.seq, event.at)
    states.push(foldTurn(before, [event]))
    turns.set(event.turnId, states)
  }
  return [...turns.values()]
}
