import { spawnSync } from 'node:child_process'
import { isAbsolute } from 'node:path'

/** Where a program runs, if not here, and what its environment has beside this one's. */
interface RunPlace {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program, by its path or from node_modules/.bin, with its output shown; returns its exit code. */
export function runCommand(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: RunPlace = {},
): number {
  // On Windows the programs of node_modules/.bin are .cmd files, which need a shell.
  const shell = process.platform === 'win32' && !isAbsolute(program)
  const { status, error } = spawnSync(program, args, {
    stdio: 'inherit',
    shell,
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  if (error) console.error(`${program} could not be started: ${error.message}`)
  return status ?? 1
}
