// npm run torture: storms and faults over real servers, for as long as one likes.

import { type TortureReport, torture } from '../test/torture/torture-run.ts'
import { megabytes } from '../test/torture/evidence.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { parseScriptArguments, refuseArguments } from './script-arguments.ts'

const usage = `npm run torture -- [--minutes N] [--seed SEED] [--store sqlite|postgres]

  --minutes  how long it goes on, all stores together (4)
  --seed     decides who asks what and which fault comes when (1); how fast the machine is decides the rest
  --store    this store alone

Several servers on one database, people who ask and follow, and at the same time: kills, restarts, frozen processes,
stalled and dropped connections, locks, full disks, imports, readers that never read, endless answers, jumps of the
clock. Exit code 1 if anything that was shown is missing, ran twice, is stuck, or is held in memory.
HOLDFAST_TEST_PG uses a PostgreSQL of your own.`
const { values } = parseScriptArguments({
  usage,
  options: {
    minutes: { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
    store: { type: 'string' },
  },
})
const minutes = Number(values.minutes)
if (!(minutes > 0 && minutes <= 10_000)) {
  refuseArguments(`--minutes is a number over 0, not "${values.minutes}".`, usage)
}
if (!/^\d{1,15}$/.test(values.seed)) {
  refuseArguments(`--seed is a whole number, not "${values.seed}".`, usage)
}
const seed = Number(values.seed)
const stores = (['sqlite', 'postgres'] as const).filter(
  (store) => values.store === undefined || values.store === store,
)
if (stores.length === 0) {
  refuseArguments(`--store is sqlite or postgres, not "${values.store}".`, usage)
}

const own = process.env['HOLDFAST_TEST_PG']
const postgres = stores.includes('postgres') && !own ? await startPostgres() : undefined
const postgresUrl = own ?? postgres?.url
const seconds = (minutes * 60) / stores.length
try {
  for (const store of stores) {
    const at = postgresUrl === undefined ? {} : { postgresUrl }
    const report = await torture({ store, seed, seconds, ...at })
    print(`${store}, seed ${seed}, ${seconds.toFixed(0)} s`, report)
    if (report.violations.length > 0) process.exitCode = 1
  }
} finally {
  await postgres?.stop()
}

function print(
  title: string,
  { counts, longestHealthMs, memory, violations }: TortureReport,
): void {
  const rows = [
    ...[...counts].toSorted(([left], [right]) => (left < right ? -1 : 1)),
    ['longest wait for /api/health', `${longestHealthMs.toFixed(0)} ms`],
    ['heap, before and after', `${megabytes(memory.before.heap)}, ${megabytes(memory.after.heap)}`],
    ['memory in all', `${megabytes(memory.before.rss)}, ${megabytes(memory.after.rss)}`],
    ['violations', violations.length],
  ]
  console.log(`\nTorture: ${title}`)
  for (const [what, value] of rows) console.log(`  ${String(what).padEnd(40)}${value}`)
  for (const violation of violations) console.log(`  seed ${seed}: ${violation}`)
}
