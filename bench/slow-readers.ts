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
      for (const [what, size] of [
        ['large results', 1_000_000],
        ['one huge turn each', 5_000_000],
      ] as const) {
        const threads = await importThreads(server, size)
        for (const [kind, path] of Object.entries(attacks)) {
          rows.push(...(await attack(`${name}, ${what}, ${kind}`, server, threads.map(path))))
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
  paths: readonly string[],
): Promise<readonly Row[]> {
  const { hostname, port } = new URL(server.url)
  const before = await server.memory()
  const sockets: Socket[] = []
  for (let index = 0; index < connections; index++) {
    const socket = connect(Number(port), hostname)
    // Cut off by the server, which is its right.
    socket.on('error', () => undefined)
    socket.write(`GET ${paths[index % paths.length]} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
    sockets.push(socket)
  }
  const waits: number[] = []
  let most = 0
  const until = performance.now() + seconds * 1_000
  while (performance.now() < until) {
    const asked = performance.now()
    await (await fetch(`${server.url}/api/health`)).text()
    waits.push(performance.now() - asked)
    most = Math.max(most, (await server.rss()) - before.rss)
    await sleep(10)
  }
  for (const socket of sockets) socket.destroy()
  const sorted = waits.toSorted((left, right) => left - right)
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
      what: `${name}: /api/health, median and p99 of ${waits.length}`,
      measured: `${(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN).toFixed(1)} and ${p99.toFixed(1)} ms`,
      ratio: p99 / goalHealthMs,
      bar: 1,
    },
  ]
}
