import { drawMark } from '../place-evidence.ts'
import type { AsyncConnection } from './connection.ts'
import type { LedgerStatements, ThreadKey } from './ledger-statements.ts'
import { deleteSomeTexts, deleteTextState } from './search-index.ts'

/** How long one transaction of a removal may take, about. */
const sliceMs = 8

/**
 * A long thread is deleted in slices (OP7). The first transaction makes it nobody's, which is the deletion for everybody: no
 * id leads to it, no list, turn or search has it. The rest of it goes transaction by transaction. Its row stays to the
 * last: without it a new thread could get its number, and with that its messages; and it says what a process that died in
 * between has left to do.
 */
export function hideThread(
  statements: LedgerStatements,
  thread: ThreadKey,
  counter: number,
): number {
  const messages = statements.countMessages.get(thread)?.count ?? 0
  statements.raiseCounter.run(counter)
  statements.deleteThread.run(thread)
  statements.insertHidden.run({ thread, id: `deleted ${thread} ${drawMark()}`, counter })
  statements.releaseFiles.run({ thread })
  statements.deleteFileUses.run(thread)
  return messages
}

/** Removes what is left of threads that are nobody's. Two that do it at once do each other no harm. */
export async function removeHidden(connection: AsyncConnection): Promise<void> {
  for (;;) {
    const found = await connection.read(({ findHidden }) => findHidden.get())
    if (found === undefined) return
    while (!(await connection.write((statements) => removeSlice(statements, found.thread))));
  }
}

/** False: there is more. */
function removeSlice(statements: LedgerStatements, thread: ThreadKey): boolean {
  const until = performance.now() + sliceMs
  const { deleteSomeMessages, deleteSomeEvents, deleteSomeCalls, search } = statements
  const some = [
    () => deleteSomeTexts(search, thread),
    () => Number(deleteSomeCalls.run(thread).changes),
    () => Number(deleteSomeEvents.run(thread, thread).changes),
    () => Number(deleteSomeMessages.run(thread, thread).changes),
  ]
  for (const deleteSome of some) {
    while (deleteSome() > 0) if (performance.now() >= until) return false
  }
  deleteTextState(search, thread)
  statements.deleteHidden.run(thread)
  return true
}
