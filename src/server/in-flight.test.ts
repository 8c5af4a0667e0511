import { expect, it } from 'vitest'
import { createInFlight } from './in-flight.ts'

const limits = { unreadBytesPerOwner: 100, unreadBytes: 150 }
const bytes = (size: number) => new Uint8Array(size)

it('[OP7a] counts bytes that several streams share once, until the last has consumed them', () => {
  const inFlight = createInFlight(limits, () => {})
  const meter = inFlight.meterOf('ana')
  const shared = bytes(60)
  meter.hold(shared)
  meter.hold(shared)
  expect(inFlight.bytes).toBe(60)
  meter.release(shared)
  expect(inFlight.bytes).toBe(60)
  meter.release(shared)
  expect(inFlight.bytes).toBe(0)
})

it('[OP7a] refuses an owner who has too many unread bytes, and no other', () => {
  let released = 0
  const inFlight = createInFlight(limits, () => released++)
  const piece = bytes(100)
  inFlight.meterOf('ana').hold(piece)
  expect(() => inFlight.admit('ana')).toThrow(/^You have too many unread/)
  expect(inFlight.hasRoom('ana')).toBe(false)
  expect(() => inFlight.admit('ben')).not.toThrow()
  inFlight.meterOf('ana').release(piece)
  expect(released).toBe(1)
  expect(() => inFlight.admit('ana')).not.toThrow()
})

it('[OP7a] when the process is full, whoever has nothing unread gets one read more, and others none', () => {
  const inFlight = createInFlight(limits, () => {})
  inFlight.meterOf('ana').hold(bytes(90))
  inFlight.meterOf('ben').hold(bytes(90))
  expect(() => inFlight.admit('ana')).toThrow(/^This server has too many unread/)
  expect(inFlight.hasRoom('ana')).toBe(false)
  expect(() => inFlight.admit('cleo')).not.toThrow()
  expect(inFlight.hasRoom('cleo')).toBe(true)
  const piece = bytes(1)
  inFlight.meterOf('cleo').hold(piece)
  expect(() => inFlight.admit('cleo')).toThrow(/^This server has too many unread/)
  inFlight.meterOf('cleo').release(piece)
  expect(() => inFlight.admit('cleo')).not.toThrow()
})
