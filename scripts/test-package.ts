// npm run test:package: the packed package in empty projects, installed from the registry.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from './run-command.ts'
import { parseScriptArguments, refuseArguments } from './script-arguments.ts'

const project = join(import.meta.dirname, '..')
const parts = readdirSync(join(project, 'test/projects'))
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => name.replace('.test.ts', ''))
const usage = `npm run test:package -- [PART …]

Builds the tarball that would be published and installs it into empty projects, as people do: plain Node, TypeScript from 5.4 on with both
ways of resolving, Next, and what \`npx holdfast init\` writes, in a browser. Needs the registry. Exit code 1 if a test fails.

PART is ${parts.join(', ')}; without one: all.`
const { positionals } = parseScriptArguments({ usage, words: parts.length })
const unknown = positionals.find((part) => !parts.includes(part))
if (unknown !== undefined) refuseArguments(`There is no part "${unknown}".`, usage)

const files = positionals.map((part) => `test/projects/${part}.test.ts`)
process.exitCode = runCommand('vitest', ['run', '--project=projects', ...files], { cwd: project })
