import type { MessageId } from '../../core/ids.ts'
import type { CallLife } from '../../core/life.ts'
import type { TurnStatus } from '../../core/message.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { AppendPlan, PlannedCall } from '../plan-append.ts'
import type { AppendResult } from '../store.ts'
import { type PlannedAppend, textSeparator } from './encode-appends.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { toPlainText } from './plain-text.ts'
import { readSqlState } from './postgres-error.ts'
import type { RunStatement } from './statement.ts'

/**
 * The short way for what nearly all commits are while an answer is produced: more facts of one turn
 * that goes on. Undefined: that way is closed, and `commit_appends` does it or says why it is refused.
 */
export async function appendToTurn(
  run: RunStatement,
  statements: LedgerStatements,
  planned: PlannedAppend,
): Promise<AppendResult | undefined> {
  const { append, plan } = planned
  const turn = findSteadyTurn(planned)
  const { threadId, lease, expectedSeq } = append
  const [facts, ...otherPacks] = plan.packs
  if (turn === undefined || facts === undefined || otherPacks.length > 0) return undefined
  const calls = encodeCalls(plan.calls)
  if (calls === undefined) return undefined

  const { size, at, payload } = facts
  const fence = lease?.kind === 'hold' ? lease.fence : undefined
  const renewMs = lease?.kind === 'hold' ? lease.renewMs : undefined
  const place = [threadId, turn.id, turn.statuses, fence, renewMs, expectedSeq]
  const values = [...place, size, at, payload]
  const row = await tryRun(() =>
    plan.calls.size === 0
      ? run<AppendRow>(statements.appendPack, values)
      : run<AppendRow>(statements.appendToTurn, [...values, ...calls]),
  )
  if (row === undefined) return undefined
  return {
    kind: 'appended',
    firstSeq: row.reached - size + 1,
    seq: row.reached,
    ...(fence === undefined ? {} : { fence }),
    stopRequested: row.stopping === true,
  }
}

interface AppendRow {
  readonly reached: number
  readonly stopping: boolean | null
}

/** HF002: the statement took it back. */
async function tryRun(run: () => Promise<readonly AppendRow[]>): Promise<AppendRow | undefined> {
  try {
    const [row] = await run()
    return row
  } catch (error) {
    if (readSqlState(error instanceof HoldfastError ? error.cause : error) === 'HF002')
      return undefined
    throw error
  }
}

/** The one turn that the append is about, if it stays in whichever of these statuses it is in. */
function findSteadyTurn({
  append,
  plan,
}: PlannedAppend):
  | { readonly id: MessageId; readonly statuses: readonly TurnStatus[] }
  | undefined {
  const { create, lease, seal = [] } = append
  if (create !== undefined) return undefined
  const [turn, ...others] = plan.turns
  if (turn === undefined || others.length > 0 || seal.length > 0) return undefined
  if (lease !== undefined && lease.kind !== 'hold') return undefined
  if (plan.messages.length > 0 || plan.retired.length > 0 || plan.title !== null) return undefined
  const [id, { paths }] = turn
  // An ended turn may be sealed, and would no longer be.
  const isSteady = [...paths].every(([from, to]) => from === to && to !== 'ended')
  return isSteady ? { id, statuses: [...paths.values()] } : undefined
}

/** The calls' columns, as lists. Undefined: where one of them comes to depends on where it stands. */
function encodeCalls(calls: AppendPlan['calls']): readonly unknown[] | undefined {
  const planned = [...calls.values()]
  const lives = planned.map(({ paths }) => findOneLife(paths))
  if (lives.includes(undefined)) return undefined
  return [
    [...calls.keys()],
    planned.map(({ paths }) => ` ${[...paths.keys()].join(' ')} `),
    planned.map(({ offset }) => offset + 1),
    lives,
    planned.map(({ name }) => (name === undefined ? null : toPlainText(name))),
    joinTexts(planned.map(({ input }) => input)),
    joinTexts(planned.map(({ output }) => output)),
    joinTexts(planned.map(({ modelOutput }) => modelOutput)),
  ]
}

function findOneLife(paths: PlannedCall['paths']): CallLife | undefined {
  const [life, ...others] = new Set(paths.values())
  return others.length > 0 ? undefined : life
}

/** A JSON text is never empty, so an empty one stands for none. */
const joinTexts = (texts: readonly (string | undefined)[]): string | null =>
  texts.every((text) => text === undefined)
    ? null
    : texts.map((text) => text ?? '').join(textSeparator)
