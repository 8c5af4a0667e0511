import type { Seq } from '../../core/ids.ts'
import type { CallWrite } from '../run-memory.ts'
import type { ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'

/** The thread and the turn that a call is in. */
export interface CallPlace {
  readonly thread: ThreadKey
  readonly turn: Seq
}

type Insert = Omit<Extract<CallWrite, { readonly kind: 'insert' }>, 'kind'>
type Update = Omit<Extract<CallWrite, { readonly kind: 'update' }>, 'kind'>

/** One that has a row already is an error. */
export function insertCall(
  statements: LedgerStatements,
  { thread, turn }: CallPlace,
  { id, row, call: { output, modelOutput } }: Insert,
): void {
  const { seq, name, life, input } = row
  statements.insertCall.run(thread, id, turn, seq, name, life, input, output, modelOutput)
}

/** False: there is no such row with that life. */
export function updateCall(
  statements: LedgerStatements,
  { thread, turn }: CallPlace,
  { id, call, from, to }: Update,
): boolean {
  const { name, input, output, modelOutput } = call
  const known = [thread, id, turn, from] as const
  const { changes } =
    name === null && input === null
      ? statements.moveCall.run(to, output, modelOutput, ...known)
      : statements.updateCall.run(to, name, input, output, modelOutput, ...known)
  return changes === 1
}
