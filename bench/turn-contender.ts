import type { BenchEngine } from './engines.ts'
import { openPostgres, openSqlite } from './engines.ts'
import { bareTurn, flushes, holdfastTurn } from './turn-work.ts'

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

async function openContender(
  kind: TurnContender,
  engine: BenchEngine,
): Promise<{ run(): Promise<void>; commits(): number }> {
  if (kind === 'holdfast') return holdfastTurn(engine.store)
  let seq = 0
  if (kind === 'flushes') {
    const body = 'x'.repeat(1_000)
    const run = async () => {
      for (let left = flushes; left > 0; left--) {
        await engine.raw.insert([{ thread: 'flush', seq: ++seq, body }])
      }
    }
    return { run, commits: () => seq }
  }
  const save = (messages: unknown) =>
    engine.raw.insert([{ thread: 'turn', seq: ++seq, body: JSON.stringify(messages) }])
  return { run: () => bareTurn(kind === 'bare' ? undefined : save), commits: () => 0 }
}

const [kind, name] = process.argv.slice(2) as [TurnContender, BenchEngine['name']]
const engine = name === 'SQLite' ? openSqlite() : await openPostgres()
const contender = await openContender(kind, engine)
const takeTurn = async (): Promise<TurnTaken> => {
  const before = contender.commits()
  const start = performance.now()
  await contender.run()
  return { ms: performance.now() - start, commits: contender.commits() - before }
}
process.on('message', () => void takeTurn().then((taken) => process.send?.(taken)))
process.on('disconnect', () => void engine.close().finally(() => process.exit(0)))
process.send?.('ready')
