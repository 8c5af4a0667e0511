import { setTimeout as sleep } from 'node:timers/promises'
import { chat } from './http-feeds.ts'
import { printTable, type Row } from './measure.ts'
import { type Memory, onEachDatabase, type StreamServer } from './stream-server-process.ts'

const streaming = 200
const words = 60
const samples = 8
/** Twice what is left after thousands of turns: what grows with them has passed it within a minute. */
const mostHeapAtRest = 48 * 1_048_576

/**
 * Threads stream without a pause for HOLDFAST_SOAK_SECONDS (60). Each answer is a new thread, so that
 * nothing has a reason to grow but the database.
 */
export async function benchSoak(): Promise<void> {
  const seconds = Number(process.env['HOLDFAST_SOAK_SECONDS'] ?? 60)
  const rows: Row[] = []
  await onEachDatabase(async (name, server) => {
    rows.push(...(await soak(name, server, seconds)))
  })
  printTable(
    `Soak: ${streaming} threads streaming for ${seconds} s, ${words} words each, memory after a collection`,
    rows,
  )
}

async function soak(name: string, server: StreamServer, seconds: number): Promise<readonly Row[]> {
  const over = new AbortController()
  let turns = 0
  const streamOn = async (place: number): Promise<void> => {
    while (!over.signal.aborted) {
      await chat(server.url, `soak-${place}-${crypto.randomUUID()}`, words)
      turns++
    }
  }
  const streams = Promise.all(Array.from({ length: streaming }, (_, place) => streamOn(place)))
  const taken: { readonly minute: number; readonly memory: Memory; readonly turns: number }[] = []
  for (let sample = 1; sample <= samples; sample++) {
    await sleep((seconds * 1_000) / samples)
    taken.push({ minute: (seconds / 60 / samples) * sample, memory: await server.memory(), turns })
  }
  over.abort()
  await streams
  const atRest = await server.memory()
  // What a process fills once (caches, pools, compiled code) is not growth: the first half is not counted.
  const late = taken.slice(samples / 2)
  const slope = (field: keyof Memory) =>
    `${megabytes(slopeOf(late.map(({ minute, memory }) => [minute, memory[field]])))}`
  return [
    ...taken.map(({ minute, memory, turns: done }) => ({
      what: `${name}: after ${Math.round(minute * 60)} s and ${done} turns, heap and all`,
      measured: `${megabytes(memory.heapUsed)} and ${megabytes(memory.rss)}`,
    })),
    {
      what: `${name}: at rest after ${turns} turns, heap and all; heap against 48 MB`,
      measured: `${megabytes(atRest.heapUsed)} and ${megabytes(atRest.rss)}`,
      ratio: atRest.heapUsed / mostHeapAtRest,
      bar: 1,
    },
    {
      what: `${name}: growth per minute, heap and all`,
      measured: `${slope('heapUsed')} and ${slope('rss')}`,
    },
  ]
}

const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MB`

/** Of the line that lies nearest to the points. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const middleX = mean(points.map(([x]) => x))
  const middleY = mean(points.map(([, y]) => y))
  const up = points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0)
  const across = points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0)
  return up / across
}
