import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import { planAppend } from '../plan-append.ts'
import type { Append, AppendResult } from '../store.ts'
import { appendToTurn } from './append-to-turn.ts'
import type { Database } from './database.ts'
import { encodeAppends, type PlannedAppend } from './encode-appends.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { readSqlState } from './postgres-error.ts'
import { sealTurns } from './seal-turns.ts'
import type { RunStatement } from './statement.ts'

/**
 * One statement for the whole group. It becomes a transaction of several where turns are sealed, or
 * where a thread has more than one append: each statement takes one of each thread.
 */
export async function commitAppends(
  database: Database,
  statements: LedgerStatements,
  appends: readonly Append[],
): Promise<readonly AppendResult[]> {
  const planned = appends.map((append) => ({ append, plan: planAppend(append.events) }))
  const [only, ...others] = planned
  if (only !== undefined && others.length === 0) {
    const result = await appendToTurn(database.run, statements.schema, only)
    if (result !== undefined) return [result]
  }
  const results = new Map<PlannedAppend, AppendResult>()
  for (const [taken, result] of await commitRounds(database, statements, toRounds(planned))) {
    results.set(taken, result)
  }
  return planned.map((taken) => results.get(taken) as AppendResult)
}

type Round = readonly PlannedAppend[]
type Verdict = readonly [PlannedAppend, AppendResult]

/** The first append of each thread, then the second of each that has one, and so on. */
function toRounds(planned: readonly PlannedAppend[]): readonly Round[] {
  const rounds: PlannedAppend[][] = []
  const seen = new Map<ThreadId, number>()
  for (const taken of planned) {
    const round = seen.get(taken.append.threadId) ?? 0
    seen.set(taken.append.threadId, round + 1)
    ;(rounds[round] ??= []).push(taken)
  }
  return rounds
}

async function commitRounds(
  database: Database,
  statements: LedgerStatements,
  rounds: readonly Round[],
): Promise<readonly Verdict[]> {
  const [first, ...more] = rounds
  if (first === undefined) return []
  const seals = rounds.flat().some(({ append }) => (append.seal ?? []).length > 0)
  try {
    if (more.length === 0 && !seals) return await append(database.run, statements, first)
    return await database.transaction((run) => appendRounds(run, statements, rounds))
  } catch (error) {
    const refusal = toRefusal(error, first[0]?.append)
    if (refusal === undefined) throw error
    if (more.length === 0 && first.length === 1) return [[first[0] as PlannedAppend, refusal]]
    return database.transaction((run) => appendOneByOne(run, statements, rounds))
  }
}

async function appendRounds(
  run: RunStatement,
  statements: LedgerStatements,
  rounds: readonly Round[],
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  for (const round of rounds) verdicts.push(...(await appendAndSeal(run, statements, round)))
  return verdicts
}

/** Again, each append in a savepoint of its own, so that the one at fault fails alone. */
async function appendOneByOne(
  run: RunStatement,
  statements: LedgerStatements,
  rounds: readonly Round[],
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  await run(statements.lockThreads, [rounds[0]?.map(({ append: { threadId } }) => threadId)])
  for (const taken of rounds.flat()) {
    await run(statements.savepoint, [])
    try {
      verdicts.push(...(await appendAndSeal(run, statements, [taken])))
    } catch (error) {
      const refusal = toRefusal(error, taken.append)
      if (refusal === undefined) throw error
      await run(statements.rollbackToSavepoint, [])
      verdicts.push([taken, refusal])
    }
    await run(statements.releaseSavepoint, [])
  }
  return verdicts
}

async function appendAndSeal(
  run: RunStatement,
  statements: LedgerStatements,
  round: Round,
): Promise<readonly Verdict[]> {
  const verdicts = await append(run, statements, round)
  for (const [{ append: taken }, { kind }] of verdicts) {
    if (kind === 'appended') await sealTurns(run, statements, taken.threadId, taken.seal ?? [])
  }
  return verdicts
}

interface ResultRow {
  readonly nth: number
  readonly result: AppendResult['kind']
  readonly reached: number
  readonly fencing: number
  readonly stopping: boolean
  /** The kind, then what it is about; see `commit_appends`. */
  readonly refusal: readonly string[] | null
}

async function append(
  run: RunStatement,
  statements: LedgerStatements,
  round: Round,
): Promise<readonly Verdict[]> {
  const rows = await run<ResultRow>(statements.commitAppends, encodeAppends(round))
  return rows.map((row) => {
    const taken = round[row.nth - 1] as PlannedAppend
    return [taken, toResult(taken, row)]
  })
}

function toResult({ append: { lease }, plan }: PlannedAppend, row: ResultRow): AppendResult {
  const { reached: seq, fencing: fence } = row
  const [, about = '', id = '', state = ''] = row.refusal ?? []
  switch (row.result) {
    case 'appended':
      return {
        kind: 'appended',
        firstSeq: seq - plan.size + 1,
        seq,
        ...(lease === undefined ? {} : { fence }),
        stopRequested: row.stopping,
      }
    case 'no-thread':
      return { kind: 'no-thread' }
    case 'stale':
      return { kind: 'stale', seq }
    case 'fenced':
      return { kind: 'fenced', fence }
    case 'leased':
      return { kind: 'leased', holder: id, turnId: about as MessageId, fence: Number(state) }
    case 'illegal':
      return { kind: 'illegal', subject: about as 'call' | 'turn' | 'message', id, state }
  }
}

/** An append that the database itself will not take (class 22 or 23, or our own HF001). */
function toRefusal(error: unknown, { threadId }: Partial<Append> = {}): AppendResult | undefined {
  const cause = error instanceof HoldfastError ? error.cause : error
  const sqlState = readSqlState(cause) ?? ''
  const { message, detail, table } = cause as {
    readonly message: string
    readonly detail?: string
    readonly table?: string
  }
  if (sqlState === 'HF001') {
    return { kind: 'illegal', subject: 'turn', id: detail ?? '', state: message }
  }
  if (!/^2[23]/.test(sqlState)) return undefined
  const subject = table === 'calls' ? 'call' : 'message'
  return { kind: 'illegal', subject, id: threadId ?? '', state: 'unstorable' }
}
