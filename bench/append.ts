import { type MessageId, type NewEvent, parseThreadId } from 'holdfast'
import { type BenchStore, openBenchStores } from './bench-stores.ts'
import { measure, ms, printTable, type Row } from './measure.ts'
import { createThreadWriter } from './thread-writer.ts'

const commits = 40

export async function benchAppend(): Promise<void> {
  const stores = await openBenchStores()
  const rows: Row[] = []
  for (const benchStore of stores) {
    rows.push(...(await benchOne(benchStore, 1, 1.5)), ...(await benchOne(benchStore, 50, 2)))
    await benchStore.close()
  }
  printTable('Append: durable commits to one thread, against raw rows of the same bytes', rows)
}

async function benchOne(
  benchStore: BenchStore,
  events: number,
  bar: number,
): Promise<readonly Row[]> {
  const threadId = parseThreadId(`append-${events}`)
  const turnId = `turn-${events}` as MessageId
  await benchStore.store.createThread({ id: threadId, ownerId: 'o', title: '', at: 1 })
  const start: readonly NewEvent[] = [
    { type: 'turn-started', turnId, at: 1, replyTo: null },
    { type: 'step-started', turnId, at: 1, step: 0 },
    { type: 'text-started', turnId, at: 1, block: '0.0', kind: 'text' },
  ]
  const writer = createThreadWriter(benchStore.store, threadId)
  await writer.write(start)
  const delta = 'about forty characters of streamed text '
  const batch: readonly NewEvent[] = Array.from({ length: events }, () => ({
    type: 'text-appended',
    turnId,
    at: 1,
    block: '0.0',
    delta,
  }))
  const body = JSON.stringify({ type: 'text-appended', block: '0.0', delta })
  let seq = 0
  const [raw, ours] = await measure(
    [
      {
        name: 'raw',
        async run() {
          for (let commit = 0; commit < commits; commit++) {
            await benchStore.raw.insert(batch.map(() => ({ thread: threadId, seq: ++seq, body })))
          }
        },
      },
      {
        name: 'holdfast',
        async run() {
          for (let commit = 0; commit < commits; commit++) await writer.write(batch)
        },
      },
    ],
    15,
  )
  const each = (measured: { medianMs: number } | undefined) => (measured?.medianMs ?? 0) / commits
  return [
    {
      what: `${benchStore.name}: ${events} event${events === 1 ? '' : 's'} in one append`,
      measured: `${ms(each(ours))} (raw ${ms(each(raw))})`,
      ratio: each(ours) / each(raw),
      bar,
    },
  ]
}
