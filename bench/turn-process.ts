import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import { type Hooks, traceHooks } from 'holdfast'
import type { BenchStore } from './bench-stores.ts'
import { openPostgres, openSqlite } from './bench-stores.ts'
import { flushes } from './turn-script.ts'
import { bareHandler, type Client, createTurns, holdfastHandler } from './turn-work.ts'

/**
 * One way to do the turn, in a process of its own, as it would be in a server: what one system makes
 * the compiler believe, or leaves for the garbage collector, is not paid for by another. For each
 * order from its parent it does the turns, and sends back how long they took.
 */
export type TurnSystem = 'bare' | 'save-at-end' | 'holdfast' | 'traced' | 'flushes'

export interface TurnOrder {
  readonly client: Client
  /** How many threads do the turn at the same time. */
  readonly atOnce: number
}
export interface TurnsDone {
  /** From the start of the first to the end of the last. */
  readonly ms: number
  /** Of this process, user and system. */
  readonly cpuMs: number
  readonly commits: number
}

interface OpenSystem {
  readonly run: (client: Client) => Promise<void>
  readonly commits: () => number
}

async function openSystem(
  kind: TurnSystem,
  benchStore: BenchStore,
  paceMs: number,
): Promise<OpenSystem> {
  let seq = 0
  const insert = (body: string) => benchStore.raw.insert([{ thread: kind, seq: ++seq, body }])
  const commits = () => seq
  switch (kind) {
    case 'bare':
      return { run: createTurns(bareHandler(paceMs)), commits }
    case 'save-at-end': {
      const handler = bareHandler(paceMs, (all) => insert(JSON.stringify(all)))
      return { run: createTurns(handler), commits }
    }
    case 'holdfast': {
      const ours = holdfastHandler(benchStore.store, paceMs)
      return { run: createTurns(ours.handler), commits: ours.commits }
    }
    case 'traced': {
      const hooks = await openTracing()
      const ours = holdfastHandler(benchStore.store, paceMs, hooks)
      return { run: createTurns(ours.handler), commits: ours.commits }
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

/** Spans that are made, batched and thrown away: what they cost here, and not where they are sent. */
async function openTracing(): Promise<Hooks> {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  const exporter: SpanExporter = {
    export: (_, done) => done({ code: 0 }),
    shutdown: async () => {},
    forceFlush: async () => {},
  }
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] }),
  )
  return traceHooks()
}

const [kind, name, paceMs] = process.argv.slice(2) as [TurnSystem, BenchStore['name'], string]
const benchStore = name === 'SQLite' ? openSqlite() : await openPostgres()
const system = await openSystem(kind, benchStore, Number(paceMs))

async function runTurns({ client, atOnce }: TurnOrder): Promise<TurnsDone> {
  const before = system.commits()
  const cpu = process.cpuUsage()
  const start = performance.now()
  await Promise.all(Array.from({ length: atOnce }, () => system.run(client)))
  const ms = performance.now() - start
  const { user, system: kernel } = process.cpuUsage(cpu)
  return { ms, cpuMs: (user + kernel) / 1_000, commits: system.commits() - before }
}

async function answer(order: TurnOrder): Promise<void> {
  process.send?.(await runTurns(order))
}

process.on('message', (order: TurnOrder) => void answer(order))
process.on('disconnect', () => void benchStore.close().finally(() => process.exit(0)))
process.send?.('ready')
