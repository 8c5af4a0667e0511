import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A line to a server on which packets can be made to vanish, as a broken network or a firewall does it. */
export interface StallingLine {
  /** `url` by way of this line. */
  readonly url: string
  /**
   * From here on nothing comes through, and nobody is told: `all` connections, also those that are made later;
   * those that are there `now`; or only what the server says on those (`answers`).
   */
  stall(what: 'all' | 'now' | 'answers'): void
  /** What is new comes through again. What vanished stays lost. */
  restore(): void
  close(): void
}

type Stalled = 'none' | 'both' | 'answers'

export async function startStallingLine(target: string): Promise<StallingLine> {
  const { hostname, port } = new URL(target)
  const pairs = new Set<{ readonly near: Socket; readonly far: Socket; stalled: Stalled }>()
  let isStalled = false
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    const pair: { near: Socket; far: Socket; stalled: Stalled } = {
      near,
      far,
      stalled: isStalled ? 'both' : 'none',
    }
    pairs.add(pair)
    near.on('data', (bytes) => {
      if (pair.stalled !== 'both') far.write(bytes)
    })
    far.on('data', (bytes) => {
      if (pair.stalled === 'none') near.write(bytes)
    })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => {})
      from.on('close', () => {
        if (pair.stalled === 'none') to.destroy()
        if (near.destroyed && far.destroyed) pairs.delete(pair)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    stall(what) {
      isStalled = what === 'all'
      for (const pair of pairs) pair.stalled = what === 'answers' ? 'answers' : 'both'
    },
    restore() {
      isStalled = false
    },
    close() {
      server.close()
      for (const { near, far } of pairs) {
        near.destroy()
        far.destroy()
      }
    },
  }
}
