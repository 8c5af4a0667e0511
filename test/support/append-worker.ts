import { createInterface } from 'node:readline'
import { parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import type { AppendResult } from '../../src/store/store.ts'

/**
 * A process that shares a database. Says `ready` when it has opened the file, waits for a line, then
 * appends, half of its messages under the seq that it has read, and says what became of each.
 */
const [file = '', name = '', threadName = '', count = '0'] = process.argv.slice(2)
const threadId = parseThreadId(threadName)
const store = sqlite(file)

const append = async (number: number): Promise<AppendResult> => {
  const event = {
    type: 'message-added',
    messageId: parseMessageId(`${name}-${number}`),
    role: 'user',
    parts: [{ type: 'text', text: `From ${name}` }],
    at: 1,
  } as const
  while (true) {
    const seq = (await store.readThread(threadId))?.seq ?? 0
    const expected = number % 2 === 0 ? { expectedSeq: seq } : {}
    const [result] = await store.commit([{ threadId, events: [event], ...expected }])
    if (result !== undefined && result.kind !== 'stale') return result
  }
}

process.stdout.write('ready\n')
for await (const line of createInterface(process.stdin)) {
  if (line !== 'go') break
  const results: AppendResult[] = []
  for (let number = 0; number < Number(count); number++) results.push(await append(number))
  process.stdout.write(`${JSON.stringify(results)}\n`)
  break
}
await store.close()
process.exit()
