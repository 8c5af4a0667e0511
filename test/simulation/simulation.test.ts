import { coverageKinds, simulate } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { describeFailure, formatCoverage, type SeedRuns, runSeeds, stores } from './run-seeds.ts'
import { pinnedSeeds } from './pinned-seeds.ts'

const batchSize = 250
/** The first seed of each; the second has what happens seldom. `npm run simulate` runs as many others as one likes. */
const memoryBatches = [1, 5_001]
const sqliteSeeds = 150
const timeoutMs = 120_000
const runs: SeedRuns[] = []
/** The traces of the seeds that run on both stores. */
const memoryTraces = new Map<number, string>()

describe('a few processes over one store, whatever happens to them', () => {
  it.each(memoryBatches)(
    '[LG1 LG2 LG3 LG4 LG6 LG8 LG9 CL2 CL3 CR1 CR2 CR3 CR4 CR5 AP1 AP2 AP3 AP5 RS2 RS5 ST1 ST3] keep their promises in memory, seeds from %i',
    async (from) => {
      const ran = await runSeeds(from, batchSize, { openStore: stores.memory })
      for (const { seed, trace } of ran.reports) {
        if (seed <= sqliteSeeds) memoryTraces.set(seed, trace.join('\n'))
      }
      runs.push({ ...ran, reports: [] })
      expect(ran.failures).toEqual([])
    },
    timeoutMs,
  )

  it(
    '[LG4 CR1] keep them on SQLite, and do the same there step by step',
    async () => {
      const { failures, reports } = await runSeeds(1, sqliteSeeds, { openStore: stores.sqlite })
      expect(failures).toEqual([])
      for (const { seed, trace } of reports) {
        if (memoryTraces.has(seed)) expect(trace.join('\n')).toBe(memoryTraces.get(seed))
      }
    },
    timeoutMs,
  )

  it('meet everything that can happen', () => {
    const happened = Object.fromEntries(
      coverageKinds.map((kind) => [
        kind,
        runs.reduce((sum, { coverage }) => sum + coverage[kind], 0),
      ]),
    ) as SeedRuns['coverage']
    process.stdout.write(`${formatCoverage(happened)}\n`)
    expect(coverageKinds.filter((kind) => happened[kind] === 0)).toEqual([])
  })
})

describe('a seed', () => {
  it('gives the same trace twice', async () => {
    // Seed 1 once differed by when the garbage collector came.
    for (const seed of [1, 3, 14, 159]) {
      const first = await simulate({ seed, openStore: stores.memory })
      const again = await simulate({ seed, openStore: stores.memory })
      expect(again).toEqual(first)
    }
  })

  it.each(pinnedSeeds)('$seed no longer finds: $bug', async ({ seed }) => {
    const report = await simulate({ seed, openStore: stores.memory })
    expect(report.violations.length === 0 ? '' : describeFailure(report)).toBe('')
  })
})
