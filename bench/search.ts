import { createHoldfast, type Holdfast, type Store } from 'holdfast'
import { createRandom } from '../src/testing/random.ts'
import { type BenchStore, openBenchStores } from './bench-stores.ts'
import { median, ms, printTable, type Row } from './measure.ts'
import { createThreadWriter } from './thread-writer.ts'

const threads = 100
const messagesPerThread = 1_000
const rounds = 60
const warmUps = 10
const barMs = 20

/** Words of which few are common and most are rare, as in what people write. */
const random = createRandom(1)
const word = (): string => `word${Math.floor(5_000 * (random.int(1_000) / 1_000) ** 3)}`

const queries: readonly (readonly [what: string, q: () => string])[] = [
  ['a common word', () => 'word0'],
  ['a rare word', () => `word${4_000 + random.int(900)}`],
  ['two words', () => `word${random.int(50)} word${1_000 + random.int(500)}`],
  ['the beginning of a word', () => `word${40 + random.int(9)}`],
  ['a word that nobody said', () => 'nothing'],
]

/** Search of one owner who has 100,000 messages (FK1). */
export async function benchSearch(): Promise<void> {
  const rows: Row[] = []
  for (const benchStore of await openBenchStores()) {
    rows.push(...(await benchOne(benchStore)))
    await benchStore.close()
  }
  printTable(
    `Search: in ${threads * messagesPerThread} messages, p50 of a page of 20, against ${barMs} ms`,
    rows,
  )
}

async function benchOne({ name, store, analyze }: BenchStore): Promise<readonly Row[]> {
  await writeThreads(store)
  const holdfast = createHoldfast({ store, recoverEveryMs: 0 })
  const begun = performance.now()
  const { isComplete } = await holdfast.search({ ownerId: 'o', q: 'word0' })
  const firstMs = performance.now() - begun
  await untilIndexed(holdfast)
  const indexMs = performance.now() - begun
  await analyze()
  const first = `${name}: the first search, ${isComplete ? 'complete' : 'not complete'}`
  const rows: Row[] = [
    { what: first, measured: ms(firstMs) },
    { what: `${name}: to read all of it once`, measured: ms(indexMs) },
  ]
  for (const [what, toQuery] of queries) {
    const times: number[] = []
    for (let round = -warmUps; round < rounds; round++) {
      const q = toQuery()
      const start = performance.now()
      await holdfast.search({ ownerId: 'o', q })
      if (round >= 0) times.push(performance.now() - start)
    }
    const middle = median(times)
    const measured = ms(middle)
    rows.push({ what: `${name}: ${what}`, measured, ratio: middle / barMs, bar: 1 })
  }
  await holdfast.close()
  return rows
}

/** What is new is read in the background, and faster while a search waits for it. */
async function untilIndexed(holdfast: Holdfast): Promise<void> {
  for (;;) {
    const { isComplete } = await holdfast.search({ ownerId: 'o', q: 'only0in' })
    if (isComplete) return
  }
}

async function writeThreads(store: Store): Promise<void> {
  const at = Date.now()
  for (let thread = 0; thread < threads; thread++) {
    const threadId = `search-${thread}`
    await store.createThread({ id: threadId, ownerId: 'o', title: `Thread ${thread}`, at })
    const writer = createThreadWriter(store, threadId)
    for (let first = 0; first < messagesPerThread; first += 500) {
      const events = Array.from({ length: 500 }, (_, index) => {
        const words = Array.from({ length: 20 }, word)
        if (index === 0) words.push(`only${thread}in`)
        const messageId = `${threadId}-${first + index}`
        const parts = [{ type: 'text', text: words.join(' ') }] as const
        return { type: 'message-added', messageId, role: 'user', parts, at } as const
      })
      await writer.write(events)
    }
  }
}
