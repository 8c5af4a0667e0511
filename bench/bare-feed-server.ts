import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The least that a server does for many followers: the same bytes, written to each response that is open, and
 * nothing else. In a process of its own, as the server that it is compared with. It sends its parent its
 * address and then, for each order, the CPU time that it took.
 */
export interface WriteOrder {
  readonly frames: number
  readonly bytes: number
  readonly everyMs: number
}

const responses = new Set<ServerResponse>()
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  responses.add(response)
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})

async function write({ frames, bytes, everyMs }: WriteOrder): Promise<number> {
  const before = process.cpuUsage()
  for (let sent = 0; sent < frames; sent++) {
    const frame = Buffer.alloc(bytes, 'x')
    for (const response of responses) response.write(frame)
    await sleep(everyMs)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

process.on('message', (order: WriteOrder) => void write(order).then((ms) => process.send?.(ms)))
process.on('disconnect', () => process.exit(0))
