import { tool } from 'ai'
import { createHoldfast } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { type ScriptedCall, scriptedModel } from 'holdfast/testing'
import { z } from 'zod'

/**
 * One server in a process of its own, on the database that DB names. Its model streams as many words as the message asks
 * for, and of as many letters, one every 20 ms; or it calls a tool for as many results. It sends its parent its address and, on request, the memory that it holds, the CPU time that it
 * has used, and the longest time that its main thread worked without a break.
 */

const { DB = '' } = process.env
const store = DB.startsWith('postgres://') ? postgres(DB) : sqlite(DB)
const pauseMs = 20

const holdfast = createHoldfast({
  store,
  model: scriptedModel((call) => {
    const results = numberIn(call, 'results') ?? 0
    const letters = numberIn(call, 'letters') ?? 0
    if (results > 0) {
      return Array.from({ length: results }, () => ({ call: 'look_up', input: { letters } }))
    }
    return Array.from({ length: numberIn(call, 'words') ?? 1 }, (_, index) => [
      { text: `word ${index} `.padEnd(letters, 'x') },
      { waitMs: pauseMs },
    ]).flat()
  }),
  tools: {
    look_up: tool({
      inputSchema: z.object({ letters: z.number() }),
      execute: ({ letters }) => ({ text: 'x'.repeat(letters) }),
    }),
  },
})
const listening = await listen(createHandler(holdfast), { port: 0, host: '127.0.0.1' })

/** What a person asks for: of a step after their message, nothing. */
function numberIn({ prompt }: ScriptedCall, what: string): number | undefined {
  const last = prompt.at(-1)
  const found = new RegExp(`(\\d+) ${what}`).exec(JSON.stringify(last?.content))
  return last?.role === 'user' && found !== null ? Number(found[1]) : undefined
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
