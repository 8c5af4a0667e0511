import type { BenchEngine } from './engines.ts'
import { openPostgres, openSqlite } from './engines.ts'
import { flushes } from './turn-script.ts'
import { bareHandler, createTaker, holdfastHandler, type Taker } from './turn-work.ts'

/**
 * One way to do the turn, in a process of its own, as it would be in a server: what one contender makes
 * the compiler believe, or leaves for the garbage collector, is not paid for by another. It does the
 * turn when it is told to, and says how long it took.
 */
export type TurnContender = 'bare' | 'save-at-end' | 'holdfast' | 'flushes'
export interface TurnTaken {
  readonly ms: number
  readonly commits: number
}

interface OpenContender {
  readonly run: (taker: Taker) => Promise<void>
  readonly commits: () => number
}

function openContender(kind: TurnContender, engine: BenchEngine): OpenContender {
  let seq = 0
  const insert = (body: string) => engine.raw.insert([{ thread: kind, seq: ++seq, body }])
  const commits = () => seq
  switch (kind) {
    case 'bare':
      return { run: createTaker(bareHandler()), commits }
    case 'save-at-end':
      return { run: createTaker(bareHandler((all) => insert(JSON.stringify(all)))), commits }
    case 'holdfast': {
      const ours = holdfastHandler(engine.store)
      return { run: createTaker(ours.handler), commits: ours.commits }
    }
    case 'flushes': {
      const body = 'x'.repeat(1_000)
      const run = async () => {
        for (let left = flushes; left > 0; left--) await insert(body)
      }
      return { run, commits }
    }
  }
}

const [kind, name] = process.argv.slice(2) as [TurnContender, BenchEngine['name']]
const engine = name === 'SQLite' ? openSqlite() : await openPostgres()
const contender = openContender(kind, engine)
const takeTurn = async (taker: Taker): Promise<TurnTaken> => {
  const before = contender.commits()
  const start = performance.now()
  await contender.run(taker)
  return { ms: performance.now() - start, commits: contender.commits() - before }
}
process.on('message', (taker: Taker) => void takeTurn(taker).then((taken) => process.send?.(taken)))
process.on('disconnect', () => void engine.close().finally(() => process.exit(0)))
process.send?.('ready')
