// The least there is: a server on Node's own HTTP, without a framework. `node server.ts`

import { createHoldfast } from 'holdfast'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { createDemoTools, demoModel } from 'holdfast/demo'

const store = sqlite(process.env['HOLDFAST_DB'] ?? 'chat.db')
const holdfast = createHoldfast({ store, model: demoModel(), ...createDemoTools() })
const server = await listen(createHandler(holdfast), {
  port: Number(process.env['PORT'] ?? 8787),
  host: '127.0.0.1',
})
console.log(`Listening on ${server.url}`)

const stop = async () => {
  // Turns under way are handed over: the next start, or another server, carries them on.
  await holdfast.close()
  await server.close()
  await store.close()
}
process.once('SIGTERM', () => void stop())
