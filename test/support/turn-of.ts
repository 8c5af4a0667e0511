import type { TurnEventBody } from '../../src/core/event.ts'
import type { Turn } from '../../src/core/message.ts'
import { createLedgerWriter } from '../../src/testing/random-ledger/ledger-writer.ts'
import { createRandom } from '../../src/testing/random.ts'

/** The state of a turn after these events, its start not counted. */
export function turnOf(...events: readonly TurnEventBody[]): Turn {
  const writer = createLedgerWriter(createRandom(0), 'test')
  writer.startTurn(null)
  for (const event of events) writer.add(event)
  return writer.turn()
}
