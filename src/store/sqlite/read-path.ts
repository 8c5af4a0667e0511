import type { ThreadId } from '../../core/ids.ts'
import { runSteps } from '../../core/pausable-work.ts'
import { type PathRows, type VersionPath, walkInSteps } from '../version-path.ts'
import type { AsyncConnection } from './connection.ts'
import type { LedgerStatements, LedgerThreadRecord, ThreadKey } from './ledger-statements.ts'

/** So many steps are one read: each is one message, or a few dozen. */
const stepsAtOnce = 64
/** Beside a run, which commits all the time, the walk would begin again and again: the last one is one read. */
const mostWalks = 3

/** See `Store.readPath`. Either path may have thousands of messages, so others have their turn between the reads (OP7b). */
export async function readPath(
  connection: Pick<AsyncConnection, 'read'>,
  threadId: ThreadId,
  target: string,
): Promise<VersionPath | null> {
  let begun = 0
  let walk: { readonly head: LedgerThreadRecord; readonly work: Walk } | undefined
  for (;;) {
    const path = await connection.read((statements): VersionPath | null | undefined => {
      const head = statements.readLedgerThread.get(threadId)
      if (head === undefined) return null
      if (walk === undefined || !isSameState(walk.head, head)) {
        begun++
        walk = { head, work: walkInSteps(pathRows(statements, head.thread), target) }
      }
      const most = begun < mostWalks ? stepsAtOnce : Number.POSITIVE_INFINITY
      const found = runSteps(walk.work, most)
      const { ownerId, seq, incarnation } = head
      return found && { ownerId, seq, incarnation, ...found }
    })
    if (path !== undefined) return path
  }
}

type Walk = ReturnType<typeof walkInSteps>

/** Which messages are shown changes only with the thread's seq; a thread that was made again is another one. */
const isSameState = (one: LedgerThreadRecord, other: LedgerThreadRecord): boolean =>
  one.thread === other.thread && one.seq === other.seq && one.incarnation === other.incarnation

const pathRows = (statements: LedgerStatements, thread: ThreadKey): PathRows => ({
  at: (seq) => statements.readPathAt.get(thread, seq),
  byId: (id) => statements.readPathById.get(thread, id),
  lastHidden: (parent) => statements.readLastHidden.get(thread, parent),
  shownAfter: (seq, limit) => statements.readShownAfter.all(thread, seq, limit),
})
