import { parseThreadId, type Seq, type ThreadId } from '../../core/ids.ts'
import { runToEnd } from '../../core/pausable-work.ts'
import { runSlice } from '../pacer.ts'
import { drawMark } from '../place-evidence.ts'
import type { PlannedCommit } from '../plan-commit.ts'
import type { AppendResult } from '../store.ts'
import {
  planWholeCommit,
  toWholeFault,
  type WholePortion,
  type WholeThread,
} from '../whole-thread.ts'
import type { AsyncConnection } from './connection.ts'
import { useFiles } from './file-records.ts'
import { stagedOwner } from './ledger-sql.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import type { LongWrite } from './long-writes.ts'
import type { ThreadKey } from './prepared-statement.ts'
import { deleteSomeWords, deleteTextState, type TextLeft } from './search-index.ts'
import { removeHiddenShares } from './share-records.ts'
import { writeCalls } from './write-commit.ts'

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
 * Removes the rows of hidden threads, and the links that went with them. Two processes that do it at the same time do no
 * harm.
 */
export async function removeHidden(
  connection: Pick<AsyncConnection, 'read' | 'write'>,
): Promise<void> {
  for (;;) {
    await removeHiddenShares(connection)
    const found = await connection.read(({ findHidden }) => findHidden.get())
    if (found === undefined) return
    await removeThread(connection, found.thread)
  }
}

async function removeThread(
  { write }: Pick<AsyncConnection, 'write'>,
  thread: ThreadKey,
): Promise<void> {
  let slice: ThreadSlice = { isOver: false, left: null }
  while (!slice.isOver) {
    // `left` changes only after the commit: a slice that is rolled back and repeated must delete the same words again.
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
  // The commit of a slice takes about as long again as its statements.
  const isOver = runSlice([deleteWords, ...deletionsFrom(statements, thread, 0)])
  if (isOver) {
    deleteTextState(search, thread)
    statements.deleteHidden.run(thread)
  }
  return { isOver, left }
}

/** No fork takes this long: the process that staged the thread is dead. */
const longestMs = 3_600_000

export interface StagingParts extends Pick<AsyncConnection, 'write'> {
  readonly writeInSteps: LongWrite
  readonly nextCounter: (statements: LedgerStatements) => number
  readonly commit: (commit: PlannedCommit) => Promise<AppendResult | undefined>
  readonly discard: (staged: ThreadId) => Promise<unknown>
}

/**
 * See `Store.createWhole`: the thread is written in many transactions under an owner whom no user is and an id that
 * nobody knows, and gets its own in the last one.
 */
export async function createStaged(
  parts: StagingParts,
  { threadId, create, portions }: WholeThread,
): Promise<'created' | 'exists'> {
  const staged = parseThreadId(`staged-${drawMark()}${drawMark()}`)
  try {
    let seq: Seq = 0
    const hidden = { ...create, ownerId: stagedOwner }
    await commitStaged(parts, planWholeCommit(staged, noEvents, seq, hidden))
    for await (const portion of portions) {
      if (portion.kind === 'calls') await addCalls(parts, staged, portion)
      else seq = await commitStaged(parts, planWholeCommit(staged, portion, seq))
    }
    if (await publish(parts, staged, threadId, create.ownerId)) return 'created'
  } catch (error) {
    await discardStaged(parts, staged)
    throw error
  }
  await discardStaged(parts, staged)
  return 'exists'
}

const noEvents = { kind: 'events', events: [] } as const

/** A staged thread that cannot be removed now is invisible, and is removed at a later start. */
const discardStaged = ({ discard }: StagingParts, staged: ThreadId): Promise<unknown> =>
  discard(staged).catch(() => undefined)

async function commitStaged({ commit }: StagingParts, planned: PlannedCommit): Promise<Seq> {
  const result = await commit(planned)
  if (result?.kind !== 'appended') throw toWholeFault(result ?? { kind: 'no-thread' })
  return result.seq
}

const addCalls = (
  { writeInSteps }: StagingParts,
  staged: ThreadId,
  { calls, files }: Extract<WholePortion, { readonly kind: 'calls' }>,
): Promise<void> =>
  writeInSteps(function* (statements) {
    const row = statements.readStaged.get(staged)
    if (row === undefined) throw toWholeFault({ kind: 'no-thread' })
    yield* writeCalls(statements, row.thread, calls)
    yield* useFiles(statements, row.thread, files)
  })

/** Gives the staged thread its id and owner, in one transaction. False: the id is in use. */
const publish = (
  { write, nextCounter }: StagingParts,
  staged: ThreadId,
  id: ThreadId,
  ownerId: WholeThread['create']['ownerId'],
): Promise<boolean> =>
  write((statements) => {
    const row = statements.readStaged.get(staged)
    if (row === undefined) throw toWholeFault({ kind: 'no-thread' })
    if (statements.readKey.get(id) !== undefined) return false
    const counter = nextCounter(statements)
    // A new row with the same key, because the id of a row never changes.
    statements.deleteThread.run(row.thread)
    statements.insertPublished.run({ ...row, id, ownerId, counter })
    // Only now is it known which of its files are its owner's.
    const uses = statements.readFileUses.all(row.thread).map((use) => use.id)
    statements.releaseFiles.run({ thread: row.thread })
    statements.deleteFileUses.run(row.thread)
    runToEnd(useFiles(statements, row.thread, uses))
    return true
  })

/** Hides the threads of processes that died before publishing them; they are then removed like deleted ones. */
export function hideLeftovers(
  statements: LedgerStatements,
  now: number,
  nextCounter: (statements: LedgerStatements) => number,
): void {
  for (;;) {
    const found = statements.findStaged.get(now - longestMs)
    if (found === undefined) return
    hideThread(statements, found.thread, nextCounter(statements))
  }
}
