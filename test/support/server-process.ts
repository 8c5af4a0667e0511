import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Program, programArguments } from './programs.ts'

export interface ServerProcess {
  readonly url: string
  readonly pid: number
  /** What it has logged so far. */
  readonly logs: readonly Readonly<Record<string, unknown>>[]
  /** Resolves with the first log that fits, past or to come. */
  log(fits: (record: Readonly<Record<string, unknown>>) => boolean): Promise<unknown>
  /** Asks it to go, and resolves with its exit code. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

export interface ServerProcessOptions {
  /** What runs in it. Default: the demo server. */
  readonly program?: Program
  /** A file or a `postgres://` address. */
  readonly db: string
  readonly env?: Readonly<Record<string, string>>
}

/** Starts the demo server in a process of its own, and waits until it answers. */
export async function startServerProcess({
  db,
  env = {},
  program = 'test/support/demo-server.ts',
}: ServerProcessOptions): Promise<ServerProcess> {
  const child = spawn(process.execPath, programArguments(program), {
    env: { ...process.env, ...env, DB: db },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code))
  })
  let trouble = ''
  child.stderr.on('data', (bytes: Buffer) => (trouble += bytes.toString()))
  const logs: Readonly<Record<string, unknown>>[] = []
  let wake = Promise.withResolvers<void>()
  const started = Promise.withResolvers<string>()
  createInterface(child.stdout).on('line', (line) => {
    const said = JSON.parse(line) as { url?: string; log?: Readonly<Record<string, unknown>> }
    if (said.url !== undefined) started.resolve(said.url)
    if (said.log === undefined) return
    logs.push(said.log)
    wake.resolve()
    wake = Promise.withResolvers<void>()
  })
  void exited.then(() => started.reject(new Error(`The server did not start: ${trouble}`)))
  return {
    url: await started.promise,
    pid: child.pid ?? 0,
    logs,
    async log(fits) {
      for (let from = 0; ;) {
        const found = logs.slice(from).find(fits)
        if (found !== undefined) return found
        from = logs.length
        await wake.promise
      }
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return exited
    },
  }
}
