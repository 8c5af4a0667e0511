import { expect, it } from 'vitest'
import { parseThreadId } from '../../core/ids.ts'
import type { ChangeNotification } from '../store.ts'
import { parseNotifyPayload, toNotifyPayloads } from './notify-payload.ts'

it('gives back what was sent, in pieces that PostgreSQL takes', () => {
  const notifications = Array.from({ length: 500 }, (_, index): ChangeNotification => ({
    threadId: parseThreadId(`${index}${'語'.repeat(index % 190)}"\\`),
    seq: index,
    ...(index % 7 === 0 ? { stop: true } : {}),
  }))
  const payloads = [...toNotifyPayloads('me', notifications)]
  expect(payloads.length).toBeGreaterThan(1)
  for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8000)
  const parsed = payloads.map(parseNotifyPayload)
  expect(parsed.map((sent) => sent?.from)).toEqual(payloads.map(() => 'me'))
  expect(parsed.flatMap((sent) => sent?.notifications ?? [])).toEqual(notifications)
})

it('sends nothing where there is nothing to say', () => {
  expect([...toNotifyPayloads('me', [])]).toEqual([])
})

it.each(['', 'null', '{}', '[]', '["me"]', '[1, []]', '["me", {}]'])(
  'takes %j for nobody of ours',
  (payload) => {
    expect(parseNotifyPayload(payload)).toBeUndefined()
  },
)
