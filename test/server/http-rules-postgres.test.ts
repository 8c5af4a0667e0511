import { inject } from 'vitest'
import { createDatabase } from '../support/create-database.ts'
import { checkHttpRules } from './check-http-rules.ts'

checkHttpRules('postgres', async () => {
  const database = await createDatabase(inject('postgresUrl'))
  return { db: database.url, cleanUp: () => database.drop() }
})
