import { spawnSync } from 'node:child_process'
import { isAbsolute } from 'node:path'

/** Runs a program, by its path or from node_modules/.bin, with its output shown; returns its exit code. */
export function runCommand(program: string, args: readonly string[]): number {
  // On Windows the programs of node_modules/.bin are .cmd files, which need a shell.
  const shell = process.platform === 'win32' && !isAbsolute(program)
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', shell })
  if (error) console.error(`${program} could not be started: ${error.message}`)
  return status ?? 1
}
