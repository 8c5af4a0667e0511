// The demo as a server, from the installed package: what `npm run runtimes` starts on each runtime. Prints its address.

import { createHoldfast, memory } from 'holdfast'
import { createDemoTools, demoModel } from 'holdfast/demo'
import { postgres } from 'holdfast/postgres'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'

const { DB = 'memory', OWNERS } = process.env
const openStore = () => {
  if (DB === 'memory') return memory()
  return DB.startsWith('postgres://') ? postgres(DB) : sqlite(DB)
}
const holdfast = createHoldfast({
  store: openStore(),
  model: demoModel({ delayMs: 0 }),
  leaseMs: 2_000,
  recoverEveryMs: 200,
  retryDelayMs: 1,
  ...createDemoTools(),
})
/** @param {Request} request */
const authenticate = (request) => {
  const id = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
  return id === undefined ? null : { id }
}
const handler = createHandler(holdfast, {
  keepAliveMs: 1_000,
  ...(OWNERS === undefined ? {} : { authenticate }),
})
const { url } = await listen(handler, { port: 0, host: '127.0.0.1' })
process.stdout.write(`${url}\n`)
