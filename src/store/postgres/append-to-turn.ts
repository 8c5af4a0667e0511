import type { MessageId } from '../../core/ids.ts'
import type { TurnStatus } from '../../core/message.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { AppendPlan } from '../plan-append.ts'
import type { AppendResult } from '../store.ts'
import type { Pack, PlannedAppend } from './encode-appends.ts'
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
  const { rows, size } = plan
  const texts: string[] = []
  const pack: Pack = (text) => (text == null ? undefined : texts.push(text))
  const changes = encodeChanges(plan.calls, pack)
  if (turn === undefined || changes === undefined) return undefined

  const fence = lease?.kind === 'hold' ? lease.fence : undefined
  const facts = rows.map(({ payload }) => payload).join('\n')
  const times = rows.map(({ at }) => at)
  const renewMs = lease?.kind === 'hold' ? lease.renewMs : undefined
  const place = [threadId, turn.id, turn.statuses, fence, renewMs, expectedSeq, facts]
  const row = await tryRun(() => {
    if (changes.length > 0) {
      const ofCalls = rows.map(({ callId }) => callId)
      const values = [...place, times, ofCalls, JSON.stringify(changes), texts.join('\n')]
      return run<AppendRow>(statements.appendToTurn, values)
    }
    return size === 1
      ? run<AppendRow>(statements.appendFact, [...place, times[0]])
      : run<AppendRow>(statements.appendFacts, [...place, times])
  })
  if (row === undefined || row.reached === null) return undefined
  return {
    kind: 'appended',
    firstSeq: row.reached - size + 1,
    seq: row.reached,
    ...(fence === undefined ? {} : { fence }),
    stopRequested: row.stopping === true,
  }
}

interface AppendRow {
  readonly reached: number | null
  readonly stopping: boolean | null
}

/** HF002: the function took it back. */
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
  const { lease, seal = [] } = append
  const [turn, ...others] = plan.turns
  if (turn === undefined || others.length > 0 || seal.length > 0) return undefined
  if (lease !== undefined && lease.kind !== 'hold') return undefined
  if (plan.messages.length > 0 || plan.retired.length > 0 || plan.title !== null) return undefined
  const [id, { paths }] = turn
  // An ended turn may be sealed, and would no longer be.
  const isSteady = [...paths].every(([from, to]) => from === to && to !== 'ended')
  return isSteady ? { id, statuses: [...paths.values()] } : undefined
}

/**
 * Calls by the lives they may be found in: the database takes each group at once. Undefined: where one
 * of them comes to depends on where it stands.
 */
function encodeChanges(calls: AppendPlan['calls'], pack: Pack): readonly object[] | undefined {
  const groups = new Map<string, { known: string[]; is_new: boolean; calls: object[] }>()
  for (const [id, call] of calls) {
    const [life, ...others] = new Set(call.paths.values())
    if (life === undefined || others.length > 0) return undefined
    const from = [...call.paths.keys()]
    const known = from.filter((state) => state !== 'absent')
    const group = groups.get(from.join()) ?? {
      known,
      is_new: from.length > known.length,
      calls: [],
    }
    groups.set(from.join(), group)
    group.calls.push({
      id,
      place: call.offset + 1,
      life,
      name: call.name === undefined ? undefined : toPlainText(call.name),
      input: pack(call.input),
      output: pack(call.output),
      model: pack(call.modelOutput),
    })
  }
  return [...groups.values()]
}
