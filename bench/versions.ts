import { createHoldfast, parseThreadId, type Store, type ThreadId } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { type BenchStore, openBenchStores } from './bench-stores.ts'
import { median, ms, printTable, type Row } from './measure.ts'
import { createThreadWriter } from './thread-writer.ts'

const messages = 10_000
const switches = 100
const warmUps = 10

/** Another version near the end of a long thread (VR2), and a copy of all of it (VR4). */
export async function benchVersions(): Promise<void> {
  const rows: Row[] = []
  for (const benchStore of await openBenchStores()) {
    rows.push(...(await benchOne(benchStore)))
    await benchStore.close()
  }
  printTable(
    `Versions: in a thread of ${messages} messages, against one raw commit of 1 KB, p50`,
    rows,
  )
}

async function benchOne({ name, store, raw }: BenchStore): Promise<readonly Row[]> {
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(() => [{ text: 'An answer.' }]),
    recoverEveryMs: 0,
  })
  const threadId = parseThreadId('versions')
  await writeThread(store, threadId)
  await holdfast.regenerate({ threadId })
  await holdfast.settled()
  const query = { threadId, limit: 1, before: null, live: 'include', results: 'full' } as const
  const ids = (await store.readPage(query))?.messages[0]?.versions?.map(({ id }) => id) ?? []
  const body = 'x'.repeat(1_000)
  const times = { raw: [] as number[], ours: [] as number[] }
  for (let round = -warmUps; round < switches; round++) {
    const rawStart = performance.now()
    await raw.insert([{ thread: 'versions', seq: round + warmUps, body }])
    const start = performance.now()
    const shown = await holdfast.show(threadId, ids[(round + warmUps) % 2] ?? '')
    const end = performance.now()
    if (shown.kind !== 'shown') throw new Error(`not shown: ${shown.kind}`)
    if (round < 0) continue
    times.raw.push(start - rawStart)
    times.ours.push(end - start)
  }
  const begun = performance.now()
  const forked = await holdfast.threads.fork(threadId)
  if (forked.kind !== 'forked') throw new Error(`not forked: ${forked.kind}`)
  const forkMs = performance.now() - begun
  await holdfast.close()
  const [ours, rawMs] = [median(times.ours), median(times.raw)]
  return [
    {
      what: `${name}: one switch`,
      measured: `${ms(ours)} (raw ${ms(rawMs)})`,
      ratio: ours / rawMs,
      bar: 3,
    },
    { what: `${name}: a fork of all of it`, measured: ms(forkMs) },
  ]
}

async function writeThread(store: Store, threadId: ThreadId): Promise<void> {
  const at = Date.now()
  await store.createThread({ id: threadId, ownerId: 'o', title: '', at })
  const writer = createThreadWriter(store, threadId)
  for (let first = 0; first < messages; first += 500) {
    const events = Array.from({ length: 250 }, (_, index) => {
      const id = `user-${first + index}`
      const turnId = `turn-${first + index}`
      return [
        {
          type: 'message-added',
          messageId: id,
          role: 'user',
          parts: [{ type: 'text', text: `Question ${id}` }],
          at,
        },
        { type: 'turn-started', turnId, replyTo: id, at },
        { type: 'step-started', turnId, step: 0, at },
        { type: 'text-started', turnId, block: '0', kind: 'text', at },
        {
          type: 'text-appended',
          turnId,
          block: '0',
          delta: 'An answer of a few words. '.repeat(10),
          at,
        },
        { type: 'text-ended', turnId, block: '0', at },
        { type: 'step-ended', turnId, finishReason: 'stop', at },
        { type: 'turn-ended', turnId, ending: { kind: 'completed' }, at },
      ] as const
    }).flat()
    await writer.write(events)
  }
}
