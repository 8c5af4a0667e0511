import {
  addCoverage,
  emptyCoverage,
  type CoverageKind,
  coverageKinds,
  type SimulatedStoreOptions,
  simulate,
  type SimulationOptions,
  type SimulationReport,
} from 'holdfast/testing'
import { memory, type Store } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'

export type OpenStore = (options: SimulatedStoreOptions) => Store

/** Nobody else writes to these files, and a timer would tick in real time. */
const neverMs = 1_000_000

export const stores = {
  memory: (options) => memory(options),
  sqlite: (options) => sqlite(':memory:', { ...options, pollMs: neverMs }),
} as const satisfies Readonly<Record<string, OpenStore>>

export interface SeedRuns {
  readonly failures: readonly string[]
  readonly coverage: Readonly<Record<CoverageKind, number>>
  /** The trace of each seed, in order. */
  readonly reports: readonly SimulationReport[]
}

export async function runSeeds(
  from: number,
  count: number,
  options: Omit<SimulationOptions, 'seed'>,
): Promise<SeedRuns> {
  const coverage = emptyCoverage()
  const failures: string[] = []
  const reports: SimulationReport[] = []
  for (let seed = from; seed < from + count; seed++) {
    const report = await simulate({ ...options, seed })
    reports.push(report)
    addCoverage(coverage, report.coverage)
    if (report.violations.length > 0) failures.push(describeFailure(report))
  }
  return { failures, coverage, reports }
}

export function describeFailure({ seed, violations, trace }: SimulationReport): string {
  const broken = violations.map(({ rule, message }) => `  ${rule} ${message}`)
  return [`seed ${seed}`, ...broken, ...trace.slice(-200)].join('\n')
}

export const formatCoverage = (coverage: Readonly<Record<CoverageKind, number>>): string =>
  coverageKinds.map((kind) => `${kind} ${coverage[kind]}`).join(', ')
