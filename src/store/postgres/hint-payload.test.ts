import { expect, it } from 'vitest'
import { parseThreadId } from '../../core/ids.ts'
import type { Hint } from '../store.ts'
import { parseHintPayload, toHintPayloads } from './hint-payload.ts'

it('gives back what was sent, in pieces that PostgreSQL takes', () => {
  const hints = Array.from({ length: 500 }, (_, index): Hint => ({
    threadId: parseThreadId(`${index}${'語'.repeat(index % 190)}"\\`),
    seq: index,
    ...(index % 7 === 0 ? { stop: true } : {}),
  }))
  const payloads = [...toHintPayloads('me', hints)]
  expect(payloads.length).toBeGreaterThan(1)
  for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8000)
  const parsed = payloads.map(parseHintPayload)
  expect(parsed.map((sent) => sent?.from)).toEqual(payloads.map(() => 'me'))
  expect(parsed.flatMap((sent) => sent?.hints ?? [])).toEqual(hints)
})

it('sends nothing where there is nothing to say', () => {
  expect([...toHintPayloads('me', [])]).toEqual([])
})

it.each(['', 'null', '{}', '[]', '["me"]', '[1, []]', '["me", {}]'])(
  'takes %j for nobody of ours',
  (payload) => {
    expect(parseHintPayload(payload)).toBeUndefined()
  },
)
