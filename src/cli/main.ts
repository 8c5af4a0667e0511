import { nearestName } from '../core/check-options.ts'
import { packageVersion } from '../core/package-version.ts'
import { CliError, explain } from './cli-error.ts'
import type { Command, ExitCode, StandardStreams } from './command.ts'
import { createTerminal } from './terminal.ts'

/** Loaded on demand: `export` must not wait for the server's modules. */
interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

const commands: readonly CommandEntry[] = [
  {
    name: 'init',
    summary: 'writes a working chat into an empty folder',
    load: async () => (await import('./init.ts')).initCommand,
  },
  {
    name: 'serve',
    summary: 'serves the HTTP API, and prints its URL when it is ready',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    name: 'import',
    summary: 'imports old threads; can be repeated',
    load: async () => (await import('./import.ts')).importCommand,
  },
  {
    name: 'export',
    summary: 'writes threads to the standard output, in a format that import reads',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  {
    name: 'check',
    summary: 'recomputes every thread from its events and reports damage',
    load: async () => (await import('./check.ts')).checkCommand,
  },
  {
    name: 'migrate',
    summary: 'updates the tables before a deploy',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
]

const overview = (): string => `holdfast: a chat backend for AI agents that use tools

${commands.map(({ name, summary }) => `  holdfast ${name.padEnd(8)} ${summary}`).join('\n')}

  holdfast COMMAND --help   the options of a command
  holdfast --version

HOLDFAST_DB names the database: a file, or a postgres:// URL. Without it: holdfast.db, here.`

/** Runs one command line (`serve`, `import`, `export` …) and resolves with its exit code; it does not exit the process. */
export function runCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<ExitCode> {
  return runWith(process, args, env)
}

export async function runWith(
  streams: StandardStreams,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ExitCode> {
  const terminal = createTerminal(streams.stdout, streams.stderr, env)
  const [name, ...rest] = args
  const entry = commands.find((known) => known.name === name)
  try {
    if (entry !== undefined) {
      const command = await entry.load()
      if (rest.includes('--help') || rest.includes('-h')) {
        terminal.print(command.help)
        return 0
      }
      return await command.run({ args: rest, env, terminal, streams })
    }
    if (name === '--version' || name === '-v') {
      terminal.print(packageVersion)
      return 0
    }
    if (name === '--help' || name === '-h' || name === 'help') {
      terminal.print(overview())
      return 0
    }
    if (name === undefined) {
      terminal.note(overview())
      return 2
    }
    const nearest = nearestName(
      name,
      commands.map((command) => command.name),
    )
    const meant = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
    throw new CliError(`There is no command "${name}".${meant} Run \`holdfast --help\` for a list.`)
  } catch (error) {
    terminal.note(`${terminal.paint('red', 'holdfast:')} ${explain(error)}`)
    return 2
  }
}
