import { createFairGate } from '../../core/fair-gate.ts'
import type { Seq } from '../../core/ids.ts'
import { createPacer, runPaced } from '../pacer.ts'
import {
  judgeRewrite,
  planRewriteInSteps,
  type RewriteResult,
  type RewrittenHead,
  type ThreadRewrite,
  toRewriteFault,
} from '../plan-rewrite.ts'
import type { SteadyClock } from '../steady-clock.ts'
import { planWholeCommit, toWholeFault, type WholeThread } from '../whole-thread.ts'
import { callColumns, callValues, toArrays } from './commit-parameters.ts'
import type { Database } from './database.ts'
import { createFileStatements } from './file-records.ts'
import { leaseHeld } from './leases.ts'
import { type Statement, toStatement } from './statement.ts'
import { type ThreadStatements, tryCreateThread } from './thread-verbs.ts'
import { createCommitWriter } from './write-commits.ts'

/** How many threads are written at once: each holds a connection of the pool, which others need too. */
const mostAtOnce = 2

/**
 * See `Store.createWhole`: one transaction of many statements, each of which is short. As one statement, a turn of 60 MB
 * took longer than a statement may.
 */
export function createWholeWriter(
  { transaction }: Pick<Database, 'transaction'>,
  /** Quoted. */
  schema: string,
  statements: ThreadStatements,
) {
  const addCalls = addCallsStatement(schema)
  const { name } = createFileStatements(schema)
  const enter = createFairGate(mostAtOnce)

  const write = ({ threadId, create, portions }: WholeThread): Promise<'created' | 'exists'> =>
    transaction(async (run) => {
      const created = await tryCreateThread(run, statements, { id: threadId, ...create })
      if (created.kind !== 'created') return 'exists'
      const commit = createCommitWriter(run, schema)
      let seq: Seq = 0
      for await (const portion of portions) {
        if (portion.kind === 'calls') {
          const rows = portion.calls.map((row) => callValues(threadId, row))
          await run(addCalls, toArrays(rows, callColumns.length))
          if (portion.files.length > 0) await run(name, [threadId, portion.files])
          continue
        }
        const [result] = await commit([planWholeCommit(threadId, portion, seq)])
        if (result?.kind !== 'appended') throw toWholeFault(result ?? { kind: 'no-thread' })
        ;({ seq } = result)
      }
      return 'created'
      // Its portions can be read only once.
    }, 'once')

  return async (thread: WholeThread): Promise<'created' | 'exists'> => {
    const leave = await enter(thread.threadId)
    return write(thread).finally(leave)
  }
}

const addCallsStatement = (schema: string): Statement => {
  const arrays = callColumns.map(({ type }, index) => `$${index + 1}::${type}[]`)
  const names = callColumns.map((column) => column.name)
  return {
    name: 'holdfast-add-calls',
    text: `INSERT INTO ${schema}.calls
        (thread_id, call_id, message_id, seq, name, life, input, output, model_output)
      SELECT * FROM unnest(${arrays.join(', ')}) AS n(${names.join(', ')})`,
  }
}

/** See `Store.rewriteThread`. Returns the thread's new seq, or the reason of the refusal. */
export async function rewriteThread(
  database: Database,
  /** Quoted. */
  schema: string,
  rewrite: ThreadRewrite,
  clock: SteadyClock,
): Promise<Seq | Exclude<RewriteResult, 'rewritten'>> {
  const { threadId, from } = rewrite
  const commits = await runPaced(planRewriteInSteps(rewrite), createPacer())
  const { lock, deleteFrom } = rewriteStatements(schema)
  return database.transaction(async (run) => {
    // A concurrent append finds this row locked (`busy`), and with its next attempt the thread rewritten.
    const [row] = await run<RewrittenHead>(lock, [threadId, clock.latest()])
    if (row === undefined) return 'stale'
    const refusal = judgeRewrite(row, rewrite)
    if (refusal !== null) return refusal
    for (const statement of deleteFrom) await run(statement, [threadId, from])
    let { seq } = row
    for (const result of await createCommitWriter(run, schema)(commits)) {
      if (result.kind !== 'appended') throw toRewriteFault(result)
      ;({ seq } = result)
    }
    return seq
  })
}

const rewriteStatements = (schema: string) => ({
  lock: toStatement(
    'lock-for-rewrite',
    `SELECT seq, incarnation, ${leaseHeld('$2::bigint')} AS "isHeld", queue <> '[]' AS "hasQueue"
     FROM ${schema}.threads WHERE id = $1 FOR UPDATE`,
  ),
  /** Inputs and calls first: the messages determine which of them are deleted. */
  deleteFrom: [
    toStatement(
      'delete-inputs-from',
      `DELETE FROM ${schema}.inputs WHERE thread_id = $1 AND turn_id IN (
         SELECT message_id FROM ${schema}.messages WHERE thread_id = $1 AND seq >= $2)`,
    ),
    toStatement(
      'delete-calls-from',
      `DELETE FROM ${schema}.calls WHERE thread_id = $1 AND message_id IN (
         SELECT message_id FROM ${schema}.messages
         WHERE thread_id = $1 AND seq >= $2 AND role = 'assistant')`,
    ),
    toStatement(
      'delete-messages-from',
      `DELETE FROM ${schema}.messages WHERE thread_id = $1 AND seq >= $2`,
    ),
    toStatement(
      'delete-events-from',
      `DELETE FROM ${schema}.events WHERE thread_id = $1 AND seq >= $2`,
    ),
  ],
})
