import type { MessageId, Seq, ThreadId } from '../../core/ids.ts'
import { planAppend } from '../plan-append.ts'
import { planSeals } from '../plan-seals.ts'
import { toRewriteFault } from '../rewrite-fault.ts'
import type { Append, AppendResult, RewriteResult, ThreadRewrite } from '../store.ts'
import { type ResultRow, toRefusal, toResult } from './append-result.ts'
import { appendToTurn } from './append-to-turn.ts'
import { beginTurn, endTurn } from './begin-and-end.ts'
import type { Database } from './database.ts'
import { encodeAppends, namesToMake, type PlannedAppend } from './encode-appends.ts'
import { type CompletedAppend, completeAppend } from './find-rowless.ts'
import type { Ledger } from './run-memories.ts'
import { sealTurns } from './seal-turns.ts'
import type { RunStatement } from './statement.ts'

/**
 * One statement for the whole group. It becomes a transaction of several where turns are sealed that
 * have to be read back, or where a thread has more than one append: each statement takes one of each.
 */
export async function commitAppends(
  database: Database,
  ledger: Ledger,
  appends: readonly Append[],
): Promise<readonly AppendResult[]> {
  const planned = appends.map((append) => ({
    append,
    plan: planAppend(append.events),
    seals: planSeals(append),
  }))
  const results = new Map<PlannedAppend, AppendResult>()
  for (const [taken, result] of await commitRounds(database, ledger, toRounds(planned))) {
    results.set(taken, result)
  }
  return planned.map((taken) => results.get(taken) as AppendResult)
}

/** See `Store.rewriteThread`. The seq that the thread stands at then, or why it was refused. */
export async function rewriteThread(
  database: Database,
  ledger: Ledger,
  { threadId, expectedSeq, from, appends }: ThreadRewrite,
): Promise<Seq | Exclude<RewriteResult, 'rewritten'>> {
  const { statements, memories } = ledger
  const rounds = appends.map(({ events, seal = [] }): Round => {
    const append = { threadId, events, seal }
    return [{ append, plan: planAppend(events), seals: planSeals(append) }]
  })
  memories.forget(threadId)
  try {
    return await database.transaction(async (run) => {
      // Whoever appends waits for this row, and then finds the thread rewritten.
      const [row] = await run<{ readonly seq: Seq; readonly isHeld: boolean }>(
        statements.lockForRewrite,
        [threadId],
      )
      if (row === undefined || row.seq !== expectedSeq) return 'stale'
      if (row.isHeld) return 'leased'
      for (const statement of statements.deleteFrom) await run(statement, [threadId, from])
      let seq = row.seq
      for (const [, result] of await appendRounds(run, ledger, rounds)) {
        if (result.kind !== 'appended') throw toRewriteFault(result)
        seq = result.seq
      }
      return seq
    })
  } finally {
    memories.forget(threadId)
  }
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
  ledger: Ledger,
  rounds: readonly Round[],
): Promise<readonly Verdict[]> {
  const [first, ...others] = rounds.flat()
  if (first === undefined) return []
  try {
    if (others.length === 0) {
      for (const tryShortWay of [appendToTurn, beginTurn, endTurn]) {
        const result = await tryShortWay(database.runSteadily, ledger, first)
        if (result !== undefined) return [[first, result]]
      }
    }
    const isOne = rounds.length === 1 && !rounds.flat().some((taken) => toFold(taken).length > 0)
    return isOne
      ? await append(database.runSteadily, ledger, rounds.flat())
      : await database.transaction((run) => appendRounds(run, ledger, rounds))
  } catch (error) {
    for (const { append: given } of rounds.flat()) ledger.memories.forget(given.threadId)
    const refusal = toRefusal(error, first.append)
    if (refusal === undefined) throw error
    if (others.length === 0) return [[first, refusal]]
    return database.transaction((run) => appendOneByOne(run, ledger, rounds))
  }
}

/** Turns whose facts have to be read back, to be folded here. */
const toFold = ({ append: { seal = [] }, seals }: PlannedAppend): readonly MessageId[] =>
  seal.filter((id) => !seals.has(id))

async function appendRounds(
  run: RunStatement,
  ledger: Ledger,
  rounds: readonly Round[],
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  await lockNames(run, ledger, rounds)
  for (const round of rounds) verdicts.push(...(await appendAndSeal(run, ledger, round)))
  return verdicts
}

/** Again, each append in a savepoint of its own, so that the one at fault fails alone. */
async function appendOneByOne(
  run: RunStatement,
  ledger: Ledger,
  rounds: readonly Round[],
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  await lockNames(run, ledger, rounds)
  await run(ledger.statements.lockThreads, [rounds[0]?.map(({ append: { threadId } }) => threadId)])
  for (const taken of rounds.flat()) {
    await run(ledger.statements.savepoint, [])
    try {
      verdicts.push(...(await appendAndSeal(run, ledger, [taken])))
    } catch (error) {
      const refusal = toRefusal(error, taken.append)
      if (refusal === undefined) throw error
      ledger.memories.forget(taken.append.threadId)
      await run(ledger.statements.rollbackToSavepoint, [])
      verdicts.push([taken, refusal])
    }
    await run(ledger.statements.releaseSavepoint, [])
  }
  return verdicts
}

async function lockNames(
  run: RunStatement,
  ledger: Ledger,
  rounds: readonly Round[],
): Promise<void> {
  const names = namesToMake(rounds.flat())
  if (names.length > 0) await run(ledger.statements.lockNames, [names])
}

async function appendAndSeal(
  run: RunStatement,
  ledger: Ledger,
  round: Round,
): Promise<readonly Verdict[]> {
  const verdicts = await append(run, ledger, round)
  for (const [taken, { kind }] of verdicts) {
    if (kind !== 'appended') continue
    await sealTurns(run, ledger.statements, taken.append.threadId, toFold(taken))
  }
  return verdicts
}

async function append(
  run: RunStatement,
  ledger: Ledger,
  round: Round,
): Promise<readonly Verdict[]> {
  const { statements, memories } = ledger
  const verdicts: Verdict[] = []
  let left = round
  while (left.length > 0) {
    const completed: CompletedAppend[] = []
    for (const taken of left) completed.push(await completeAppend(run, ledger, taken))
    const group = completed.map(({ taken }) => taken)
    const rows = await run<ResultRow>(statements.commitAppends, encodeAppends(group))
    const outdated: PlannedAppend[] = []
    for (const row of rows) {
      const taken = left[row.nth - 1] as PlannedAppend
      const whole = completed[row.nth - 1] as CompletedAppend
      const result = whole.judge(toResult(taken, row))
      memories.learn(taken, result, whole.found)
      if (whole.isOutdated(result)) outdated.push(taken)
      else verdicts.push([taken, result])
    }
    left = outdated
  }
  return verdicts
}
