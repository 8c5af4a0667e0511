import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { typeStripping } from './type-stripping.ts'

export interface PostgresServer {
  /** A superuser's connection string. */
  readonly url: string
  /** Where the server keeps everything; gone after `stop`. */
  readonly folder: string
  stop(): Promise<void>
}

export interface PostgresOptions {
  /** The folder of its programs. Default: those of npm, which have no `pg_dump` with them. */
  readonly bin?: string
}

/**
 * Starts a real PostgreSQL with its usual durability, on a free port of 127.0.0.1, in a folder of its
 * own. It ends with `stop()`, or with this process, however that ends.
 */
export async function startPostgres({ bin }: PostgresOptions = {}): Promise<PostgresServer> {
  const keeper = spawn(
    process.execPath,
    [...typeStripping, join(import.meta.dirname, 'postgres-keeper.ts')],
    {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...(bin === undefined ? {} : { HOLDFAST_TEST_PG_BIN: bin }) },
    },
  )
  let complaints = ''
  keeper.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const exited = once(keeper, 'close')
  const firstLine = once(createInterface(keeper.stdout), 'line').then(([line]) => String(line))

  const ready = await Promise.race([firstLine, exited.then(() => undefined)])
  if (ready === undefined) {
    throw new Error(
      `The PostgreSQL for the tests did not start.\n${complaints.trim()}\n` +
        'Set HOLDFAST_TEST_PG to the URL of a PostgreSQL of your own to use that instead.',
    )
  }
  const { url, folder } = parseReady(ready)

  return {
    url,
    folder,
    async stop() {
      keeper.stdin.end()
      await exited
      if (keeper.exitCode !== 0) {
        throw new Error(`PostgreSQL did not stop cleanly.\n${complaints.trim()}`)
      }
    },
  }
}

function parseReady(line: string): { readonly url: string; readonly folder: string } {
  const value: unknown = JSON.parse(line)
  if (
    typeof value === 'object' &&
    value !== null &&
    'url' in value &&
    typeof value.url === 'string' &&
    'folder' in value &&
    typeof value.folder === 'string'
  ) {
    return { url: value.url, folder: value.folder }
  }
  throw new Error(`The PostgreSQL keeper said something unexpected: ${line}`)
}
