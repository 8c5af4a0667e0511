import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { postJson } from './http-feeds.ts'
import { printTable, type Row } from './measure.ts'
import { onEachDatabase, type StreamServer } from './stream-server-process.ts'

const connections = 200
const megabytes = 60
const seconds = 10
const goalMegabytes = 400
const goalHealthMs = 100

const attacks = {
  'event streams': (thread: string) => `/api/threads/${thread}/events`,
  pages: (thread: string) => `/api/threads/${thread}/messages?limit=200`,
  'streams of a turn': (thread: string) => `/api/chat/${thread}/stream?message=${thread}-a0`,
} as const

/**
 * One person imports 60 MB and opens 200 connections that never read, to a server with a heap of 2 GB. What
 * it holds, and how long others wait (OP7).
 */
export async function benchSlowReaders(): Promise<void> {
  const rows: Row[] = []
  await onEachDatabase(
    async (name, server) => {
      // Before anything: a process that has grown once would hide what the next attack adds.
      const idle = (await server.memory()).rss
      for (const [what, size] of [
        ['large results', 1_000_000],
        ['one huge turn each', 5_000_000],
      ] as const) {
        const threads = await importThreads(server, size)
        for (const [kind, path] of Object.entries(attacks)) {
          rows.push(...(await attack(`${name}, ${what}, ${kind}`, server, idle, threads.map(path))))
        }
      }
    },
    ['--max-old-space-size=2048'],
  )
  printTable(
    `Slow readers: ${megabytes} MB of one person, ${connections} connections that never read, for ${seconds} s each`,
    rows,
  )
}

/** Twelve threads of 5 MB: questions, and answers with results of a size. */
async function importThreads(server: StreamServer, size: number): Promise<readonly string[]> {
  const output = 'x'.repeat(Math.min(size, 1_000_000))
  const calls = Math.ceil(size / output.length)
  const threads = Array.from({ length: 12 }, (_, thread) => `t${size}-${thread}`)
  for (const thread of threads) {
    const messages = Array.from({ length: Math.round(5_000_000 / size) }, (_, turn) => [
      { id: `${thread}-u${turn}`, role: 'user', parts: [{ type: 'text', text: 'Look it up.' }] },
      {
        id: `${thread}-a${turn}`,
        role: 'assistant',
        parts: [
          ...Array.from({ length: calls }, (_, call) => ({
            type: 'tool-look_up',
            toolCallId: `${thread}-${turn}-${call}`,
            state: 'output-available',
            input: {},
            output,
          })),
          { type: 'text', text: 'Found.' },
        ],
      },
    ]).flat()
    await postJson(`${server.url}/api/import?format=ui`, { threads: [{ id: thread, messages }] })
  }
  return threads
}

async function attack(
  name: string,
  server: StreamServer,
  idle: number,
  paths: readonly string[],
): Promise<readonly Row[]> {
  const { hostname, port } = new URL(server.url)
  await server.longestMs()
  const sockets: Socket[] = []
  for (let index = 0; index < connections; index++) {
    const socket = connect(Number(port), hostname)
    // Cut off by the server, which is its right.
    socket.on('error', () => undefined)
    socket.write(`GET ${paths[index % paths.length]} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
    sockets.push(socket)
  }
  // Asked every 20 ms whether or not the one before was answered: a server that stands still for a second must
  // show as fifty people who waited, not as one. And apart from the look at the memory, which waits too.
  const waits: Promise<number>[] = []
  let most = 0
  const until = performance.now() + seconds * 1_000
  const looking = (async () => {
    while (performance.now() < until) {
      most = Math.max(most, (await server.rss()) - idle)
      await sleep(50)
    }
  })()
  while (performance.now() < until) {
    waits.push(timeHealth(server.url))
    await sleep(20)
  }
  const sorted = (await Promise.all(waits)).toSorted((left, right) => left - right)
  await looking
  const workMs = await server.longestMs()
  for (const socket of sockets) socket.destroy()
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
  const grown = most / 1_048_576
  return [
    {
      what: `${name}: memory over the idle process`,
      measured: `${grown.toFixed(0)} MB`,
      ratio: grown / goalMegabytes,
      bar: 1,
    },
    {
      what: `${name}: /api/health, median, p99 and longest of ${sorted.length}`,
      measured: [sorted[Math.floor(sorted.length / 2)], p99, sorted.at(-1)]
        .map((each) => `${(each ?? Number.NaN).toFixed(1)} ms`)
        .join(', '),
      ratio: p99 / goalHealthMs,
      bar: 1,
    },
    {
      what: `${name}: longest work of the main thread without a break, by its CPU time`,
      measured: `${workMs.toFixed(1)} ms`,
      ratio: workMs / goalHealthMs,
      bar: 1,
    },
  ]
}

export async function timeHealth(url: string): Promise<number> {
  const asked = performance.now()
  await (await fetch(`${url}/api/health`)).text()
  return performance.now() - asked
}
