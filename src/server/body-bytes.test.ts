import { expect, it } from 'vitest'
import { createBodyBytes } from './body-bytes.ts'

const limits = { bodyBytes: 10, unreadBytesPerOwner: 25, unreadBytes: 40 }

it('[OP7] refuses the bodies of an owner who has too many bytes unanswered, and no other’s', () => {
  const bodies = createBodyBytes(limits)
  const [first, second, third] = [bodies.open('ana'), bodies.open('ana'), bodies.open('ana')]
  first.hold(10)
  second.hold(10)
  third.hold(5)
  expect(() => third.hold(1)).toThrow(/^You have too many/)
  // What was refused does not count.
  expect(bodies.bytes).toBe(25)
  bodies.open('ben').hold(10)
  second.release()
  third.hold(5)
  expect(bodies.bytes).toBe(30)
})

it('[OP7] when the process is full, an owner may still have as much as one body', () => {
  const bodies = createBodyBytes(limits)
  for (const owner of ['ana', 'ben']) bodies.open(owner).hold(20)
  const body = bodies.open('cleo')
  body.hold(4)
  bodies.open('cleo').hold(6)
  expect(() => body.hold(1)).toThrow(/^This server has too many/)
})

it('[OP7] a limit that is smaller than one body refuses none that comes alone', () => {
  const bodies = createBodyBytes({ ...limits, unreadBytesPerOwner: 1, unreadBytes: 1 })
  const body = bodies.open('ana')
  body.hold(10)
  expect(() => bodies.open('ana').hold(1)).toThrow(/^You have too many/)
  body.release()
  // Once, however often.
  body.release()
  expect(bodies.bytes).toBe(0)
  bodies.open('ana').hold(10)
})
