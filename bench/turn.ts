import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../test/support/postgres-server.ts'
import { measure, ms, printTable, type Row } from './measure.ts'
import type { TurnContender, TurnTaken } from './turn-contender.ts'
import { calls, flushes } from './turn-script.ts'
import type { Taker } from './turn-work.ts'

const rounds = 200
const warmUps = 60
const contender = fileURLToPath(new URL('turn-contender.ts', import.meta.url))

export async function benchTurn(): Promise<void> {
  const rows = await benchOne('SQLite', 0.6, {})
  const given = process.env['HOLDFAST_TEST_PG']
  const server = given === undefined ? await startPostgres() : { url: given, stop: async () => {} }
  rows.push(...(await benchOne('PostgreSQL', 1, { HOLDFAST_TEST_PG: server.url })))
  await server.stop()
  printTable("Turn: 50 tool calls in 5 steps, taken by the SDK's client", rows)
}

async function benchOne(engine: string, bar: number, env: NodeJS.ProcessEnv): Promise<Row[]> {
  const start = async (kind: TurnContender) => {
    const child = fork(contender, [kind, engine], { env: { ...process.env, ...env } })
    await once(child, 'message')
    return child
  }
  const commits = new Map<ChildProcess, number>()
  const turnOf = (child: ChildProcess, taker: Taker) => async () => {
    child.send(taker)
    const [taken] = (await once(child, 'message')) as [TurnTaken]
    commits.set(child, taken.commits)
    return taken.ms
  }
  // One after the other: each makes the tables that it needs.
  const bare = await start('bare')
  const saving = await start('save-at-end')
  const ours = await start('holdfast')
  const disk = await start('flushes')
  const take = async (contenders: readonly (readonly [ChildProcess, Taker])[]) => {
    const runs = contenders.map(([child, taker]) => ({ name: taker, run: turnOf(child, taker) }))
    return (await measure(runs, rounds, warmUps)).map(({ medianMs }) => medianMs)
  }
  const [floor = 0, atEnd = 0, durable = 0, flushed = 0] = await take([
    [bare, 'client'],
    [saving, 'client'],
    [ours, 'client'],
    [disk, 'bytes'],
  ])
  const [floorBytes = 0, durableBytes = 0] = await take([
    [bare, 'bytes'],
    [ours, 'bytes'],
  ])
  for (const child of [bare, saving, ours, disk]) {
    child.disconnect()
    await once(child, 'exit')
  }
  return [
    { what: `${engine}: bare streamText, nothing stored`, measured: ms(floor) },
    {
      what: `${engine}: streamText, saved at the end`,
      measured: ms(atEnd),
      ratio: atEnd / floor,
    },
    {
      what: `${engine}: Holdfast, every fact durable before it is shown`,
      measured: `${ms(durable)}, ${commits.get(ours)} commits`,
      ratio: durable / floor,
      bar,
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
