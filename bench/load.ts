import { chat, type Feed, openFeeds, postJson } from './http-feeds.ts'
import { ms, printTable, type Row } from './measure.ts'
import { onEachDatabase, type StreamServer } from './stream-server-process.ts'

const followers = 1_000
const streaming = 100
const words = 400
const pageTurns = 200
const idleThreads = 50
const idlePages = 300

/** One server with many who only listen and many who are answered: do pages stay fast meanwhile? */
export async function benchLoad(): Promise<void> {
  const rows: Row[] = []
  await onEachDatabase(async (name, server) => {
    rows.push(...(await load(name, server)))
  })
  printTable(
    `Load: one process over HTTP, ${followers} idle followers, ${streaming} threads of ${words} words, one every 20 ms`,
    rows,
  )
}

async function load(name: string, server: StreamServer): Promise<readonly Row[]> {
  const { url } = server
  await postJson(`${url}/api/import?format=ui`, longThread())
  await timePages(url, idlePages)
  const alone = await timePages(url, idlePages)

  const idle = Array.from({ length: idleThreads }, (_, index) => `idle-${index}`)
  for (const id of idle) await postJson(`${url}/api/threads`, { id })
  const before = await server.memory()
  const listening = await openFeeds(
    url,
    Array.from({ length: followers }, (_, index) => `idle-${index % idleThreads}`),
  )
  const after = await server.memory()
  const perFollower = (field: 'rss' | 'heapUsed') =>
    `${((after[field] - before[field]) / followers / 1_024).toFixed(1)} kB`
  const followed = await timePages(url, idlePages)

  const ids = Array.from({ length: streaming }, (_, index) => `stream-${index}`)
  for (const id of ids) await postJson(`${url}/api/threads`, { id })
  const feeds = await openFeeds(url, ids)
  const started = performance.now()
  let isOver = false
  const answers = Promise.all(ids.map((id) => chat(url, id, words))).finally(() => {
    isOver = true
  })
  const [loaded] = await Promise.all([timePages(url, () => isOver), answers])
  const seconds = (performance.now() - started) / 1_000
  const lost = await countLost(url, ids, feeds)
  const delivered = feeds.reduce((sum, { changes }) => sum + changes, 0)
  for (const feed of [...listening, ...feeds]) feed.close()

  const page = (what: string, times: Times): Row => ({
    what: `${name}: a page ${what}, p50 and p99 of ${times.count}`,
    measured: `${ms(times.p50)} and ${ms(times.p99)}`,
    ...(times === alone ? {} : { ratio: times.p50 / alone.p50 }),
  })
  return [
    page('without any load', alone),
    page(`with ${followers} idle followers`, followed),
    page(`while ${streaming} threads stream`, loaded),
    {
      what: `${name}: changes delivered, per second, lost`,
      measured: `${delivered}, ${Math.round(delivered / seconds)}, ${lost}`,
    },
    {
      what: `${name}: memory per follower, heap and all`,
      measured: `${perFollower('heapUsed')} and ${perFollower('rss')}`,
    },
  ]
}

/** Counts the events of a thread that its follower did not receive, and the frames that did not follow the one before. */
async function countLost(
  url: string,
  ids: readonly string[],
  feeds: readonly Feed[],
): Promise<number> {
  let lost = 0
  for (const [index, id] of ids.entries()) {
    const { seq } = (await (await fetch(`${url}/api/threads/${id}`)).json()) as { seq: number }
    const feed = feeds[index]
    lost += seq - (feed?.seq ?? 0) + (feed?.gaps ?? 0)
  }
  return lost
}

interface Times {
  readonly count: number
  readonly p50: number
  readonly p99: number
}

/** Reads the newest page again and again, one request after the other. */
async function timePages(url: string, until: number | (() => boolean)): Promise<Times> {
  const times: number[] = []
  const isDone = typeof until === 'number' ? () => times.length >= until : until
  while (!isDone()) {
    const start = performance.now()
    const response = await fetch(`${url}/api/threads/long/messages?limit=25`)
    await response.arrayBuffer()
    times.push(performance.now() - start)
  }
  const sorted = times.toSorted((left, right) => left - right)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
  return { count: times.length, p50: at(0.5), p99: at(0.99) }
}

function longThread(): object {
  const messages = Array.from({ length: pageTurns }, (_, index) => [
    { id: `u-${index}`, role: 'user', parts: [{ type: 'text', text: 'And then?' }] },
    {
      id: `a-${index}`,
      role: 'assistant',
      parts: [
        {
          type: 'tool-weather',
          toolCallId: `c-${index}`,
          state: 'output-available',
          input: { city: 'Oslo' },
          output: { words: 'x'.repeat(1_000) },
        },
        { type: 'text', text: 'It went on raining.' },
      ],
    },
  ]).flat()
  return { id: 'long', messages }
}
