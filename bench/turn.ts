import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../test/support/postgres-server.ts'
import { measure, median, ms, printTable, type Row } from './measure.ts'
import type { TurnOrder, TurnsDone, TurnSystem } from './turn-process.ts'
import { calls, flushes } from './turn-script.ts'
import type { Client } from './turn-work.ts'

const rounds = 60
/**
 * Turns of a process that do not count. A server has done thousands: the compiler is done with `streamText` after about a hundred
 * turns and with Holdfast, which has more code for one, after about three hundred.
 */
const warmUps = 300
/** At the pace of a quick model: no two deltas of a turn can share a commit by coming together. */
const paceMs = 5

/** Another checkout of this project, whose code does the same turns beside this one's. @default none */
const otherCheckout = process.env['HOLDFAST_BENCH_OTHER']

interface Bars {
  readonly alone: number
  readonly by16: number
  readonly by64: number
}

export async function benchTurn(): Promise<void> {
  await onEachEngine(async (engine, bars, env) => {
    printTable(
      `Turn: ${calls} tool calls in 5 steps, read by the SDK's client`,
      await benchAlone(engine, bars.alone, env),
    )
    printTable('Turn: the same work by many threads at once, against bare streamText', [
      ...(await benchTogether(engine, env, 16, 12, 0, bars.by16)),
      ...(await benchTogether(engine, env, 64, 6, 0, bars.by64)),
      ...(await benchTogether(engine, env, 16, 4, paceMs)),
    ])
  })
}

async function onEachEngine(
  work: (engine: string, bars: Bars, env: NodeJS.ProcessEnv) => Promise<void>,
): Promise<void> {
  await work('SQLite', { alone: 0.6, by16: 0.35, by64: 0.17 }, {})
  const given = process.env['HOLDFAST_TEST_PG']
  const server = given === undefined ? await startPostgres() : { url: given, stop: async () => {} }
  await work('PostgreSQL', { alone: 0.8, by16: 0.45, by64: 0.25 }, { HOLDFAST_TEST_PG: server.url })
  await server.stop()
}

interface System {
  readonly run: (order: TurnOrder) => Promise<TurnsDone>
  readonly close: () => Promise<void>
}

async function start(
  kind: TurnSystem,
  engine: string,
  env: NodeJS.ProcessEnv,
  { pace = 0, checkout = fileURLToPath(new URL('..', import.meta.url)) } = {},
): Promise<System> {
  const file = resolve(checkout, 'bench/turn-process.ts')
  const child: ChildProcess = fork(file, [kind, engine, String(pace)], {
    cwd: checkout,
    env: { ...process.env, ...env },
  })
  await once(child, 'message')
  return {
    async run(order) {
      child.send(order)
      const [done] = (await once(child, 'message')) as [TurnsDone]
      return done
    },
    async close() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

async function benchAlone(
  engine: string,
  bar: number,
  env: NodeJS.ProcessEnv,
): Promise<readonly Row[]> {
  // One after the other: each makes the tables that it needs.
  const bare = await start('bare', engine, env)
  const saving = await start('save-at-end', engine, env)
  const ours = await start('holdfast', engine, env)
  const disk = await start('flushes', engine, env)
  const other =
    otherCheckout === undefined
      ? null
      : await start('holdfast', engine, env, { checkout: otherCheckout })
  let commits = 0
  const measureAll = async (systemsUnderTest: readonly (readonly [System, Client])[]) => {
    const runs = systemsUnderTest.map(([system, client]) => ({
      name: client,
      async run() {
        const done = await system.run({ client, atOnce: 1 })
        if (system === ours) commits = done.commits
        return done.ms
      },
    }))
    return (await measure(runs, rounds, warmUps)).map(({ medianMs }) => medianMs)
  }
  const [floor = 0, atEnd = 0, durable = 0, flushed = 0, otherMs = 0] = await measureAll([
    [bare, 'client'],
    [saving, 'client'],
    [ours, 'client'],
    [disk, 'bytes'],
    ...(other === null ? [] : [[other, 'client'] as const]),
  ])
  const [floorBytes = 0, durableBytes = 0] = await measureAll([
    [bare, 'bytes'],
    [ours, 'bytes'],
  ])
  // Both are new: a process that has done hundreds of turns has more of its code compiled than one that begins.
  const untraced = await start('holdfast', engine, env)
  const traced = await start('traced', engine, env)
  const [plain = 0, withTraces = 0] = await measureAll([
    [untraced, 'client'],
    [traced, 'client'],
  ])
  for (const system of [bare, saving, ours, untraced, traced, disk]) await system.close()
  await other?.close()
  return [
    { what: `${engine}: bare streamText, nothing stored`, measured: ms(floor) },
    {
      what: `${engine}: streamText, saved at the end`,
      measured: ms(atEnd),
      ratio: atEnd / floor,
    },
    {
      what: `${engine}: Holdfast, every event durable before it is shown`,
      measured: `${ms(durable)}, ${commits} commits`,
      ratio: durable / floor,
      bar,
    },
    ...(other === null
      ? []
      : [
          {
            what: `${engine}: the same with the code of the other checkout`,
            measured: ms(otherMs),
            ratio: otherMs / floor,
          },
        ]),
    {
      what: `${engine}: the same with traces, against without`,
      measured: `${ms(withTraces)} (${ms(plain)})`,
      ratio: withTraces / plain,
      bar: 1.15,
    },
    {
      what: `${engine}: cost of a tool call above the floor`,
      measured: `${((durable - floor) / calls).toFixed(2)} ms`,
    },
    {
      what: `${engine}: the same against bare streamText, as bytes that nobody reads`,
      measured: `${ms(durableBytes)} (${ms(floorBytes)})`,
      ratio: durableBytes / floorBytes,
    },
    {
      what: `${engine}: ${flushes} rows of 1 KB and nothing else, each in a commit of its own`,
      measured: ms(flushed),
      ratio: flushed / floor,
    },
  ]
}

/** Time and CPU of one turn while `atOnce` threads do it together. */
async function benchTogether(
  engine: string,
  env: NodeJS.ProcessEnv,
  atOnce: number,
  count: number,
  pace: number,
  bar?: number,
): Promise<readonly Row[]> {
  const bare = await start('bare', engine, env, { pace })
  const ours = await start('holdfast', engine, env, { pace })
  const other =
    otherCheckout === undefined
      ? null
      : await start('holdfast', engine, env, { pace, checkout: otherCheckout })
  const order: TurnOrder = { client: 'client', atOnce }
  const done = { bare: [] as TurnsDone[], ours: [] as TurnsDone[], other: [] as TurnsDone[] }
  // At a pace the time is the model's, and three hundred turns would take minutes.
  const warmUpRounds = pace === 0 ? Math.ceil(warmUps / atOnce) : 2
  for (let round = -warmUpRounds; round < count; round++) {
    const results = {
      bare: await bare.run(order),
      ours: await ours.run(order),
      other: await other?.run(order),
    }
    if (round < 0) continue
    done.bare.push(results.bare)
    done.ours.push(results.ours)
    if (results.other !== undefined) done.other.push(results.other)
  }
  await bare.close()
  await ours.close()
  await other?.close()
  const each = (results: readonly TurnsDone[], field: 'ms' | 'cpuMs') =>
    median(results.map((result) => result[field])) / atOnce
  const what = `${engine}: ${atOnce} at once${pace === 0 ? '' : `, a delta every ${pace} ms`}`
  const compare = (results: readonly TurnsDone[], field: 'ms' | 'cpuMs') => ({
    measured: `${ms(each(results, field))} (${ms(each(done.bare, field))})`,
    ratio: each(results, field) / each(done.bare, field),
  })
  const rowsOf = (results: readonly TurnsDone[], how: string, bars: Pick<Row, 'bar'>) => [
    { what: `${what}, time per turn${how}`, ...compare(results, 'ms'), ...bars },
    { what: `${what}, CPU per turn${how}`, ...compare(results, 'cpuMs') },
  ]
  return [
    ...rowsOf(done.ours, '', bar === undefined ? {} : { bar }),
    ...(other === null ? [] : rowsOf(done.other, ', other checkout', {})),
  ]
}
