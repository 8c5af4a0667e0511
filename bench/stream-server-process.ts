import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../test/support/postgres-server.ts'

export interface StreamServer {
  readonly url: string
  /** What the process holds after it has collected its garbage. */
  memory(): Promise<Memory>
  /** What it holds as it is. */
  rss(): Promise<number>
  /** The CPU time of the process so far. */
  cpuMs(): Promise<number>
  /** The longest that its main thread worked without a break since this was last asked, by its CPU time. */
  longestMs(): Promise<number>
  close(): Promise<void>
}
export interface Memory {
  readonly rss: number
  readonly heapUsed: number
}

/** Runs the same work against one server on each database, one after the other. */
export async function onEachDatabase(
  work: (name: string, server: StreamServer) => Promise<void>,
  /** Further arguments of Node. */
  flags: readonly string[] = [],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  await onServer('SQLite', join(folder, 'chat.db'), work, flags)
  rmSync(folder, { recursive: true })
  const own = process.env['HOLDFAST_TEST_PG']
  const database = own === undefined ? await startPostgres() : { url: own, stop: async () => {} }
  await onServer('PostgreSQL', database.url, work, flags)
  await database.stop()
}

async function onServer(
  name: string,
  db: string,
  work: (name: string, server: StreamServer) => Promise<void>,
  flags: readonly string[],
): Promise<void> {
  const server = await startStreamServer(db, flags)
  await work(name, server)
  await server.close()
}

async function startStreamServer(db: string, flags: readonly string[]): Promise<StreamServer> {
  const child = fork(join(import.meta.dirname, 'stream-server.ts'), {
    execArgv: ['--conditions=holdfast-source', '--expose-gc', ...flags],
    env: { ...process.env, DB: db },
  })
  const exited = once(child, 'exit')
  const nextMessage = async <Answer>(): Promise<Answer> => {
    const answer = await Promise.race([once(child, 'message'), exited.then(() => undefined)])
    if (answer === undefined) throw new Error('The server for the bench has died.')
    return answer[0] as Answer
  }
  const { url } = await nextMessage<{ readonly url: string }>()
  return {
    url,
    memory() {
      child.send('memory')
      return nextMessage()
    },
    cpuMs() {
      child.send('cpu')
      return nextMessage()
    },
    longestMs() {
      child.send('longest')
      return nextMessage()
    },
    rss() {
      child.send('rss')
      return nextMessage()
    },
    async close() {
      child.disconnect()
      await exited
    },
  }
}
