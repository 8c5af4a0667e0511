import { createReport, type Report } from '../import/old-message.ts'
import type { ReportWriter } from './import-report.ts'
import type { PlacedValue } from './thread-intake.ts'

export interface PlacedValues {
  readonly messages: readonly PlacedValue[]
  /** What is not shown of the thread (VR1). */
  readonly hidden: readonly PlacedValue[]
  /** How many problems of each kind are held until the thread is written; the others are counted. */
  readonly mostProblems: number
}

/** What is found in the messages of one thread, with their places in the source: of an attempt that failed nothing is told. */
export const createPlacedReport = ({ messages, hidden, mostProblems }: PlacedValues): Report =>
  createReport(
    (index) => (messages[index] ?? hidden[index - messages.length])?.where ?? '',
    mostProblems,
  )

export function copyReport(
  { guessed, mended, failed, unlisted }: Report,
  report: ReportWriter,
): void {
  for (const { where, what } of guessed) report.guess(where, what)
  for (const { where, what } of mended) report.mend(where, what)
  for (const { where, why } of failed) report.fail(where, why)
  report.omit(unlisted)
}
