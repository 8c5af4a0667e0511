import type { Seq } from '../../core/ids.ts'
import {
  planRewrite,
  type RewriteResult,
  type ThreadRewrite,
  toRewriteFault,
} from '../plan-rewrite.ts'
import type { Database } from './database.ts'
import type { Statement } from './statement.ts'
import { createCommitWriter } from './write-commits.ts'

/** See `Store.rewriteThread`. The seq that the thread stands at then, or why it was refused. */
export async function rewriteThread(
  database: Database,
  /** Quoted. */
  schema: string,
  rewrite: ThreadRewrite,
): Promise<Seq | Exclude<RewriteResult, 'rewritten'>> {
  const { threadId, expectedSeq, from } = rewrite
  const commits = planRewrite(rewrite)
  const { lock, deleteFrom } = rewriteStatements(schema)
  return database.transaction(async (run) => {
    // Whoever appends finds this row locked, and then the thread rewritten.
    const [row] = await run<{
      readonly seq: Seq
      readonly isHeld: boolean
      readonly hasQueue: boolean
    }>(lock, [threadId])
    if (row === undefined || row.seq !== expectedSeq) return 'stale'
    if (row.isHeld || row.hasQueue) return 'leased'
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
  lock: statement(
    'lock-for-rewrite',
    `SELECT seq, lease_holder IS NOT NULL AND lease_until > clock_timestamp() AS "isHeld",
       queue <> '[]' AS "hasQueue"
     FROM ${schema}.threads WHERE id = $1 FOR UPDATE`,
  ),
  /** Calls first: which are to go is seen from the messages. */
  deleteFrom: [
    statement(
      'delete-calls-from',
      `DELETE FROM ${schema}.calls WHERE thread_id = $1 AND message_id IN (
         SELECT message_id FROM ${schema}.messages
         WHERE thread_id = $1 AND seq >= $2 AND role = 'assistant')`,
    ),
    statement(
      'delete-messages-from',
      `DELETE FROM ${schema}.messages WHERE thread_id = $1 AND seq >= $2`,
    ),
    statement(
      'delete-events-from',
      `DELETE FROM ${schema}.events WHERE thread_id = $1 AND seq >= $2`,
    ),
  ],
})

const statement = (name: string, text: string): Statement => ({ name: `holdfast-${name}`, text })
