import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Program, programArguments, programFile, sourceArguments } from './programs.ts'

const project = join(import.meta.dirname, '../..')

/** The app as `npm start` runs it: a process of its own, on a database of its own. */
export interface AppServer {
  readonly url: string
  readonly folder: string
  /** As if the power went: nothing is output, nothing is finished. */
  kill(): Promise<void>
  /** Again on the same address and the same database. */
  restart(): Promise<void>
  close(): Promise<void>
}

export interface AppServerOptions {
  readonly delayMs?: number
  readonly env?: Readonly<Record<string, string>>
  /** A config of the test's own in place of the app's. */
  readonly config?: Program & `${string}.config.ts`
  /** Exactly what `npm start` runs. Otherwise it is the same, bundled, which starts in a third of the time. */
  readonly fromSources?: boolean
}

export async function startAppServer(options: AppServerOptions = {}): Promise<AppServer> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-app-'))
  const env = {
    ...process.env,
    HOLDFAST_DB: join(folder, 'chat.db'),
    HOLDFAST_DEMO_DELAY_MS: String(options.delayMs ?? 5),
    HOLDFAST_DEMO_CHARGES: join(folder, 'charges.log'),
    ...options.env,
  }
  const program = options.fromSources
    ? sourceArguments('scripts/start.ts')
    : [
        ...programArguments('scripts/start.ts'),
        ...['--config', programFile(options.config ?? 'app/holdfast.config.ts')],
      ]
  let running = await start('0', env, program)
  const { url } = running
  return {
    url,
    folder,
    kill: () => end(running.child, 'SIGKILL'),
    async restart() {
      running = await start(new URL(url).port, env, program)
    },
    async close() {
      await end(running.child, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Running {
  readonly child: ChildProcess
  readonly url: string
}

function start(port: string, env: NodeJS.ProcessEnv, program: readonly string[]): Promise<Running> {
  const args = [...program, '--port', port, '--log', 'off']
  const child = spawn(process.execPath, args, {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return new Promise((resolve, reject) => {
    let output = ''
    const addOutput = (data: Buffer) => {
      output += data.toString()
      const [url] = /http:\/\/\S+/.exec(output) ?? []
      if (url !== undefined) resolve({ child, url })
    }
    child.stdout.on('data', addOutput)
    child.stderr.on('data', addOutput)
    child.once('exit', () => reject(new Error(`The app did not start:\n${output}`)))
  })
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill(signal)
  })
}
