import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { inject } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }

const pinned: Readonly<Record<string, string>> = packageJson.devDependencies

export interface Ran {
  readonly status: number | null
  readonly output: string
}

/** A folder with nothing in it, far from this project, into which things are installed as anybody would: by npm, from its registry. */
export interface EmptyProject {
  readonly folder: string
  write(path: string, text: string): void
  /** The tarball, and packages: by name alone in the version that is tested here, or as npm takes them. */
  install(...packages: readonly string[]): void
  /** `npm`, `npx`, `node` or a program that was installed. */
  run(program: string, args: readonly string[], cwd?: string): Ran
  /** Starts it, and returns what the first line that fits says. It ends with the project. */
  start(args: readonly string[], output: RegExp, options?: StartOptions): Promise<string>
  remove(): void
}

export interface StartOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

const minute = 60_000

export function createEmptyProject(): EmptyProject {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-empty-'))
  const started: ChildProcess[] = []
  // Not the tools of this project, which `npm run` has put in front.
  const PATH = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((place) => !place.includes(`node_modules`))
  const env = {
    ...process.env,
    PATH: [dirname(process.execPath), ...PATH].join(delimiter),
    NEXT_TELEMETRY_DISABLED: '1',
    CI: '1',
  }
  const shell = process.platform === 'win32'

  const run: EmptyProject['run'] = (program, args, cwd = folder) => {
    const { status, stdout, stderr, error } = spawnSync(program, args, {
      cwd,
      env: { ...env, PATH: [join(cwd, 'node_modules/.bin'), env.PATH].join(delimiter) },
      encoding: 'utf8',
      timeout: 15 * minute,
      shell,
    })
    return { status, output: `${stdout}${stderr}${error?.message ?? ''}` }
  }

  return {
    folder,
    run,
    write(path, text) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    },
    install(...packages) {
      const exact = packages.map((name) => (pinned[name] ? `${name}@${pinned[name]}` : name))
      const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
      const { status, output } = run('npm', ['install', ...quiet, inject('tarball'), ...exact])
      if (status !== 0) throw new Error(`npm install ${exact.join(' ')}: ${output}`)
    },
    start(args, says, options = {}) {
      const child = spawn(process.execPath, args, {
        cwd: options.cwd ?? folder,
        env: { ...env, ...options.env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      started.push(child)
      return firstMatch(child, says)
    },
    remove() {
      for (const child of started) child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Reads on after it, so that the program never waits for a reader. */
function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    const addOutput = (text: string) => {
      output += text
      const found = pattern.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout?.setEncoding('utf8').on('data', addOutput)
    child.stderr?.setEncoding('utf8').on('data', addOutput)
    child.on('error', reject)
    child.on('exit', (code) => reject(new Error(`It ended with ${code}:\n${output}`)))
  })
}
