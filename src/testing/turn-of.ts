import type { TurnEventBody } from '../core/event.ts'
import type { Turn } from '../core/message.ts'
import { createLedgerWriter } from './ledger-writer.ts'
import { createRandom } from './random.ts'

/** The state of a turn after these facts, its start not counted. */
export function turnOf(...facts: readonly TurnEventBody[]): Turn {
  const writer = createLedgerWriter(createRandom(0), 'test')
  writer.startTurn(null)
  for (const fact of facts) writer.add(fact)
  return writer.turn()
}
