import { setTimeout as sleep } from 'node:timers/promises'
import { ask, chat } from './http-feeds.ts'
import { printTable, type Row } from './measure.ts'
import { timeHealth } from './slow-readers.ts'
import { onEachDatabase, type StreamServer } from './stream-server-process.ts'

const goalMegabytes = 400
const goalHealthMs = 100
const goalChatMs = 1_000

interface Load {
  readonly turns: number
  readonly asked: string
  /** What is sent is far less than the process may hold. */
  readonly isSmall?: boolean
}

const loads: Readonly<Record<string, Load>> = {
  'ten turns of three results of 15 MB': { turns: 10, asked: '3 results of 15000000 letters' },
  'fifty answers of 80,000 characters': {
    turns: 50,
    asked: '200 words of 400 letters',
    isSmall: true,
  },
}

/**
 * One person's turns produce much at once, each within the default limits, on a server with a heap of 2 GB. What the process
 * holds beside what was sent, and how long somebody else waits who says one word after the other (OP7).
 */
export async function benchLargeAnswers(): Promise<void> {
  const rows: Row[] = []
  await onEachDatabase(
    async (name, server) => {
      // The compiler is not done with a server that has just started.
      for (let nth = 0; nth < 20; nth++) await chat(server.url, `warm-${nth}`, 1)
      for (const [what, each] of Object.entries(loads)) {
        rows.push(...(await load(`${name}, ${what}`, server, each)))
      }
    },
    ['--max-old-space-size=2048'],
  )
  printTable('Large answers: the turns of one person at once, and what others notice', rows)
}

async function load(
  name: string,
  server: StreamServer,
  { turns, asked, isSmall = false }: Load,
): Promise<readonly Row[]> {
  const idle = (await server.memory()).rss
  const thread = (nth: number) => `${asked.replaceAll(/\W/g, '-')}-${nth}`
  const all = Promise.all(
    Array.from({ length: turns }, (_, nth) => ask(server.url, thread(nth), asked)),
  )
  const over = new AbortController()
  void all.catch(() => undefined).finally(() => over.abort())
  const waits: Promise<number>[] = []
  const chats: number[] = []
  let most = 0
  const others = (async () => {
    for (let nth = turns; !over.signal.aborted; nth++) {
      const begun = performance.now()
      await chat(server.url, thread(nth), 1)
      chats.push(performance.now() - begun)
    }
  })()
  const looking = (async () => {
    while (!over.signal.aborted) {
      most = Math.max(most, (await server.rss()) - idle)
      await sleep(50)
    }
  })()
  // Whether or not the one before was answered: see `slow-readers`.
  while (!over.signal.aborted) {
    waits.push(timeHealth(server.url))
    await sleep(20)
  }
  await Promise.all([all, others, looking])
  const sorted = (await Promise.all(waits)).toSorted((left, right) => left - right)
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
  const slowest = Math.max(...chats)
  const grown = most / 1_048_576
  return [
    {
      what: `${name}: memory over the idle process`,
      measured: `${grown.toFixed(0)} MB`,
      ...(isSmall ? { ratio: grown / goalMegabytes, bar: 1 } : {}),
    },
    {
      what: `${name}: /api/health, p99 and longest of ${sorted.length}`,
      measured: `${p99.toFixed(1)} ms, ${(sorted.at(-1) ?? Number.NaN).toFixed(1)} ms`,
      ratio: p99 / goalHealthMs,
      bar: 1,
    },
    {
      what: `${name}: another chat, slowest of ${chats.length}`,
      measured: `${slowest.toFixed(0)} ms`,
      ratio: slowest / goalChatMs,
      bar: 1,
    },
  ]
}
