import { chat, type Feed, openFeeds, postJson } from './http-feeds.ts'
import { printTable, type Row } from './measure.ts'
import { onEachDatabase, type StreamServer } from './stream-server-process.ts'

const followers = 500
const words = 200
const goalMicroseconds = 8

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
  return [
    {
      what: `${name}: frames per follower, followers that missed something`,
      measured: `${Math.round(frames / followers)}, ${lost}`,
    },
    {
      what: `${name}: CPU of the server per frame and follower`,
      measured: `${microseconds.toFixed(1)} µs`,
      ratio: microseconds / goalMicroseconds,
      bar: 1,
    },
  ]
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
  const readSeq = async () =>
    ((await (await fetch(`${url}/api/threads/${id}`)).json()) as { seq: number }).seq
  const seq = await readSeq()
  // The last frame is on its way to the others when the sender has its end.
  const deadline = performance.now() + 5_000
  while (feeds.some((feed) => feed.seq < seq) && performance.now() < deadline) await readSeq()
  const after = await server.cpuMs()
  for (const feed of feeds) feed.close()
  return { feeds, seq, cpuMs: after - before }
}
