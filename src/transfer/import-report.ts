import type { CallState } from '../core/call.ts'
import type { Failed, Mended } from '../import/old-message.ts'

/** What an import has to say: what it read, what it guessed and mended, what it could not read. */
export interface ImportReport {
  /** Nothing was written. */
  readonly dryRun?: true
  readonly threads: number
  readonly messages: number
  readonly calls: number
  /** The calls that were read, by the state in which they are shown now; only those that there are. */
  readonly callsByState: Readonly<Partial<Record<CallState, number>>>
  /** Messages that were there already, from an import before. */
  readonly skipped: number
  /** Messages that were there already, and of which more was read now: a result, the rest of an answer. */
  readonly updated: number
  /** Where the data does not say it, and something had to be assumed. */
  readonly guessed: readonly Mended[]
  /** Stored, but otherwise than it stood there. */
  readonly mended: readonly Mended[]
  /** Not stored. */
  readonly failed: readonly Failed[]
  /** How many more were guessed, mended or failed than are listed. */
  readonly unlisted?: {
    readonly guessed: number
    readonly mended: number
    readonly failed: number
  }
}
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
  finish(): ImportReport
}

/** `listed` is how many problems of each kind are kept: a list that grows with the file would not fit. */
export function createReportWriter(
  listed: number,
  onProblem: (problem: ImportProblem) => void,
): ReportWriter {
  const counts = { threads: 0, messages: 0, skipped: 0, updated: 0 }
  const callsByState: Partial<Record<CallState, number>> = {}
  let calls = 0
  const said = { guessed: [] as Mended[], mended: [] as Mended[] }
  const failed: Failed[] = []
  const unlisted = { guessed: 0, mended: 0, failed: 0 }
  const note = (kind: 'guessed' | 'mended', where: string, what: string) => {
    if (said[kind].length < listed) said[kind].push({ where, what })
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
    finish() {
      const { threads, messages, skipped, updated } = counts
      const isAll = unlisted.guessed + unlisted.mended + unlisted.failed === 0
      return {
        ...{ threads, messages, calls, callsByState, skipped, updated },
        ...{ ...said, failed },
        ...(isAll ? {} : { unlisted }),
      }
    },
  }
}
