import { createHoldfast } from 'holdfast'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'

/** A server in a process of its own, with a heap that the test limits. Says where it is, and what it holds when asked. */
const store = sqlite(process.env['DB'] ?? ':memory:')
const holdfast = createHoldfast({ store, recoverEveryMs: 0 })
const { url } = await listen(createHandler(holdfast), { port: 0, host: '127.0.0.1' })
process.on('message', () => {
  globalThis.gc?.()
  process.send?.({ rss: process.memoryUsage.rss(), followers: holdfast.metrics().followers })
})
process.on('disconnect', () => process.exit())
process.send?.({ url })
