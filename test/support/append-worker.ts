import { createInterface } from 'node:readline'
import { parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import type { AppendResult } from '../../src/store/store.ts'
import { appendEvents } from '../../src/testing/store-rules/append-events.ts'

/**
 * A process that shares a database. Says `ready` when it has opened the file, waits for a line, then
 * appends, half of its messages at the seq that it remembers, and says what became of each.
 */
const [file = '', name = '', threadName = '', count = '0'] = process.argv.slice(2)
const threadId = parseThreadId(threadName)
const store = sqlite(file)
let last = 0

const append = async (number: number): Promise<AppendResult> => {
  const event = {
    type: 'message-added',
    messageId: parseMessageId(`${name}-${number}`),
    role: 'user',
    parts: [{ type: 'text', text: `From ${name}` }],
    at: 1,
  } as const
  const remembered = { threadId, events: [event], expectedSeq: last }
  const first = number % 2 === 0 ? await appendEvents(store, remembered) : undefined
  const isStored = first !== undefined && first.kind !== 'stale'
  const result = isStored ? first : await appendEvents(store, { threadId, events: [event] })
  if (result.kind === 'appended') last = result.seq
  return result
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
