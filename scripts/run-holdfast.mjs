// `holdfast` in a clone: the sources, on the Node that `npm install` put into node_modules, and on the
// database of `npm start`. Plain JavaScript: npx starts this with whatever Node is installed.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodePackage } from './node-package.mjs'

const project = fileURLToPath(new URL('..', import.meta.url))
const { name, program } = nodePackage(process.platform, process.arch)
const node = join(project, 'node_modules', name, program)

if (!existsSync(node)) {
  console.error(
    `holdfast: In a clone this runs on the Node of ${name}, which is not in node_modules. Run \`npm install\` first.`,
  )
  process.exit(2)
}

const child = spawn(
  node,
  ['--conditions=holdfast-source', join(project, 'src/cli/holdfast.ts'), ...process.argv.slice(2)],
  { stdio: 'inherit', env: { ...process.env, ...databaseOfStart() } },
)

// A terminal sends Ctrl-C to both processes itself; `serve` would take a second one for "at once".
const isTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)
process.on('SIGINT', () => {
  if (!isTerminal) child.kill('SIGINT')
})
process.on('SIGTERM', () => child.kill('SIGTERM'))
process.on('SIGHUP', () => child.kill('SIGHUP'))

child.on('error', (error) => {
  console.error(`holdfast: ${node} could not be started: ${error.message}`)
  process.exit(2)
})
// Ends as the child did, so that a shell sees no difference.
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 2)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})

/**
 * npm runs `npm start` in the project's folder wherever it was typed, and npx stays where it was typed:
 * without this, a folder further down would have a database of its own.
 */
function databaseOfStart() {
  if (process.env['HOLDFAST_DB']) return {}
  const way = relative(process.cwd(), project)
  const isInside = way === '' || way.split(sep).every((step) => step === '..')
  return isInside ? { HOLDFAST_DB: join(way, 'holdfast.db') } : {}
}
