import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Random } from '../../src/testing/random.ts'
import { type StallingLine, startStallingLine } from '../support/stalling-line.ts'
import { programArguments } from '../support/programs.ts'
import type { Answer, Order } from './torture-server.ts'

export interface Memory {
  readonly heap: number
  readonly rss: number
}

/** One place in the fleet: a process, and the next one after it died. */
export interface Server {
  /** Where it listens; undefined while there is none. */
  url(): string | undefined
  /** Its way to PostgreSQL; SQLite has none. */
  readonly line: StallingLine | undefined
  /** Whether a fault has it in its hands, so that it is no wonder that it does not answer. */
  isHeld: boolean
  /** How often a fault had: one can come and go while an answer is waited for. */
  timesHeld: number
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  kill(): Promise<void>
  /** Resolves with whether it went by itself; otherwise it was killed. */
  stop(): Promise<boolean>
  /** As whoever looks after servers does it: again, if it does not come up. */
  start(): Promise<void>
  /** The last words of processes that ended without being told to. */
  readonly crashes: readonly string[]
  order(order: Order): Promise<void>
  memory(): Promise<Memory>
  /** Whether it works at nothing: it produces no turn, and has answered whatever was to change something. */
  isIdle(): Promise<boolean>
}

/** Several servers on one database, each with a way of its own to it. */
export interface Fleet {
  readonly servers: readonly Server[]
  /** The address of one that runs. */
  pick(random: Random): string | undefined
  close(): Promise<void>
}

export interface FleetOptions {
  readonly db: string
  readonly trace: string
  readonly size: number
}

const patienceMs = 20_000
const mostStarts = 20

export async function startFleet({ db, trace, size }: FleetOptions): Promise<Fleet> {
  const servers: Server[] = []
  for (let index = 0; index < size; index++) {
    const line = db.startsWith('postgres://') ? await startStallingLine(db) : undefined
    const server = createServer(line?.url ?? db, trace, line)
    // One after the other: the first one makes the tables.
    await server.start()
    servers.push(server)
  }
  return {
    servers,
    pick(random) {
      const urls = servers.flatMap((server) => server.url() ?? [])
      return urls.length === 0 ? undefined : random.pick(urls)
    },
    async close() {
      await Promise.all(servers.map((server) => server.kill()))
      for (const { line } of servers) line?.close()
    },
  }
}

function createServer(db: string, trace: string, line: StallingLine | undefined): Server {
  let child: ChildProcess | undefined
  let url: string | undefined
  let exited: Promise<unknown> = Promise.resolve()
  let mayEnd = false
  const crashes: string[] = []

  /** The orders of one server are given one after the other, so the next answer is to this one. */
  let ordering: Promise<unknown> = Promise.resolve()
  const sendOrder = (order: Order): Promise<Answer | undefined> => {
    const asked = ordering.then(async () => {
      const told = child
      if (told?.connected !== true) return undefined
      const answer = once(told, 'message').then(([message]) => message as Answer)
      told.send(order)
      return Promise.race([answer, exited.then(() => undefined)])
    })
    ordering = asked
    return asked
  }

  /** Resolves when it listens, or with why it does not. */
  const begin = async (): Promise<string | undefined> => {
    const started = spawn(
      process.execPath,
      ['--expose-gc', ...programArguments('test/torture/torture-server.ts')],
      { env: { ...process.env, DB: db, TRACE: trace }, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
    )
    child = started
    mayEnd = false
    let trouble = ''
    started.stderr?.on('data', (bytes: Buffer) => {
      trouble = `${trouble}${bytes.toString()}`.slice(-4_000)
    })
    exited = once(started, 'exit')
    const first = await Promise.race([
      once(started, 'message').then(([message]) => message as Answer),
      exited.then(() => undefined),
    ])
    if (first?.type !== 'listening') return trouble
    url = first.url
    void exited.then(() => {
      const { exitCode, signalCode } = started
      if (!mayEnd) crashes.push(`${signalCode ?? `exit code ${exitCode}`} ${trouble}`)
      if (child === started) url = undefined
    })
    return undefined
  }

  return {
    url: () => url,
    line,
    isHeld: false,
    timesHeld: 0,
    signal: (signal) => void child?.kill(signal),
    crashes,
    async kill() {
      url = undefined
      mayEnd = true
      child?.kill('SIGKILL')
      await exited
    },
    async stop() {
      url = undefined
      mayEnd = true
      child?.kill('SIGTERM')
      const late = AbortSignal.timeout(patienceMs)
      const isLate = once(late, 'abort').then(() => true)
      const wasLate = await Promise.race([exited.then(() => false), isLate])
      if (wasLate) child?.kill('SIGKILL')
      await exited
      return !wasLate
    },
    async start() {
      for (let attempt = 1; ; attempt++) {
        const trouble = await begin()
        if (trouble === undefined) return
        if (attempt === mostStarts) throw new Error(`A server did not start: ${trouble}`)
      }
    },
    async order(order) {
      await sendOrder(order)
    },
    async memory() {
      const answer = await sendOrder({ type: 'memory' })
      if (answer?.type !== 'memory') throw new Error('A server did not say what it holds.')
      return answer
    },
    async isIdle() {
      const answer = await sendOrder({ type: 'work' })
      return answer?.type === 'work' && answer.runs + answer.requests === 0
    },
  }
}
