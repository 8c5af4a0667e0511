import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Account, type Command, listAccounts } from './postgres-account.ts'
import { findPostgresBinaries } from './postgres-binaries.ts'

const PORT_ATTEMPTS = 5
const READY_MESSAGE = 'database system is ready to accept connections'

export interface Cluster {
  readonly account: Account
  readonly dataFolder: string
}

export interface Server {
  readonly process: ChildProcess
  readonly port: number
}

/** A new, empty cluster below `folder`, under the first account that PostgreSQL accepts. */
export async function createCluster(folder: string, password: string): Promise<Cluster> {
  const failures: string[] = []
  const binaries = await findPostgresBinaries()
  const collation = collationOf(binaries.initdb)
  for (const [index, account] of listAccounts(binaries).entries()) {
    const home = join(folder, `attempt-${index}`)
    const passwordFile = join(home, 'password')
    const dataFolder = join(home, 'data')
    try {
      await mkdir(home, { mode: 0o700 })
      await account.prepare(home)
      await writeFile(passwordFile, password)
      await runToEnd(
        home,
        account.command('initdb', [
          `--pgdata=${dataFolder}`,
          '--username=postgres',
          `--pwfile=${passwordFile}`,
          '--auth=scram-sha-256',
          '--encoding=UTF8',
          '--locale=C',
          ...collation,
          // About the files that initdb makes; the running server syncs as usual.
          '--no-sync',
        ]),
      )
      await rm(passwordFile)
      return { account, dataFolder }
    } catch (error) {
      failures.push(`as ${account.name}: ${error instanceof Error ? error.message : String(error)}`)
      await rm(home, { recursive: true, force: true })
    }
  }
  throw new Error(`initdb did not work.\n${failures.join('\n')}`)
}

/**
 * Text is compared as on most real servers. Under C, where order is by byte, a query that wrongly relies on it would pass. PostgreSQL 14
 * cannot be made so, and has to do with C.
 */
function collationOf(initdb: string): readonly string[] {
  const { stdout } = spawnSync(initdb, ['--version'], { encoding: 'utf8' })
  return / 14\./.test(stdout) ? [] : ['--locale-provider=icu', '--icu-locale=en-US']
}

/** On a free port of 127.0.0.1, with `settings` besides. */
export async function startServer(
  cluster: Cluster,
  settings: readonly string[] = [],
  readyMessage = READY_MESSAGE,
): Promise<Server> {
  let lastOutput = ''
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt += 1) {
    const port = await findFreePort()
    const options = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'max_connections=100',
      ...settings,
    ].flatMap((option) => ['-c', option])
    const child = start(
      cluster.dataFolder,
      cluster.account.command('postgres', ['-D', cluster.dataFolder, '-p', `${port}`, ...options]),
    )
    const output = await waitForLine(child, readyMessage)
    if (output === undefined) return { process: child, port }
    lastOutput = output
    // Somebody may have taken the port between our look and PostgreSQL's.
    if (!output.includes('Address already in use')) break
  }
  throw new Error(`PostgreSQL did not start.\n${lastOutput}`)
}

export async function stopServer(running: Server): Promise<void> {
  if (running.process.exitCode !== null || running.process.signalCode !== null) return
  const exited = once(running.process, 'exit')
  // PostgreSQL's "fast shutdown": open connections are closed, nobody is waited for.
  running.process.kill('SIGINT')
  await exited
}

/** Resolves to undefined once the line was seen, or to all output if the process ended first. */
function waitForLine(child: ChildProcess, line: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let output = ''
    let seen = false
    child.once('error', reject)
    child.once('close', () => resolve(output))
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        // Read on after that, or the pipe fills up and PostgreSQL stops; but keep nothing.
        if (seen) return
        output += text
        seen = output.includes(line)
        if (seen) resolve(undefined)
      })
    }
  })
}

async function runToEnd(folder: string, command: Command): Promise<void> {
  const child = start(folder, command)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`ended with ${code ?? 'a signal'}: ${output.trim()}`)
}

function start(folder: string, command: Command): ChildProcess {
  return spawn(command.file, command.args, {
    // Not the parent's folder, which the account may not be able to enter.
    cwd: folder,
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(command.uid === undefined ? {} : { uid: command.uid, gid: command.gid }),
  })
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('No free port was found')
  return address.port
}
