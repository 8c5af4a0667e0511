import { expect, it } from 'vitest'
import { createFairReads } from './fair-reads.ts'

const atOnce = () => true

it('[OP7a] reads for owners in turns, however much one of them asked for before', async () => {
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

it('[OP7a] lets others work between two reads of one owner', async () => {
  const order: string[] = []
  const reads = createFairReads(atOnce)
  const gate = reads.gateOf('ana')
  const first = gate(async () => void order.push('first'))
  const second = gate(async () => void order.push('second'))
  setImmediate(() => order.push('somebody else'))
  await Promise.all([first, second])
  expect(order).toEqual(['first', 'somebody else', 'second'])
})

it('[OP7a] keeps an owner without room waiting, and nobody else', async () => {
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

it('[OP7a] gives what a read throws to the one who asked, and goes on', async () => {
  const reads = createFairReads(atOnce)
  const gate = reads.gateOf('ana')
  const failed = gate(() => Promise.reject(new Error('gone')))
  const next = gate(async () => 'read')
  await expect(failed).rejects.toThrow('gone')
  expect(await next).toBe('read')
})
