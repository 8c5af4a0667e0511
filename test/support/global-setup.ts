import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { buildPrograms } from './build-programs.ts'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A superuser's URL; give it to `createDatabase` and work in what that returns. */
    readonly postgresUrl: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const own = process.env['HOLDFAST_TEST_PG']
  if (own) {
    await assertAnswers(own)
    project.provide('postgresUrl', own)
    return buildPrograms()
  }
  const [server, removePrograms] = await Promise.all([startPostgres(), buildPrograms()])
  project.provide('postgresUrl', server.url)
  return async () => {
    await removePrograms()
    await server.stop()
  }
}

async function assertAnswers(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    await client.query('select 1')
  } catch (cause) {
    throw new Error('The PostgreSQL of HOLDFAST_TEST_PG does not answer', { cause })
  } finally {
    await client.end()
  }
}
