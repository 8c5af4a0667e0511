import type { Seq } from '../../core/ids.ts'
import type { ShareId } from '../../core/share.ts'
import { sliceMs } from '../pacer.ts'
import { drawMark } from '../place-evidence.ts'
import type { AsyncConnection } from './connection.ts'
import type { LedgerStatements, ThreadKey } from './ledger-statements.ts'
import { deleteSomeWords, deleteTextState, type TextLeft } from './search-index.ts'

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
    if ('thread' in found) await removeThread(connection, found.thread)
    else while (!(await connection.write((statements) => removeOfShare(statements, found.id))));
  }
}

async function removeThread(
  { write }: Pick<AsyncConnection, 'write'>,
  thread: ThreadKey,
): Promise<void> {
  let slice: ThreadSlice = { isOver: false, left: null }
  while (!slice.isOver) {
    // Taken over after the commit: a slice that is rolled back and repeated must delete the same words again.
    const { left } = slice
    slice = await write((statements) => removeOfThread(statements, thread, left))
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

interface ThreadSlice {
  /** False: there are more rows. */
  readonly isOver: boolean
  /** The indexed text in whose words it ended. */
  readonly left: TextLeft | null
}

function removeOfThread(
  statements: LedgerStatements,
  thread: ThreadKey,
  begun: TextLeft | null,
): ThreadSlice {
  // Another process may have removed it since it was found, and a thread that was created since may have got its key.
  if (statements.isHidden.get(thread) === undefined) return { isOver: true, left: null }
  const { search } = statements
  let left = begun
  const deleteWords = (): number => {
    const step = deleteSomeWords(search, thread, left)
    left = step.left
    return step.rows
  }
  const isOver = deleteSlice([deleteWords, ...deletionsFrom(statements, thread, 0)])
  if (isOver) {
    deleteTextState(search, thread)
    statements.deleteHidden.run(thread)
  }
  return { isOver, left }
}

/** False: there are more rows. */
function removeOfShare({ shares }: LedgerStatements, id: ShareId): boolean {
  if (!deleteSlice([() => Number(shares.deleteSomeShareTexts.run({ id }).changes)])) return false
  shares.deleteHiddenShare.run(id)
  return true
}

/** The commit of a slice takes about as long again as its statements. */
function deleteSlice(deletions: readonly (() => number)[]): boolean {
  const until = performance.now() + sliceMs
  for (const deleteSome of deletions) {
    while (deleteSome() > 0) if (performance.now() >= until) return false
  }
  return true
}
