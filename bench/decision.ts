import { tool } from 'ai'
import { createHoldfast, parseMessageId, parseThreadId } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { z } from 'zod'
import { type BenchStore, openBenchStores } from './bench-stores.ts'
import { median, ms, printTable, type Row } from './measure.ts'

const decisions = 150
const warmUps = 20

/** From a person's decision to the moment it is durable, after which the tool may start. */
export async function benchDecision(): Promise<void> {
  const rows: Row[] = []
  for (const benchStore of await openBenchStores()) {
    rows.push(await benchOne(benchStore))
    await benchStore.close()
  }
  printTable('Decision: an approval, against one raw commit of 1 KB, p50', rows)
}

async function benchOne({ name, store, raw }: BenchStore): Promise<Row> {
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(({ prompt }) =>
      prompt.at(-1)?.role === 'tool'
        ? [{ text: 'Done.' }]
        : [{ call: 'delete_note', input: { title: 'Groceries' } }],
    ),
    tools: {
      delete_note: tool({ inputSchema: z.object({ title: z.string() }), execute: () => 'deleted' }),
    },
    policies: { delete_note: { approval: 'always' } },
    recoverEveryMs: 0,
  })
  const body = 'x'.repeat(1_000)
  const times = { raw: [] as number[], ours: [] as number[] }
  for (let round = -warmUps; round < decisions; round++) {
    const threadId = parseThreadId(`decision-${round + warmUps}`)
    const message = {
      id: parseMessageId('question'),
      parts: [{ type: 'text', text: 'Delete Groceries.' }],
    } as const
    await holdfast.send({ threadId, message, create: { ownerId: 'o', title: '' } })
    await holdfast.settled(threadId)
    const query = { threadId, limit: 1, before: null, live: 'include', results: 'full' } as const
    const waiting = (await store.readPage(query))?.messages[0]
    const call = waiting?.role === 'assistant' ? waiting.steps[0]?.parts[0] : undefined
    if (call?.type !== 'call') throw new Error('there is no call to decide on')

    const rawStart = performance.now()
    await raw.insert([{ thread: 'decision', seq: round + warmUps, body }])
    const start = performance.now()
    const [result] = await holdfast.decide({
      threadId,
      by: 'o',
      decisions: [{ toolCallId: call.id, decision: 'accept' }],
    })
    const end = performance.now()
    if (result?.kind !== 'accepted') throw new Error(`not accepted: ${result?.kind}`)
    await holdfast.settled(threadId)
    if (round < 0) continue
    times.raw.push(start - rawStart)
    times.ours.push(end - start)
  }
  await holdfast.close()
  const [ours, rawMs] = [median(times.ours), median(times.raw)]
  return {
    what: `${name}: one decision`,
    measured: `${ms(ours)} (raw ${ms(rawMs)})`,
    ratio: ours / rawMs,
    bar: 3,
  }
}
