import { createFairGate } from '../../core/fair-gate.ts'
import type { Seq } from '../../core/ids.ts'
import { planWholeCommit, toWholeFault, type WholeThread } from '../whole-thread.ts'
import { callColumns } from './commit-columns.ts'
import { callValues, toArrays } from './commit-values.ts'
import type { Database } from './database.ts'
import { createFileStatements } from './file-records.ts'
import type { Statement } from './statement.ts'
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
    })

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
