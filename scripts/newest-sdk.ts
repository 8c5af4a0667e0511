// npm run test:newest-sdk: the tests on the newest AI SDK that the registry has.

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { runCommand } from './run-command.ts'
import { parseScriptArguments } from './script-arguments.ts'

const { values } = parseScriptArguments({
  usage: `npm run test:newest-sdk -- [--version VERSION] [--all]

  --version  of \`ai\`: a version, a range or a tag (latest)
  --all      every test, and not only those of what calls a model or shows what it said

Copies the project without its .git, installs that version of the AI SDK and the newest of its providers into the copy, checks
the types of the sources and runs the tests there. Needs the registry. Exit code 1 if anything fails; the project itself is not touched.`,
  options: {
    version: { type: 'string', default: 'latest' },
    all: { type: 'boolean', default: false },
  },
})
const project = join(import.meta.dirname, '..')
const copy = mkdtempSync(join(tmpdir(), 'holdfast-newest-sdk-'))
const packages = [
  `ai@${values.version}`,
  '@ai-sdk/react@latest',
  '@ai-sdk/openai@latest',
  '@ai-sdk/anthropic@latest',
  '@ai-sdk/openai-compatible@latest',
  '@ai-sdk/provider@latest',
]
const projects = ['--project=unit', '--project=shared', '--project=suite']
const tests = [
  'src/',
  'test/engine/',
  'test/providers/',
  'test/server/http-rules',
  'test/server/use-chat',
  'test/docs/stream-text',
]

try {
  process.exitCode = installAndTest()
} finally {
  rmSync(copy, { recursive: true, force: true })
}

function installAndTest(): number {
  const files = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: project,
    encoding: 'utf8',
  })
  for (const file of files.stdout.split('\n').filter((name) => name !== '')) {
    cpSync(join(project, file), join(copy, file), { verbatimSymlinks: true })
  }
  const install = ['install', '--no-save', '--no-audit', '--no-fund', '--legacy-peer-deps']
  const steps: readonly (() => number)[] = [
    () => runCommand('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: copy }),
    () => runCommand('npm', [...install, ...packages], { cwd: copy }),
    () => {
      console.log(`\n── ai ${installedVersion()}`)
      // Of the sources alone: its React package is published later and brings the version before with it, whose types
      // are others to the tests.
      return runCommand('npx', ['tsc', '-p', 'tsconfig.build.json', '--noEmit'], { cwd: copy })
    },
    () =>
      runCommand('npx', ['vitest', 'run', ...projects, ...(values.all ? [] : tests)], {
        cwd: copy,
      }),
  ]
  return steps.some((step) => step() !== 0) ? 1 : 0
}

function installedVersion(): string {
  const manifest = join(copy, 'node_modules/ai/package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }
  return version
}
