import type { CallId, MessageId, Seq } from '../../core/ids.ts'
import type { CallLife } from '../../core/life.ts'
import type { TurnStatus } from '../../core/message.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { findOneEnd } from '../paths.ts'
import type { AppendPlan } from '../plan-append.ts'
import { type CallSteps, type CallWrite, stepCalls } from '../run-memory.ts'
import type { AppendResult } from '../store.ts'
import { type PlannedAppend, textSeparator } from './encode-appends.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { toPlainText } from './plain-text.ts'
import { readSqlState } from './postgres-error.ts'
import type { Ledger } from './run-memories.ts'
import type { RunStatement, Statement } from './statement.ts'

/**
 * The short way for what nearly all commits are while an answer is produced: more facts of one turn
 * that goes on. Undefined: that way is closed, and `commit_appends` does it or says why it is refused.
 */
export async function appendToTurn(
  run: RunStatement,
  { statements, memories }: Ledger,
  planned: PlannedAppend,
): Promise<AppendResult | undefined> {
  const { append, plan } = planned
  const turn = findSteadyTurn(planned)
  const { threadId, lease, expectedSeq } = append
  const [facts, ...otherPacks] = plan.packs
  if (turn === undefined || facts === undefined || otherPacks.length > 0) return undefined
  const { size, at, payload } = facts
  const fence = lease?.kind === 'hold' ? lease.fence : undefined
  const renewMs = lease?.kind === 'hold' ? lease.renewMs : undefined
  const write = async (statement: Statement, expected: Seq | undefined, more: Values) => {
    const place = [threadId, turn.id, fence, expected]
    const row = await tryRun(() =>
      run<AppendRow>(statement, [...place, size, at, payload, ...more]),
    )
    return row && toAppended(row, size, fence)
  }

  if (fence !== undefined && plan.calls.size > 0) {
    if (renewMs !== undefined || !turn.statuses.includes('running')) return undefined
    const memory = memories.recall(threadId)
    if (memory?.turnId !== turn.id || memory.fence !== fence) return undefined
    if (memory.seq !== (expectedSeq ?? memory.seq)) return undefined
    const steps = stepCalls(memory, plan)
    const way = steps && toWay(statements, steps, memory.seq, turn.statuses)
    const result = way && (await write(way.statement, memory.seq, way.values))
    if (steps === undefined || result === undefined) return undefined
    steps.remember()
    memories.remember(threadId, { ...memory, seq: result.seq })
    return result
  }
  const calls = plan.calls.size === 0 ? [] : encodeCalls(plan.calls)
  if (calls === undefined) return undefined
  const statement = calls.length === 0 ? statements.appendPack : statements.appendToTurn
  const result = await write(statement, expectedSeq, [renewMs, turn.statuses, ...calls])
  if (result !== undefined) memories.learn(planned, result, undefined)
  return result
}

type Values = readonly unknown[]

/** Undefined: some calls get a row and others do not yet, which no statement does. */
function toWay(
  { appendFresh, appendRows, appendToTurn: appendCalls }: LedgerStatements,
  { fresh, writes }: CallSteps,
  before: Seq,
  statuses: readonly TurnStatus[],
): { readonly statement: Statement; readonly values: Values } | undefined {
  if (writes.length === 0) return { statement: appendFresh, values: [fresh] }
  if (fresh.length > 0) return undefined
  const [ids, from, ...columns] = encodeWrites(writes, before)
  return writes.every(({ kind }) => kind === 'insert')
    ? { statement: appendRows, values: [ids, ...columns] }
    : { statement: appendCalls, values: [undefined, statuses, ids, from, ...columns] }
}

const toAppended = ({ reached, stopping }: AppendRow, size: number, fence: number | undefined) => ({
  kind: 'appended' as const,
  firstSeq: reached - size + 1,
  seq: reached,
  ...(fence === undefined ? {} : { fence }),
  stopRequested: stopping === true,
})

interface AppendRow {
  readonly reached: number
  readonly stopping: boolean | null
}

/** HF002: the statement took it back. 23505: what should be new is not. */
export async function tryRun<Row>(run: () => Promise<readonly Row[]>): Promise<Row | undefined> {
  try {
    const [row] = await run()
    return row
  } catch (error) {
    const state = readSqlState(error instanceof HoldfastError ? error.cause : error)
    if (state === 'HF002' || state === '23505') return undefined
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

/** The columns of calls whose rows are known, or known not to be there. */
const encodeWrites = (writes: readonly CallWrite[], before: Seq): Values =>
  toColumns(
    writes.map((write) =>
      write.kind === 'insert'
        ? {
            ...write.row,
            output: write.call.output,
            modelOutput: write.call.modelOutput,
            id: write.id,
            from: ['absent'],
            place: write.row.seq - before,
          }
        : {
            ...write.call,
            id: write.id,
            from: [write.from],
            place: write.call.offset + 1,
            life: write.to,
          },
    ),
  )

interface CallColumns {
  readonly id: CallId
  readonly from: readonly string[]
  readonly place: number
  readonly life: CallLife
  readonly name: string | null
  readonly input: string | null
  readonly output: string | null
  readonly modelOutput: string | null
}

const toColumns = (calls: readonly CallColumns[]): Values => [
  calls.map(({ id }) => id),
  calls.map(({ from }) => ` ${from.join(' ')} `),
  calls.map(({ place }) => place),
  calls.map(({ life }) => life),
  calls.map(({ name }) => (name === null ? null : toPlainText(name))),
  joinTexts(calls.map(({ input }) => input)),
  joinTexts(calls.map(({ output }) => output)),
  joinTexts(calls.map(({ modelOutput }) => modelOutput)),
]

/** The calls' columns, as lists. Undefined: where one of them comes to depends on where it stands. */
function encodeCalls(calls: AppendPlan['calls']): Values | undefined {
  const columns: CallColumns[] = []
  for (const [id, call] of calls) {
    const life = findOneEnd(call.paths)
    if (life === undefined) return undefined
    columns.push({ ...call, id, from: [...call.paths.keys()], place: call.offset + 1, life })
  }
  return toColumns(columns)
}

/** A JSON text is never empty, so an empty one stands for none. */
const joinTexts = (texts: readonly (string | null)[]): string | null =>
  texts.every((text) => text === null) ? null : texts.map((text) => text ?? '').join(textSeparator)
