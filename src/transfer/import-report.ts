import type { Failed, Mended } from '../import/report.ts'

/** What an import has to say: what it read, what it mended, what it could not read. */
export interface ImportReport {
  readonly threads: number
  readonly messages: number
  readonly calls: number
  /** Messages that were there already, from an import before. */
  readonly skipped: number
  readonly mended: readonly Mended[]
  readonly failed: readonly Failed[]
  /** How many more were mended or failed than are listed. */
  readonly unlisted?: { readonly mended: number; readonly failed: number }
}
export type ImportProblem =
  | ({ readonly kind: 'mended' } & Mended)
  | ({ readonly kind: 'failed' } & Failed)

export interface ReportWriter {
  count(more: Partial<Record<'threads' | 'messages' | 'calls' | 'skipped', number>>): void
  mend(where: string, what: string): void
  fail(where: string, why: string): void
  finish(): ImportReport
}

/** `listed` is how many problems of each kind are kept: a list that grows with the file would not fit. */
export function createReportWriter(
  listed: number,
  onProblem: (problem: ImportProblem) => void,
): ReportWriter {
  const counts = { threads: 0, messages: 0, calls: 0, skipped: 0 }
  const mended: Mended[] = []
  const failed: Failed[] = []
  const unlisted = { mended: 0, failed: 0 }
  return {
    count(more) {
      for (const name of ['threads', 'messages', 'calls', 'skipped'] as const) {
        counts[name] += more[name] ?? 0
      }
    },
    mend(where, what) {
      if (mended.length < listed) mended.push({ where, what })
      else unlisted.mended++
      onProblem({ kind: 'mended', where, what })
    },
    fail(where, why) {
      if (failed.length < listed) failed.push({ where, why })
      else unlisted.failed++
      onProblem({ kind: 'failed', where, why })
    },
    finish: () => ({
      ...counts,
      mended,
      failed,
      ...(unlisted.mended + unlisted.failed === 0 ? {} : { unlisted }),
    }),
  }
}
