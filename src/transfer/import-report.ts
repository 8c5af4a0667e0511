import type { CallState } from '../core/call.ts'
import type { Failed, Mended, ReportKind } from '../import/old-message.ts'

/** The report of an import: what it read, guessed and repaired, and what it could not read. */
export interface ImportReport {
  /** A dry run: nothing was written. */
  readonly dryRun?: true
  readonly threads: number
  readonly messages: number
  readonly calls: number
  /** The calls that were read, by the state in which they are shown now; states without calls are absent. */
  readonly callsByState: Readonly<Partial<Record<CallState, number>>>
  /** Messages that were stored already, by an earlier import. */
  readonly skipped: number
  /** Messages that were stored already and to which this import added: a result, the rest of an answer. */
  readonly updated: number
  /** Assumptions, where the data leaves something open. */
  readonly guessed: readonly Mended[]
  /** Stored differently from the data. */
  readonly mended: readonly Mended[]
  /** Not stored. */
  readonly failed: readonly Failed[]
  /** How many more were guessed, repaired or failed than are listed. */
  readonly unlisted?: {
    readonly guessed: number
    readonly mended: number
    readonly failed: number
  }
}
/** A guess, a repair or a failure of an import. */
export type ImportProblem =
  | ({ readonly kind: 'guessed' | 'mended' } & Mended)
  | ({ readonly kind: 'failed' } & Failed)

type Counted = 'threads' | 'messages' | 'skipped' | 'updated'

export interface ReportWriter {
  count(more: Partial<Record<Counted, number>>): void
  countCalls(states: readonly CallState[]): void
  guess(where: string, what: string): void
  mend(where: string, what: string): void
  fail(where: string, why: string): void
  /** Counts problems that are not listed anywhere. */
  omit(more: Readonly<Record<ReportKind, number>>): void
  finish(): ImportReport
}

/**
 * `listed` is how many problems of each kind are kept: a list that grows with the file would not fit into
 * memory.
 */
export function createReportWriter(
  listed: number,
  onProblem: (problem: ImportProblem) => void,
): ReportWriter {
  const counts = { threads: 0, messages: 0, skipped: 0, updated: 0 }
  const callsByState: Partial<Record<CallState, number>> = {}
  let calls = 0
  const problems = { guessed: [] as Mended[], mended: [] as Mended[] }
  const failed: Failed[] = []
  const unlisted = { guessed: 0, mended: 0, failed: 0 }
  const note = (kind: 'guessed' | 'mended', where: string, what: string) => {
    if (problems[kind].length < listed) problems[kind].push({ where, what })
    else unlisted[kind]++
    onProblem({ kind, where, what })
  }
  return {
    count(more) {
      for (const name of ['threads', 'messages', 'skipped', 'updated'] as const) {
        counts[name] += more[name] ?? 0
      }
    },
    countCalls(states) {
      calls += states.length
      for (const state of states) callsByState[state] = (callsByState[state] ?? 0) + 1
    },
    guess: (where, what) => note('guessed', where, what),
    mend: (where, what) => note('mended', where, what),
    fail(where, why) {
      if (failed.length < listed) failed.push({ where, why })
      else unlisted.failed++
      onProblem({ kind: 'failed', where, why })
    },
    omit(more) {
      for (const kind of ['guessed', 'mended', 'failed'] as const) unlisted[kind] += more[kind]
    },
    finish() {
      const { threads, messages, skipped, updated } = counts
      const isAll = unlisted.guessed + unlisted.mended + unlisted.failed === 0
      return {
        ...{ threads, messages, calls, callsByState, skipped, updated },
        ...{ ...problems, failed },
        ...(isAll ? {} : { unlisted }),
      }
    },
  }
}
