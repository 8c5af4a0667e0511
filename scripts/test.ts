// npm test: every check, in order, up to the first that fails. With --quick (npm run check), only the
// tests beside the sources, which need no database.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findNode, promisedNodes } from '../test/support/promised-nodes.ts'
import { olderNodeTests } from './node-tests.ts'
import { packageVariable } from './package-variable.ts'
import { runCommand } from './run-command.ts'
import { parseScriptArguments } from './script-arguments.ts'
import { addTestCounts, formatTestCounts, noTests, readTestCounts } from './vitest-report.ts'

interface Stage {
  readonly name: string
  run(): number
}

const { values } = parseScriptArguments({
  usage: `npm test
npm run check
npm run test:public-sdk

Format, lint, known faults of dependencies, types, then the tests: all of them, a part of them again on what is public of the AI SDK,
and, on each older Node that is promised, those that depend on it; with --quick (npm run check) only those beside the sources. With
--public-sdk (npm run test:public-sdk) the tests alone, of all that calls a model or shows what it said, on what is public.`,
  options: {
    quick: { type: 'boolean', default: false },
    'public-sdk': { type: 'boolean', default: false },
  },
})
/** Models are called without what is experimental in the AI SDK (src/engine/model/sdk-layer.ts). */
const publicSdk = { HOLDFAST_SDK: 'public' }
const ofModels = ['src/engine/', 'src/views/', 'src/testing/', 'test/engine/', 'test/providers/']
const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
const vitest = join(import.meta.dirname, '../node_modules/vitest/vitest.mjs')
let counts = noTests

const publicSdkStage = (tests: readonly string[]): Stage => ({
  name: 'tests on the public functions of the AI SDK',
  run: () => runTests(process.execPath, tests, publicSdk),
})

const everyStage: readonly Stage[] = [
  { name: 'format', run: () => runCommand('oxfmt', ['--check', '.']) },
  { name: 'lint', run: () => runCommand('oxlint', []) },
  {
    name: 'known faults of dependencies',
    run: () => runCommand(process.execPath, [join(import.meta.dirname, 'audit-lockfile.ts')]),
  },
  { name: 'types', run: () => runCommand('tsc', ['-p', 'tsconfig.json']) },
  { name: 'types of the pure folders', run: () => runCommand('tsc', ['-p', 'tsconfig.pure.json']) },
  {
    name: 'tests',
    run: () =>
      runTests(process.execPath, [
        '--project=unit',
        ...(values.quick ? [] : ['--project=shared', '--project=suite']),
      ]),
  },
  ...(values.quick ? [] : [publicSdkStage(['test/engine/turn', 'test/providers/'])]),
  ...(values.quick ? [] : promisedNodes.map(olderNodeStage)),
]
const stages = values['public-sdk']
  ? [publicSdkStage([...ofModels, 'test/demo/', 'test/server/', 'test/simulation/', 'test/crash/'])]
  : everyStage

const failedStage = stages.find((stage) => {
  console.log(`\n── ${stage.name}`)
  return stage.run() !== 0
})
rmSync(folder, { recursive: true })

if (failedStage) {
  console.error(`\nStopped: ${failedStage.name} failed, see above.`)
  process.exitCode = 1
  // What fails outside a test (a wrong format, an error that no test caught) counts as one failure, so
  // that the closing line never looks like success when there was none.
  counts = { ...counts, failed: Math.max(1, counts.failed) }
}
console.log(`\n${formatTestCounts(counts)}`)

function olderNodeStage(node: (typeof promisedNodes)[number]): Stage {
  const found = findNode(node)
  if (found.kind === 'found') {
    return {
      name: `tests on Node ${found.version}`,
      run: () => runTests(found.program, olderNodeTests),
    }
  }
  return {
    name: `tests on ${node}: ${found.reason}`,
    run() {
      if (found.kind === 'not-installed') return 1
      counts = addTestCounts(counts, { ...noTests, skipped: 1 })
      return 0
    },
  }
}

function runTests(
  node: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): number {
  const reportFile = join(folder, 'report.json')
  rmSync(reportFile, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const status = runCommand(node, [vitest, 'run', ...reporters, ...args], {
    env: { [packageVariable]: join(folder, 'installed'), ...env },
  })
  if (existsSync(reportFile)) counts = addTestCounts(counts, readTestCounts(reportFile))
  return status
}
