import { spawnSync } from 'node:child_process'
import { relative } from 'node:path'
import { CliError } from './cli-error.ts'
import type { Command, CommandContext, ExitCode } from './command.ts'
import { parseArguments } from './parse-arguments.ts'
import type { Terminal } from './terminal.ts'
import { listContent, writeTemplate } from './write-template.ts'

export const initCommand: Command = {
  help: `holdfast init [FOLDER] [--install]

Writes a working chat into an empty folder: a server with one tool, and a page. It is in TypeScript, with the React kit,
a database in one file and a demo model that needs no API key. Needs no network. Without FOLDER: the current folder.

  --install  runs \`npm install\` there too (or pnpm, yarn or bun, if you ran this command with it)

Exit code: 0 written, 1 written but not installed, 2 nothing was written.`,
  run,
}

async function run({ args, env, terminal }: CommandContext): Promise<ExitCode> {
  const { values, positionals } = parseArguments('init', args, { install: { type: 'boolean' } })
  const [folder = '.', ...more] = positionals
  if (more.length > 0 || folder === '') {
    throw new CliError('Name one folder: `holdfast init FOLDER`.')
  }
  const content = await listContent(folder)
  if (content.length > 0) throw notEmpty(folder, content)
  const files = await writeTemplate(folder)
  terminal.print(`Wrote ${files.join(', ')}${folder === '.' ? '' : ` into ${folder}`}.`)

  const manager = packageManager(env)
  const isInstalled = values.install === true && install(manager, folder, terminal)
  const steps = [
    [...enter(folder), ...(isInstalled ? [] : [`${manager} install`])].join(' && '),
    `${manager} run dev    then open the printed URL, and ask: What is the weather in Paris?`,
    'Put your own tool into tools.ts. README.md explains how to use a real model.',
  ].filter((step) => step !== '')
  terminal.print(`\nNext:\n${steps.map((step, index) => `  ${index + 1}. ${step}`).join('\n')}`)
  return values.install === true && !isInstalled ? 1 : 0
}

function notEmpty(folder: string, content: readonly string[]): CliError {
  const shown = content.slice(0, 4).join(', ')
  const rest = content.length > 4 ? ` and ${content.length - 4} more` : ''
  const where = folder === '.' ? 'This folder' : folder
  const other = folder === '.' ? 'my-chat' : `${folder}-2`
  return new CliError(
    `${where} is not empty: it has ${shown}${rest}. Nothing was written. Name a new one: \`npx holdfast init ${other}\`.`,
  )
}

const managers = ['npm', 'pnpm', 'yarn', 'bun'] as const
type Manager = (typeof managers)[number]

/** Each package manager identifies itself to the programs that it starts: `pnpm/10.1.0 npm/? node/v26 …`. */
function packageManager(env: NodeJS.ProcessEnv): Manager {
  const agent = env['npm_config_user_agent'] ?? ''
  return managers.find((name) => agent.startsWith(`${name}/`)) ?? 'npm'
}

/** False if it failed: there may be no network. The written files stay, and the output tells what to do later. */
function install(manager: Manager, folder: string, terminal: Terminal): boolean {
  const { status } = spawnSync(manager, ['install'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status === 0) return true
  terminal.note(
    `holdfast: \`${manager} install\` failed, see above. All files are written; run it again when there is a network.`,
  )
  return false
}

const enter = (folder: string): readonly string[] =>
  relative('.', folder) === '' ? [] : [`cd ${/^[\w./-]+$/.test(folder) ? folder : `"${folder}"`}`]
