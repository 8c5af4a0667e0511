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

interface Prepared {
  readonly postgresUrl: string
  readonly release: () => Promise<void>
}

/** Two projects need it, and each loads this module anew: what a run has once is with its process. */
const run = globalThis as { prepared?: { readonly ready: Promise<Prepared>; users: number } }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const prepared = (run.prepared ??= { ready: prepare(), users: 0 })
  prepared.users++
  const { postgresUrl, release } = await prepared.ready
  project.provide('postgresUrl', postgresUrl)
  return async () => {
    if (--prepared.users > 0) return
    delete run.prepared
    await release()
  }
}

async function prepare(): Promise<Prepared> {
  const own = process.env['HOLDFAST_TEST_PG']
  if (own) {
    await assertAnswers(own)
    return { postgresUrl: own, release: await buildPrograms() }
  }
  const [server, removePrograms] = await Promise.all([startPostgres(), buildPrograms()])
  return {
    postgresUrl: server.url,
    release: async () => {
      await removePrograms()
      await server.stop()
    },
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
