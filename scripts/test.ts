// npm test: every check, in order, up to the first that fails. With --quick (npm run check), only the
// tests beside the sources, which need no database.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './run-command.ts'
import { formatTestCounts, readTestCounts, type TestCounts } from './vitest-report.ts'

interface Stage {
  readonly name: string
  run(): number
}

const quick = process.argv.includes('--quick')
const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
const reportFile = join(folder, 'report.json')

const stages: readonly Stage[] = [
  { name: 'format', run: () => runCommand('oxfmt', ['--check', '.']) },
  { name: 'lint', run: () => runCommand('oxlint', []) },
  { name: 'types', run: () => runCommand('tsc', ['-p', 'tsconfig.json']) },
  { name: 'types of the pure folders', run: () => runCommand('tsc', ['-p', 'tsconfig.pure.json']) },
  {
    name: 'tests',
    run: () =>
      runCommand('vitest', [
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${reportFile}`,
        ...(quick ? ['--project=unit'] : []),
      ]),
  },
]

const failedStage = stages.find((stage) => {
  console.log(`\n── ${stage.name}`)
  return stage.run() !== 0
})
const counts = readCounts(failedStage !== undefined)
rmSync(folder, { recursive: true })

if (failedStage) {
  console.error(`\nStopped: ${failedStage.name} failed, see above.`)
  process.exitCode = 1
}
console.log(`\n${formatTestCounts(counts)}`)

// What fails outside a test (a wrong format, an error that no test caught) counts as one failure, so
// that the closing line never looks like success when there was none.
function readCounts(hasFailed: boolean): TestCounts {
  const counts = existsSync(reportFile)
    ? readTestCounts(reportFile)
    : { passed: 0, failed: 0, skipped: 0 }
  return hasFailed ? { ...counts, failed: Math.max(1, counts.failed) } : counts
}
