import { checkCommand } from './check.ts'
import { CliError, explain } from './cli-error.ts'
import type { Command, ExitCode } from './command.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { serveCommand } from './serve.ts'
import { createTerminal } from './terminal.ts'
import { readVersion } from './version.ts'

const commands: readonly Command[] = [serveCommand, importCommand, exportCommand, checkCommand]

const overview = (): string => `holdfast: a chat backend in which the database is the only truth

${commands.map(({ name, summary }) => `  holdfast ${name.padEnd(8)} ${summary}`).join('\n')}

  holdfast COMMAND --help   what a command takes
  holdfast --version

HOLDFAST_DB names the database: a file, or a postgres:// URL. Without it: holdfast.db, here.`

export async function runCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<ExitCode> {
  const terminal = createTerminal(process.stdout, process.stderr, env)
  const [name, ...rest] = args
  const command = commands.find((known) => known.name === name)
  try {
    if (command !== undefined) {
      if (rest.includes('--help') || rest.includes('-h')) {
        terminal.print(command.help)
        return 0
      }
      return await command.run({ args: rest, env, terminal })
    }
    if (name === '--version' || name === '-v') {
      terminal.print(readVersion())
      return 0
    }
    if (name === '--help' || name === '-h' || name === 'help') {
      terminal.print(overview())
      return 0
    }
    if (name === undefined) throw new CliError(overview())
    throw new CliError(
      `There is no command "${name}". Run \`holdfast --help\` for those there are.`,
    )
  } catch (error) {
    terminal.note(`${terminal.paint('red', 'holdfast:')} ${explain(error)}`)
    return 2
  }
}
