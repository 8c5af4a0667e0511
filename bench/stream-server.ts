import { createHoldfast } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { type ScriptedCall, scriptedModel } from 'holdfast/testing'

/**
 * One server in a process of its own, on the database that DB names. Its model streams as many words as the message asks
 * for, one every 20 ms. It sends its parent its address and, on request, the memory that it holds, the CPU time that it
 * has used, and the longest time that its main thread worked without a break.
 */

const { DB = '' } = process.env
const store = DB.startsWith('postgres://') ? postgres(DB) : sqlite(DB)
const pauseMs = 20

const holdfast = createHoldfast({
  store,
  model: scriptedModel((call) =>
    Array.from({ length: wordsIn(call) }, (_, index) => [
      { text: `word ${index} ` },
      { waitMs: pauseMs },
    ]).flat(),
  ),
})
const listening = await listen(createHandler(holdfast), { port: 0, host: '127.0.0.1' })

function wordsIn({ prompt }: ScriptedCall): number {
  return Number(/(\d+) words/.exec(JSON.stringify(prompt.at(-1)))?.[1] ?? 1)
}

// What the main thread worked between two turns of its timers: the longest that somebody could have had to wait for it,
// whatever else the machine does.
const threadCpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
let longestMs = 0
let lookedAt = threadCpuMs()
setInterval(() => {
  const now = threadCpuMs()
  longestMs = Math.max(longestMs, now - lookedAt)
  lookedAt = now
}, 2).unref()

process.on('message', (question: 'memory' | 'cpu' | 'rss' | 'longest') => {
  if (question === 'rss') return void process.send?.(process.memoryUsage.rss())
  if (question === 'longest') {
    process.send?.(longestMs)
    longestMs = 0
    return
  }
  if (question === 'cpu') {
    const { user, system } = process.cpuUsage()
    process.send?.((user + system) / 1_000)
    return
  }
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ rss, heapUsed })
})
process.on('disconnect', () => {
  void listening
    .close()
    .then(() => holdfast.close())
    .then(() => store.close())
})
process.send?.({ url: listening.url })
