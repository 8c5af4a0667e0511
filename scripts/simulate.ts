// npm run simulate: runs many seeds, or prints the trace of one.

import { memory } from '../src/store/memory/index.ts'
import { sqlite } from '../src/store/sqlite/index.ts'
import { addCoverage, emptyCoverage, coverageKinds, simulate } from '../src/testing/index.ts'
import { parseScriptArguments, refuseArguments } from './script-arguments.ts'

const usage = `npm run simulate -- [--seeds N] [--from SEED] [--seed SEED] [--store memory|sqlite]

  --seeds   how many seeds to run (1000)
  --from    the first of them (1)
  --seed    runs this one alone, and prints its trace
  --store   the store that it runs on (memory)`
const { values } = parseScriptArguments({
  usage,
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    store: { type: 'string', default: 'memory' },
  },
})

for (const name of ['seeds', 'from', 'seed'] as const) {
  const value = values[name]
  if (value !== undefined && !/^\d{1,15}$/.test(value)) {
    refuseArguments(`--${name} is a whole number, not "${value}".`, usage)
  }
}
if (values.store !== 'memory' && values.store !== 'sqlite') {
  refuseArguments(`--store is memory or sqlite, not "${values.store}".`, usage)
}

const openStore: Parameters<typeof simulate>[0]['openStore'] =
  values.store === 'sqlite'
    ? (options) => sqlite(':memory:', { ...options, pollMs: 1_000_000 })
    : (options) => memory(options)

if (values.seed === undefined) await runMany(Number(values.from), Number(values.seeds))
else await runOne(Number(values.seed))

async function runOne(seed: number): Promise<void> {
  const { trace, violations } = await simulate({ seed, openStore })
  console.log(trace.join('\n'))
  if (violations.length > 0) process.exitCode = 1
}

async function runMany(from: number, count: number): Promise<void> {
  const coverage = emptyCoverage()
  const started = performance.now()
  let steps = 0
  let failed = 0
  for (let seed = from; seed < from + count; seed++) {
    const report = await simulate({ seed, openStore })
    addCoverage(coverage, report.coverage)
    steps += report.steps
    if (report.violations.length === 0) continue
    const [{ rule, message }] = report.violations as [(typeof report.violations)[number]]
    console.log(`seed ${seed}: ${rule} ${message}`)
    if (++failed === 1) console.log(report.trace.join('\n'))
  }
  const seconds = (performance.now() - started) / 1_000
  for (const kind of coverageKinds) console.log(`${String(coverage[kind]).padStart(8)} ${kind}`)
  console.log(`${count} seeds, ${steps} steps, ${seconds.toFixed(1)} s, ${failed} failed`)
  const missing = coverageKinds.filter((kind) => coverage[kind] === 0)
  if (missing.length > 0) console.log(`never happened: ${missing.join(', ')}`)
  if (failed > 0 || missing.length > 0) process.exitCode = 1
}
