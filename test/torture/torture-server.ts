import type { DatabaseSync } from 'node:sqlite'
import { createHoldfast } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { maxTextChars, tortureModel, torturePolicies, tortureTools } from './torture-model.ts'

/**
 * A whole server in a process of its own, which takes orders from its parent: set the clock, let the disk be full, say
 * how much memory is held. It ends with its parent, however that ends.
 */

/** What the parent says. */
export type Order =
  | { readonly type: 'clock'; readonly offsetMs: number }
  /** SQLite alone: the file may not grow any more, or may again. */
  | { readonly type: 'disk'; readonly isFull: boolean }
  | { readonly type: 'memory' }
  | { readonly type: 'work' }

/** What it is answered. */
export type Answer =
  | { readonly type: 'listening'; readonly url: string }
  | { readonly type: 'memory'; readonly heap: number; readonly rss: number }
  /** Turns that it produces, and requests to change something that it has not answered, whether or not anybody waits. */
  | { readonly type: 'work'; readonly runs: number; readonly requests: number }
  | { readonly type: 'done' }

const { DB = '', TRACE = '' } = process.env

const systemNow = Date.now.bind(Date)
let offsetMs = 0
Date.now = () => systemNow() + offsetMs

// The store keeps its connections to itself, and the limit of a file's size is one connection's own.
const connections = new Set<DatabaseSync>()
const sqliteModule = process.getBuiltinModule('node:sqlite')
class WatchedDatabase extends sqliteModule.DatabaseSync {
  constructor(...args: ConstructorParameters<typeof DatabaseSync>) {
    super(...args)
    connections.add(this)
  }

  override close(): void {
    connections.delete(this)
    super.close()
  }
}
sqliteModule.DatabaseSync = WatchedDatabase
const largestPageCount = 4_294_967_294

const store = DB.startsWith('postgres://')
  ? postgres(DB, { statementTimeoutMs: 2_000, connectTimeoutMs: 2_000, poolSize: 6 })
  : sqlite(DB)
const holdfast = createHoldfast({
  store,
  model: tortureModel(),
  tools: tortureTools(TRACE),
  policies: torturePolicies,
  maxTextChars,
  leaseMs: 2_000,
  recoverEveryMs: 300,
  retryDelayMs: 10,
})
const handler = createHandler(holdfast, {
  keepAliveMs: 500,
  log: () => undefined,
  authenticate(request) {
    const id = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
    return id === undefined ? null : { id }
  },
})
let requests = 0
const counted: typeof handler = async (request) => {
  if (request.method === 'GET') return handler(request)
  requests++
  try {
    return await handler(request)
  } finally {
    requests--
  }
}
const server = await listen(counted, {
  port: 0,
  host: '127.0.0.1',
  stallMs: 3_000,
  onError: () => undefined,
})

function obey(order: Order): Answer {
  switch (order.type) {
    case 'clock':
      offsetMs = order.offsetMs
      return { type: 'done' }
    case 'disk':
      for (const connection of connections) {
        if (!connection.isOpen) connections.delete(connection)
        else {
          // One page is less than there is, which SQLite takes for: not one more.
          const pages = order.isFull ? 1 : largestPageCount
          connection.exec(`PRAGMA max_page_count = ${pages}`)
        }
      }
      return { type: 'done' }
    case 'memory': {
      globalThis.gc?.()
      const { heapUsed, external, rss } = process.memoryUsage()
      return { type: 'memory', heap: heapUsed + external, rss }
    }
    case 'work':
      return { type: 'work', runs: holdfast.metrics().runs, requests }
  }
}

const sendAnswer = (answer: Answer) => process.send?.(answer)
process.on('message', (order: Order) => sendAnswer(obey(order)))
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', () => {
  void (async () => {
    await server.close()
    await holdfast.close()
    await store.close()
    process.exit(0)
  })()
})
sendAnswer({ type: 'listening', url: server.url })
