import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { WriteOrder } from './bare-feed-server.ts'
import { chat, type Feed, openFeeds, openIdly, postJson } from './http-feeds.ts'
import { printTable, type Row } from './measure.ts'
import { onEachDatabase, type StreamServer } from './stream-server-process.ts'

const followers = 500
const words = 200
const goalMicroseconds = 8
/** How often so many followers of one thread are written to: see the server's guide. */
const everyMs = 100

/** What it costs the server that one more person watches the same thread. */
export async function benchFanOut(): Promise<void> {
  const rows: Row[] = []
  await onEachDatabase(async (name, server) => {
    rows.push(...(await fanOut(name, server)))
  })
  printTable(
    `Fan-out: ${followers} followers of one thread of ${words} words (goal: ${goalMicroseconds} µs of CPU per frame and follower)`,
    rows,
  )
}

async function fanOut(name: string, server: StreamServer): Promise<readonly Row[]> {
  const alone = await stream(server, 'alone', 0)
  const followed = await stream(server, 'followed', followers)
  const lost = followed.feeds.filter(({ seq, gaps }) => seq !== followed.seq || gaps > 0).length
  const frames = followed.feeds.reduce((sum, feed) => sum + feed.frames, 0)
  const microseconds = ((followed.cpuMs - alone.cpuMs) * 1_000) / frames
  const chars = followed.feeds.reduce((sum, feed) => sum + feed.chars, 0)
  const floor = await measureFloor(Math.round(frames / followers), Math.round(chars / frames))
  return [
    {
      what: `${name}: frames per follower, followers that missed something`,
      measured: `${Math.round(frames / followers)}, ${lost}`,
    },
    {
      what: `${name}: CPU of the server per frame and follower`,
      measured: `${microseconds.toFixed(1)} µs`,
      ratio: microseconds / goalMicroseconds,
    },
    {
      what: `${name}: the same against a bare server that writes as many bytes to each`,
      measured: `${microseconds.toFixed(1)} µs (${floor.toFixed(1)} µs)`,
      ratio: microseconds / floor,
      bar: 1.25,
    },
  ]
}

/** Microseconds of CPU for one write to one follower, by a server that does nothing else. */
async function measureFloor(frames: number, bytes: number): Promise<number> {
  const child = fork(fileURLToPath(new URL('bare-feed-server.ts', import.meta.url)))
  const [{ url }] = (await once(child, 'message')) as [{ readonly url: string }]
  const close = await openIdly(url, followers)
  const order: WriteOrder = { frames, bytes, everyMs }
  child.send(order)
  const [cpuMs] = (await once(child, 'message')) as [number]
  close()
  child.disconnect()
  return (cpuMs * 1_000) / (frames * followers)
}

async function stream(server: StreamServer, id: string, count: number) {
  const { url } = server
  await postJson(`${url}/api/threads`, { id })
  const feeds: readonly Feed[] = await openFeeds(
    url,
    Array.from({ length: count }, () => id),
  )
  const before = await server.cpuMs()
  await chat(url, id, words)
  const { seq } = (await (await fetch(`${url}/api/threads/${id}`)).json()) as { seq: number }
  // The last frame is in flight to the others when the sender has its end; who has not got it in five seconds missed it.
  const received = Promise.all(feeds.map((feed) => feed.reached(seq)))
  await Promise.race([received, setTimeout(5_000, undefined, { ref: false })])
  const after = await server.cpuMs()
  for (const feed of feeds) feed.close()
  return { feeds, seq, cpuMs: after - before }
}
