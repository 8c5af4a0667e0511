import { type CallId, type MessageId, type NewEvent, parseThreadId, type ThreadId } from 'holdfast'
import { type BenchStore, openBenchStores } from './bench-stores.ts'
import { measure, ms, printTable, type Row } from './measure.ts'
import { createThreadWriter } from './thread-writer.ts'

const sizes = { small: 200, large: 100_000 } as const
const result = 'x'.repeat(1_000)

export async function benchPage(): Promise<void> {
  for (const benchStore of await openBenchStores()) {
    // Filling takes minutes: what is known is printed before the next one begins.
    printTable('Page: turns of three calls with 1 KB results', await benchOne(benchStore))
    await benchStore.close()
  }
}

async function benchOne(benchStore: BenchStore): Promise<readonly Row[]> {
  const started = performance.now()
  const small = await fill(benchStore, 'small', sizes.small)
  const large = await fill(benchStore, 'large', sizes.large)
  const filled = performance.now() - started
  const page = (threadId: ThreadId, limit: number, before: number | null) => async () => {
    const query = { threadId, limit, before, live: 'include', results: 'full' } as const
    const read = await benchStore.store.readPage(query)
    if (read?.messages.length !== limit) throw new Error('short page')
  }
  const end = (await benchStore.store.readThread(large))?.seq ?? 0
  const [blobs, whole, few, newest, middle, oldest] = await measure(
    [
      {
        name: 'blobs',
        async run() {
          const bodies = await benchStore.raw.read('large', sizes.large, 100)
          for (const body of bodies) JSON.parse(body)
        },
      },
      { name: 'whole', run: page(large, 100, null) },
      { name: 'few', run: page(small, 50, null) },
      { name: 'newest', run: page(large, 50, null) },
      { name: 'middle', run: page(large, 50, Math.floor(end / 2)) },
      { name: 'oldest', run: page(large, 50, Math.ceil((end / sizes.large) * 51)) },
    ],
    60,
  )
  const against = (what: string, left: typeof few, right: typeof few, bar: number): Row => ({
    what: `${benchStore.name}: ${what}`,
    measured: `${ms(left?.medianMs ?? 0)} (${ms(right?.medianMs ?? 0)})`,
    ratio: (left?.medianMs ?? 0) / (right?.medianMs ?? 1),
    bar,
  })
  return [
    {
      what: `${benchStore.name}: filling ${sizes.large} messages`,
      measured: `${(filled / 1_000).toFixed(1)} s`,
    },
    against('50 turns with their messages, against one JSON blob per message', whole, blobs, 3),
    against('newest 50 of 100,000, against 50 of 200', newest, few, 1.2),
    against('middle 50 of 100,000, against 50 of 200', middle, few, 1.2),
    against('oldest 50 of 100,000, against 50 of 200', oldest, few, 1.2),
  ]
}

/** Half of the messages are the user's, half are turns that have ended. */
async function fill(benchStore: BenchStore, name: string, messages: number): Promise<ThreadId> {
  const threadId = parseThreadId(name)
  await benchStore.store.createThread({ id: threadId, ownerId: 'o', title: '', at: 1 })
  const writer = createThreadWriter(benchStore.store, threadId)
  // As an import does it: many turns in one append.
  for (let turn = 0; turn < messages / 2; turn += 100) {
    const count = Math.min(100, messages / 2 - turn)
    const ids = Array.from({ length: count }, (_, index) => `${name}-${turn + index}` as MessageId)
    await writer.write(ids.flatMap(turnEvents))
  }
  const query = { threadId, limit: 100, before: null, live: 'include', results: 'full' } as const
  const newest = (await benchStore.store.readPage(query))?.messages ?? []
  // The baseline has as many rows around it as ours have.
  for (let seq = 0; seq < messages; seq += 500) {
    const rows = Array.from({ length: Math.min(500, messages - seq) }, (_, index) => ({
      thread: name,
      seq: seq + index,
      body: JSON.stringify(newest[(seq + index) % newest.length]),
    }))
    await benchStore.raw.insert(rows)
  }
  return threadId
}

function turnEvents(turnId: MessageId): readonly NewEvent[] {
  const of = { turnId, at: 1 } as const
  const messageId = `user-of-${turnId}` as MessageId
  const calls = [0, 1, 2].flatMap((index): NewEvent[] => {
    const callId = `${turnId}-${index}` as CallId
    const call = { id: callId, providerCallId: callId, name: 'search' }
    const output = { kind: 'inline', value: { result } } as const
    return [
      { ...of, type: 'call-recorded', callId, call, input: { q: 'x' }, approval: 'not-required' },
      { ...of, type: 'call-started', callId },
      { ...of, type: 'call-settled', callId, outcome: { state: 'succeeded', output } },
    ]
  })
  return [
    { type: 'message-added', at: 1, messageId, role: 'user', parts: [{ type: 'text', text: 'q' }] },
    { ...of, type: 'turn-started', replyTo: messageId },
    { ...of, type: 'step-started', step: 0 },
    ...calls,
    { ...of, type: 'step-ended', finishReason: 'tool-calls' },
    { ...of, type: 'step-started', step: 1 },
    { ...of, type: 'text-started', block: '1.0', kind: 'text' },
    { ...of, type: 'text-appended', block: '1.0', delta: 'The answer, in about forty characters.' },
    { ...of, type: 'text-ended', block: '1.0' },
    { ...of, type: 'step-ended', finishReason: 'stop' },
    { ...of, type: 'turn-ended', ending: { kind: 'completed' } },
  ]
}
