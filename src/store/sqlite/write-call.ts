import type { CallId, Seq } from '../../core/ids.ts'
import type { CallLife } from '../../core/life.ts'
import type { PlannedCall } from '../plan-append.ts'
import type { ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'

export interface CallMove {
  readonly id: CallId
  readonly call: PlannedCall
  /** Undefined: it is new. */
  readonly from: CallLife | undefined
  readonly to: CallLife
}

/** Where the append stands: its thread, its turn, and the thread's seq before it. */
export interface CallPlace {
  readonly thread: ThreadKey
  readonly turn: Seq
  readonly before: Seq
}

/** False: there is no such call with that life. A call that should be new and is not is an error. */
export function writeCall(
  statements: LedgerStatements,
  { thread, turn, before }: CallPlace,
  { id, call, from, to }: CallMove,
): boolean {
  const { offset, name = null, input = null, output = null, modelOutput = null } = call
  if (from === undefined) {
    const place = [turn, before + offset + 1] as const
    statements.insertCall.run(thread, id, ...place, name ?? '', to, input, output, modelOutput)
    return true
  }
  const known = [thread, id, turn, from] as const
  const { changes } =
    name === null && input === null
      ? statements.moveCall.run(to, output, modelOutput, ...known)
      : statements.updateCall.run(to, name, input, output, modelOutput, ...known)
  return changes === 1
}
