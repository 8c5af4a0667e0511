import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { buildPackage } from '../../scripts/build-package.ts'

const project = join(import.meta.dirname, '../..')
const programs = join(project, 'node_modules/.bin')

export interface Ran {
  readonly status: number
  readonly output: string
}

/** A project of somebody's own, with the package in it as it is published. */
export interface UserProject {
  readonly folder: string
  write(path: string, text: string): void
  /** A program of node_modules/.bin, or `node`. */
  run(program: string, args: readonly string[], env?: NodeJS.ProcessEnv, timeoutMs?: number): Ran
  remove(): void
}

/** Built and packed from the sources as they are. Whatever else a block may import is the one that is tested here. */
export function createUserProject(): UserProject {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-user-'))
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(join(project, 'node_modules'))) {
    if (name.startsWith('.') || name === 'holdfast') continue
    symlinkSync(join(project, 'node_modules', name), join(modules, name), 'junction')
  }
  const run: UserProject['run'] = (program, args, env = {}, timeoutMs = 60_000) => {
    const { status, stdout, stderr, error } = spawnSync(
      program === 'node' ? process.execPath : join(programs, program),
      args,
      {
        cwd: folder,
        encoding: 'utf8',
        timeout: timeoutMs,
        shell: process.platform === 'win32',
        env: { ...process.env, PATH: `${programs}${delimiter}${process.env['PATH']}`, ...env },
      },
    )
    return { status: status ?? 1, output: `${stdout}${stderr}${error?.message ?? ''}` }
  }
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  buildPackage(join(modules, 'holdfast'))
  write('package.json', JSON.stringify({ name: 'somebodys-own', private: true, type: 'module' }))
  return {
    folder,
    write,
    run,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
