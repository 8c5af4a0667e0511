import {
  addTally,
  emptyTally,
  type Kind,
  kinds,
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

export interface Lives {
  readonly failures: readonly string[]
  readonly tally: Readonly<Record<Kind, number>>
  /** The trace of each seed, in order. */
  readonly reports: readonly SimulationReport[]
}

export async function liveSeeds(
  from: number,
  count: number,
  options: Omit<SimulationOptions, 'seed'>,
): Promise<Lives> {
  const tally = emptyTally()
  const failures: string[] = []
  const reports: SimulationReport[] = []
  for (let seed = from; seed < from + count; seed++) {
    const report = await simulate({ ...options, seed })
    reports.push(report)
    addTally(tally, report.tally)
    if (report.violations.length > 0) failures.push(describeFailure(report))
  }
  return { failures, tally, reports }
}

export function describeFailure({ seed, violations, trace }: SimulationReport): string {
  const broken = violations.map(({ rule, message }) => `  ${rule} ${message}`)
  return [`seed ${seed}`, ...broken, ...trace.slice(-200)].join('\n')
}

export const formatTally = (tally: Readonly<Record<Kind, number>>): string =>
  kinds.map((kind) => `${kind} ${tally[kind]}`).join(', ')
