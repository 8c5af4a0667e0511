import { spawnSync } from 'node:child_process'

/** Runs a program of node_modules/.bin with its output shown; returns its exit code. */
export function runCommand(program: string, args: readonly string[]): number {
  // On Windows these programs are .cmd files, which need a shell.
  const shell = process.platform === 'win32'
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', shell })
  if (error) console.error(`${program} could not be started: ${error.message}`)
  return status ?? 1
}
