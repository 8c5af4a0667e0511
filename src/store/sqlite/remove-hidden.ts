import type { Seq } from '../../core/ids.ts'
import type { ShareId } from '../../core/share.ts'
import { drawMark } from '../place-evidence.ts'
import type { AsyncConnection } from './connection.ts'
import type { LedgerStatements, ThreadKey } from './ledger-statements.ts'
import { deleteSomeTexts, deleteTextState } from './search-index.ts'

/** About how long the statements of one transaction of a removal may take; its commit takes as long again. */
const sliceMs = 5

/**
 * A long thread is deleted in slices (OP7). The first transaction gives it to `deletedOwner`, and from then
 * on it is deleted for everyone: no id, list, turn or search leads to it. The following transactions delete
 * its rows. Its own row is deleted last: without it a new thread could get its number, and with that its
 * messages; and the row shows the next process what is left to do if this one dies.
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
  statements.deleteInputs.run(thread)
  return messages
}

/**
 * Removes the rows of hidden threads, and of hidden links, whose copies of a thread are as long as it is. Two processes
 * that do it at the same time do no harm.
 */
export async function removeHidden(
  connection: Pick<AsyncConnection, 'read' | 'write'>,
): Promise<void> {
  for (;;) {
    const found = await connection.read(
      ({ shares, findHidden }) => shares.findHiddenShare.get() ?? findHidden.get(),
    )
    if (found === undefined) return
    const removeSlice = (statements: LedgerStatements) =>
      'id' in found ? removeOfShare(statements, found.id) : removeOfThread(statements, found.thread)
    while (!(await connection.write(removeSlice)));
  }
}

/**
 * Deletes the content of a thread from a seq on: each deletes some rows, and returns how many. Calls first, by the turns
 * that the messages are.
 */
export const deletionsFrom = (
  { deleteSomeMessages, deleteSomeEvents, deleteSomeCalls }: LedgerStatements,
  thread: ThreadKey,
  from: Seq,
): readonly (() => number)[] =>
  [deleteSomeCalls, deleteSomeEvents, deleteSomeMessages].map(
    (statement) => () => Number(statement.run({ thread, from }).changes),
  )

/** False: there are more rows. */
function removeOfThread(statements: LedgerStatements, thread: ThreadKey): boolean {
  const { search } = statements
  const deletions = [() => deleteSomeTexts(search, thread), ...deletionsFrom(statements, thread, 0)]
  if (!deleteSlice(deletions)) return false
  deleteTextState(search, thread)
  statements.deleteHidden.run(thread)
  return true
}

/** The same. */
function removeOfShare({ shares }: LedgerStatements, id: ShareId): boolean {
  if (!deleteSlice([() => Number(shares.deleteSomeShareTexts.run({ id }).changes)])) return false
  shares.deleteHiddenShare.run(id)
  return true
}

function deleteSlice(deletions: readonly (() => number)[]): boolean {
  const until = performance.now() + sliceMs
  for (const deleteSome of deletions) {
    while (deleteSome() > 0) if (performance.now() >= until) return false
  }
  return true
}
