import { createHoldfast } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { createDemoTools, demoModel } from 'holdfast/demo'

/** A whole server in a process of its own: prints its address, then one JSON line per log record. */

const {
  DB = ':memory:',
  OWNERS,
  DELAY_MS = '0',
  LEASE_MS = '2000',
  STALL_MS,
  PORT = '0',
} = process.env
const store = DB.startsWith('postgres://') ? postgres(DB) : sqlite(DB)
const writeLine = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

const holdfast = createHoldfast({
  store,
  model: demoModel({ delayMs: Number(DELAY_MS) }),
  leaseMs: Number(LEASE_MS),
  recoverEveryMs: 200,
  retryDelayMs: 1,
  hooks: (event) => writeLine({ log: event }),
  ...createDemoTools(),
})
const handler = createHandler(holdfast, {
  keepAliveMs: 1_000,
  log: (record) => writeLine({ log: record }),
  ...(OWNERS === undefined
    ? {}
    : {
        authenticate(request) {
          const id = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
          return id === undefined ? null : { id }
        },
      }),
})
const server = await listen(handler, {
  port: Number(PORT),
  host: '127.0.0.1',
  ...(STALL_MS === undefined ? {} : { stallMs: Number(STALL_MS) }),
})
writeLine({ url: server.url })

process.once('SIGTERM', () => {
  void (async () => {
    await server.close()
    await holdfast.close()
    await store.close()
    writeLine({ closed: true })
  })()
})
