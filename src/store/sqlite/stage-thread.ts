import { parseThreadId, type Seq, type ThreadId } from '../../core/ids.ts'
import { runToEnd } from '../../core/pausable-work.ts'
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
import { hideThread } from './remove-hidden.ts'
import { writeCalls } from './write-commit.ts'

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
