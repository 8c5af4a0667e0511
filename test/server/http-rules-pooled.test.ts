import { inject } from 'vitest'
import { createDatabase } from '../support/create-database.ts'
import { findPgBouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { startTransactionPooler } from '../support/transaction-pooler.ts'
import { checkHttpRules } from './check-http-rules.ts'

checkHttpRules('postgres through a transaction pooler', async () => {
  const database = await createDatabase(inject('postgresUrl'))
  const program = findPgBouncer()
  const pooler =
    program === null
      ? await startTransactionPooler(database.url, { size: 8 })
      : await startPgBouncer(program, database.url)
  return {
    db: pooler.url,
    async cleanUp() {
      await pooler.close()
      await database.drop()
    },
  }
})
