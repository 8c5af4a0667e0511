import { foldTurn } from '../../core/fold-turn.ts'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import { toTurnBody } from '../turn-body.ts'
import type { LedgerRow, LedgerStatements } from './ledger-statements.ts'
import { groupRows, readSealed, readTurnEvents } from './read-rows.ts'
import type { RunStatement } from './statement.ts'

/** Replaces the facts of ended turns by their fold. Outputs stay in their rows and are not read. */
export async function sealTurns(
  run: RunStatement,
  statements: LedgerStatements,
  threadId: ThreadId,
  turns: readonly MessageId[],
): Promise<void> {
  for (const turnId of turns) {
    const rows = groupRows(await run<LedgerRow>(statements.readMessage, [-1, threadId, turnId]))
    const [row] = rows.messages
    const events = rows.eventsOf(turnId)
    const last = events.at(-1)
    if (row === undefined || last === undefined) continue
    const turn = foldTurn(readSealed(row, rows), readTurnEvents(events, rows))
    const body = toTurnBody(turn)
    await run(statements.sealTurn, [threadId, turnId, body, turn.lastSeq, last.commitSeq])
  }
}
