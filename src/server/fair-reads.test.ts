import { expect, it } from 'vitest'
import { createFairReads } from './fair-reads.ts'

const atOnce = () => true

it('[OP7a] reads for owners round-robin, however many reads one of them has queued', async () => {
  const order: string[] = []
  const reads = createFairReads(atOnce)
  const read = (owner: string, name: string) =>
    reads.gateOf(owner)(async () => {
      order.push(name)
      return name
    })
  const many = Array.from({ length: 5 }, (_, index) => read('ana', `ana ${index}`))
  const one = read('ben', 'ben')
  expect(await one).toBe('ben')
  await Promise.all(many)
  expect(order).toEqual(['ana 0', 'ben', 'ana 1', 'ana 2', 'ana 3', 'ana 4'])
})

it('[OP7a] lets other work run between two reads of one owner', async () => {
  const order: string[] = []
  const reads = createFairReads(atOnce)
  const gate = reads.gateOf('ana')
  const first = gate(async () => void order.push('first'))
  const second = gate(async () => void order.push('second'))
  setImmediate(() => order.push('somebody else'))
  await Promise.all([first, second])
  expect(order).toEqual(['first', 'somebody else', 'second'])
})

it('[OP7a] lets other work run between consecutive reads of one follower', async () => {
  const order: string[] = []
  const gate = createFairReads(atOnce).gateOf('ana')
  setImmediate(() => order.push('somebody else'))
  // Each read is requested only when the one before is done, so that the queue is always empty.
  for (const name of ['first', 'second', 'third']) {
    await gate(async () => void order.push(name))
    // A follower's processing of the result: some microtasks, none of which waits for I/O.
    for (let step = 0; step < 10; step++) await Promise.resolve()
  }
  expect(order.indexOf('somebody else')).toBe(1)
})

it('[OP7a] leaves as much time to others as the reads of one owner used', async () => {
  const reads = createFairReads(atOnce)
  const cpuMs = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
  const busyMs = 30
  const ended = await reads.gateOf('ana')(async () => {
    for (const until = cpuMs() + busyMs; cpuMs() < until;);
    return performance.now()
  })
  const order: string[] = []
  const again = reads.gateOf('ana')(async () => {
    order.push('ana')
    return performance.now()
  })
  const other = reads.gateOf('ben')(async () => void order.push('ben'))
  await other
  expect((await again) - ended).toBeGreaterThan(busyMs / 2)
  expect(order).toEqual(['ben', 'ana'])
})

it('[OP7a] keeps an owner without room waiting, and no other', async () => {
  const full = new Set(['ana'])
  const reads = createFairReads((owner) => !full.has(owner))
  let isRead = false
  const waiting = reads.gateOf('ana')(async () => {
    isRead = true
  })
  expect(await reads.gateOf('ben')(async () => 'read')).toBe('read')
  expect(isRead).toBe(false)
  full.clear()
  reads.wake()
  await waiting
})

it('[OP7a] rejects only the caller of a read that throws, and goes on', async () => {
  const reads = createFairReads(atOnce)
  const gate = reads.gateOf('ana')
  const failed = gate(() => Promise.reject(new Error('gone')))
  const next = gate(async () => 'read')
  await expect(failed).rejects.toThrow('gone')
  expect(await next).toBe('read')
})
