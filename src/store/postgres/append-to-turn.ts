import type { MessageId } from '../../core/ids.ts'
import type { TurnStatus } from '../../core/message.ts'
import type { AppendResult } from '../store.ts'
import { type AppendShape, toAppendStatement } from './append-to-turn-statement.ts'
import { encodeCall, type PlannedAppend } from './encode-appends.ts'
import type { RunStatement } from './statement.ts'

/**
 * The short way, at a third of the cost, for what nearly all commits are while an answer is produced:
 * more facts of one turn that goes on. All of the append or nothing; undefined means that this way is
 * closed, and `commit_appends` does it or says why it is refused.
 */
export async function appendToTurn(
  run: RunStatement,
  schema: string,
  { append, plan }: PlannedAppend,
): Promise<AppendResult | undefined> {
  const turn = findSteadyTurn({ append, plan })
  if (turn === undefined) return undefined
  const { threadId, lease, expectedSeq } = append
  const { rows, size } = plan
  const fence = lease?.kind === 'hold' ? lease.fence : undefined
  const renewMs = lease?.kind === 'hold' ? lease.renewMs : undefined

  // The texts of the events, then those of the calls: see `encodeAppends`.
  const texts = rows.map(({ payload }) => payload)
  const calls = [...plan.calls].map(([id, call]) =>
    encodeCall(id, call, (text) => (text == null ? undefined : texts.push(text))),
  )
  const shape: AppendShape = {
    hasCalls: calls.length > 0,
    isSingle: calls.length === 0 && size === 1,
    isHeld: fence !== undefined,
    isRenewed: renewMs !== undefined,
    isExpected: expectedSeq !== undefined,
  }
  const values = [
    threadId,
    turn.id,
    turn.statuses,
    size,
    texts.join('\n'),
    shape.isSingle ? rows[0]?.at : rows.map(({ at }) => at),
    ...(shape.hasCalls ? [rows.map(({ callId }) => callId), JSON.stringify(calls)] : []),
    ...[fence, renewMs, expectedSeq].filter((value) => value !== undefined),
  ]
  const [row] = await run<AppendRow>(toAppendStatement(schema, shape), values)
  if (row === undefined) return undefined
  return {
    kind: 'appended',
    firstSeq: row.seq - size + 1,
    seq: row.seq,
    ...(fence === undefined ? {} : { fence }),
    stopRequested: row.stopping === true,
  }
}

interface AppendRow {
  readonly seq: number
  readonly stopping: boolean | null
}

/** The one turn that the append is about, if it stays in whichever of these statuses it is in. */
function findSteadyTurn({
  append,
  plan,
}: PlannedAppend):
  | { readonly id: MessageId; readonly statuses: readonly TurnStatus[] }
  | undefined {
  const { lease, seal = [] } = append
  const [turn, ...others] = plan.turns
  if (turn === undefined || others.length > 0 || seal.length > 0) return undefined
  if (lease !== undefined && lease.kind !== 'hold') return undefined
  if (plan.messages.length > 0 || plan.retired.length > 0 || plan.title !== null) return undefined
  const [id, { paths }] = turn
  const isSteady = [...paths].every(([from, to]) => from === to)
  return isSteady ? { id, statuses: [...paths.values()] } : undefined
}
