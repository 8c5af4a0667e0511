import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createHoldfast, foldThread, parseThreadId, type Store, type ThreadView } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { type BenchStore, openBenchStores } from './bench-stores.ts'
import { measure, ms, printTable, type Row } from './measure.ts'
import { createThreadWriter } from './thread-writer.ts'

const threads = 200
const deltas = 60
const pauseMs = 20

/** 200 threads stream at once in one process, and each is followed. */
export async function benchThreads(): Promise<void> {
  const rows: Row[] = []
  for (const benchStore of await openBenchStores()) {
    rows.push(
      ...(await timeAll(benchStore)),
      await weighAll(benchStore),
      ...(await catchUp(benchStore)),
    )
    await benchStore.close()
  }
  printTable(`Threads: ${threads} at once, ${deltas} words each, one every ${pauseMs} ms`, rows)
}

async function timeAll({ name, store }: BenchStore): Promise<readonly Row[]> {
  const started = performance.now()
  const { seen, commits, sinceModel, sinceCommit } = await streamAll(store, 'timed')
  const seconds = (performance.now() - started) / 1_000
  return [
    { what: `${name}: changes that reached their followers`, measured: `${seen}, all of them` },
    {
      what: `${name}: changes per second, commits`,
      measured: `${Math.round(seen / seconds)}, ${commits}`,
    },
    {
      what: `${name}: from the commit to the follower, p50 and p99`,
      measured: shares(sinceCommit),
    },
    { what: `${name}: from the model to the follower, p50 and p99`, measured: shares(sinceModel) },
  ]
}

/** In a pass of its own: a collection stops everything. */
async function weighAll({ name, store }: BenchStore): Promise<Row> {
  const before = heapAfterCollection()
  let during = before
  await streamAll(store, 'weighed', () => {
    during = heapAfterCollection()
  })
  const kilobytes = (during - before) / threads / 1_024
  return { what: `${name}: heap per run, while all stream`, measured: `${kilobytes.toFixed(0)} kB` }
}

const shares = (values: readonly number[]): string => {
  const sorted = values.toSorted((left, right) => left - right)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
  return `${at(0.5).toFixed(1)} and ${at(0.99).toFixed(1)} ms`
}

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

/** Throws if a follower missed anything. */
async function streamAll(store: Store, prefix: string, onAllBegun = () => {}) {
  const words = Array.from({ length: deltas }, (_, index) => [
    { text: `word ${index} ` },
    { waitMs: pauseMs },
  ]).flat()
  const committedAt = new Map<string, number>()
  const timed: Store = {
    ...store,
    async commit(group) {
      const results = await store.commit(group)
      const now = performance.now()
      for (const [index, result] of results.entries()) {
        if (result.kind === 'appended') {
          committedAt.set(`${group[index]?.append.threadId} ${result.seq}`, now)
        }
      }
      return results
    },
  }
  let commits = 0
  const holdfast = createHoldfast({
    store: timed,
    model: scriptedModel(() => words),
    recoverEveryMs: 0,
    hooks: (event) => void (event.type === 'committed' && commits++),
  })
  const ids = Array.from({ length: threads }, (_, index) => parseThreadId(`${prefix}-${index}`))
  for (const id of ids) await store.createThread({ id, ownerId: 'o', title: '', at: 1 })
  const sinceModel: number[] = []
  const sinceCommit: number[] = []
  let seen = 0
  const follow = async (id: (typeof ids)[number]) => {
    let view: ThreadView = { seq: 0, messages: [] }
    const stop = new AbortController()
    for await (const frame of holdfast.subscribe(id, 0, stop.signal)) {
      const now = performance.now()
      for (const change of frame.changes) {
        if (change.kind !== 'event') continue
        sinceModel.push(Date.now() - change.event.at)
        const stored = committedAt.get(`${id} ${change.commit}`)
        if (stored === undefined) throw new Error('shown before it was stored')
        sinceCommit.push(now - stored)
      }
      seen += frame.changes.length
      view = foldThread(view, frame.changes)
      const turn = view.messages.at(-1)
      if (turn?.role === 'assistant' && turn.progress.status === 'ended') stop.abort()
    }
    return view.seq
  }
  const parts = [{ type: 'text', text: 'go' }] as const
  const following = ids.map(follow)
  for (const [index, threadId] of ids.entries()) {
    await holdfast.send({ threadId, message: { id: `u${index}` as never, parts } })
  }
  onAllBegun()
  const reached = await Promise.all(following)
  const stored = await Promise.all(ids.map((id) => store.readThread(id)))
  const missing = stored.filter((thread, index) => thread?.seq !== reached[index]).length
  if (missing > 0) throw new Error(`${missing} followers missed something`)
  await holdfast.close()
  return { seen, commits, sinceModel, sinceCommit }
}

/** A turn of 5,000 events is caught up with in one read and one fold. */
async function catchUp({ name, store }: BenchStore): Promise<readonly Row[]> {
  const threadId = parseThreadId('catch-up')
  await store.createThread({ id: threadId, ownerId: 'o', title: '', at: 1 })
  const turnId = 'long-turn' as never
  const text = Array.from({ length: 5_000 }, () => ({
    type: 'text-appended' as const,
    turnId,
    at: 1,
    block: 't',
    delta: 'word ',
  }))
  await createThreadWriter(store, threadId).write([
    { type: 'turn-started', turnId, at: 1, replyTo: null },
    { type: 'step-started', turnId, at: 1, step: 0 },
    { type: 'text-started', turnId, at: 1, block: 't', kind: 'text' },
    ...text,
  ])
  const [read] = await measure(
    [{ name: 'catch up', run: () => store.readMessage(threadId, turnId) }],
    15,
  )
  return [{ what: `${name}: catching up on 5,000 events`, measured: ms(read?.medianMs ?? 0) }]
}
