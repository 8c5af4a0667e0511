import { foldTurn } from '../../core/fold-turn.ts'
import type { MessageId } from '../../core/ids.ts'
import { toTurnBody } from '../turn-body.ts'
import type { ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { readSealed, readTurnPacks } from './read-turn.ts'

/** Replaces the facts of an ended turn by their fold. Outputs stay in their rows and are not read. */
export function sealTurn(
  statements: LedgerStatements,
  thread: ThreadKey,
  messageId: MessageId,
): void {
  const row = statements.readMessage.get(thread, messageId)
  if (row === undefined || row.isSealed === 1) return
  const turn = row.seq
  const packs = statements.readTurnPacks.all({ thread, turn })
  const last = packs.at(-1)
  if (last === undefined) return
  const calls = statements.readCalls.all({ most: -1, thread, turn })
  const state = foldTurn(readSealed(row, calls), readTurnPacks(messageId, packs, calls))
  statements.sealTurn.run(toTurnBody(state), last.seq, last.commitSeq, thread, turn)
  statements.deleteTurnPacks.run({ thread, turn, last: last.seq })
}
