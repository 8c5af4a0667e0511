import { readFileSync } from 'node:fs'

export interface TestCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export const noTests: TestCounts = { passed: 0, failed: 0, skipped: 0 }

export const addTestCounts = (one: TestCounts, other: TestCounts): TestCounts => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
})

/** The counts of the file that Vitest's JSON reporter writes. */
export function readTestCounts(reportFile: string): TestCounts {
  const report: unknown = JSON.parse(readFileSync(reportFile, 'utf8'))
  if (!isReport(report)) throw new Error(`${reportFile} is not a Vitest report`)
  // A file that cannot even be loaded has no tests to fail, and counts as one failure itself.
  const brokenFiles = report.testResults.filter(
    (file) =>
      file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles.length,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

export function formatTestCounts({ passed, failed, skipped }: TestCounts): string {
  const counts = `${passed} passed, ${failed} failed`
  return skipped === 0 ? counts : `${counts}, ${skipped} skipped`
}

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

function isReport(value: unknown): value is Report {
  return (
    typeof value === 'object' &&
    value !== null &&
    'numPassedTests' in value &&
    'testResults' in value &&
    Array.isArray(value.testResults)
  )
}
