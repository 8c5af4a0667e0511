import type { MessageId, ThreadId } from '../../core/ids.ts'
import { planAppend } from '../plan-append.ts'
import { planSeals } from '../plan-seals.ts'
import type { Append, AppendResult } from '../store.ts'
import { type ResultRow, toRefusal, toResult } from './append-result.ts'
import { appendToTurn } from './append-to-turn.ts'
import type { Database } from './database.ts'
import { encodeAppends, namesToMake, type PlannedAppend } from './encode-appends.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { sealTurns } from './seal-turns.ts'
import type { RunStatement } from './statement.ts'

/**
 * One statement for the whole group. It becomes a transaction of several where turns are sealed that
 * have to be read back, or where a thread has more than one append: each statement takes one of each.
 */
export async function commitAppends(
  database: Database,
  statements: LedgerStatements,
  appends: readonly Append[],
): Promise<readonly AppendResult[]> {
  const planned = appends.map((append) => ({
    append,
    plan: planAppend(append.events),
    seals: planSeals(append),
  }))
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
  const [first, ...others] = rounds.flat()
  if (first === undefined) return []
  try {
    if (others.length === 0) {
      const result = await appendToTurn(database.runSteadily, statements, first)
      if (result !== undefined) return [[first, result]]
    }
    const isOne = rounds.length === 1 && !rounds.flat().some((taken) => toFold(taken).length > 0)
    return isOne
      ? await append(database.runSteadily, statements, rounds.flat())
      : await database.transaction((run) => appendRounds(run, statements, rounds))
  } catch (error) {
    const refusal = toRefusal(error, first.append)
    if (refusal === undefined) throw error
    if (others.length === 0) return [[first, refusal]]
    return database.transaction((run) => appendOneByOne(run, statements, rounds))
  }
}

/** Turns whose facts have to be read back, to be folded here. */
const toFold = ({ append: { seal = [] }, seals }: PlannedAppend): readonly MessageId[] =>
  seal.filter((id) => !seals.has(id))

async function appendRounds(
  run: RunStatement,
  statements: LedgerStatements,
  rounds: readonly Round[],
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  await lockNames(run, statements, rounds)
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
  await lockNames(run, statements, rounds)
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

async function lockNames(
  run: RunStatement,
  statements: LedgerStatements,
  rounds: readonly Round[],
): Promise<void> {
  const names = namesToMake(rounds.flat())
  if (names.length > 0) await run(statements.lockNames, [names])
}

async function appendAndSeal(
  run: RunStatement,
  statements: LedgerStatements,
  round: Round,
): Promise<readonly Verdict[]> {
  const verdicts = await append(run, statements, round)
  for (const [taken, { kind }] of verdicts) {
    if (kind !== 'appended') continue
    await sealTurns(run, statements, taken.append.threadId, toFold(taken))
  }
  return verdicts
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
