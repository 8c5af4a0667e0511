import { expect, it } from 'vitest'
import { parseThreadId } from '../../core/ids.ts'
import type { ChangeNotification } from '../store.ts'
import { createNotifyPublisher, parseNotifyPayload, toNotifyPayloads } from './notify.ts'

const notification = (
  id: string,
  seq: number,
  more: { readonly stop?: true; readonly incarnation?: string } = {},
): ChangeNotification => ({
  threadId: parseThreadId(id),
  seq,
  ...more,
})

/**
 * The notifications that were sent, one list per payload; `send` fails this many times first, and does not end before
 * `untilSent` resolves.
 */
function createFixture(failures = 0, untilSent = async () => {}) {
  const sent: (readonly ChangeNotification[])[] = []
  const errors: unknown[] = []
  let left = failures
  const sender = createNotifyPublisher({
    from: 'me',
    notify: async (payloads) => {
      if (left-- > 0) throw new Error('lost')
      sent.push(payloads.flatMap((payload) => parseNotifyPayload(payload)?.notifications ?? []))
      await untilSent()
    },
    onError: (error) => errors.push(error),
  })
  return { sender, sent, errors }
}

it('sends changes of one moment together, and the newest of each thread only', async () => {
  const { sender, sent } = createFixture()
  sender.send([notification('a', 1), notification('b', 1)])
  sender.send([notification('a', 2)])
  await Promise.resolve()
  sender.send([notification('a', 3)])
  await sender.settle()
  expect(sent).toEqual([[notification('a', 3), notification('b', 1)]])
})

it('does not lose a stop behind a later change', async () => {
  const { sender, sent } = createFixture()
  sender.send([notification('a', 1, { stop: true })])
  sender.send([notification('a', 2)])
  await sender.settle()
  expect(sent).toEqual([[notification('a', 2, { stop: true })]])
})

it('[OP6] does not lose a deletion behind the thread that is created again', async () => {
  const { sender, sent } = createFixture()
  const deleted = notification('a', 0, { incarnation: 'first' })
  sender.send([notification('a', 7)])
  sender.send([deleted])
  sender.send([notification('a', 1)])
  await sender.settle()
  expect(sent).toEqual([[deleted, notification('a', 1)]])
})

it('sends changes that arrive while it sends', async () => {
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const { sender, sent } = createFixture(0, () => {
    begun.resolve()
    return goOn.promise
  })
  sender.send([notification('a', 1)])
  await begun.promise
  sender.send([notification('a', 2)])
  goOn.resolve()
  await sender.settle()
  expect(sent).toEqual([[notification('a', 1)], [notification('a', 2)]])
})

it('tries again on another connection, and gives up without harm', async () => {
  const twice = createFixture(2)
  twice.sender.send([notification('a', 1)])
  await twice.sender.settle()
  expect(twice).toMatchObject({ sent: [[notification('a', 1)]], errors: [] })

  const always = createFixture(Number.POSITIVE_INFINITY)
  always.sender.send([notification('a', 1)])
  await always.sender.settle()
  expect(always.sent).toEqual([])
  expect(always.errors).toHaveLength(1)
})

it('encodes and decodes notifications, in payloads that PostgreSQL accepts', () => {
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

it('sends no payload without a notification', () => {
  expect([...toNotifyPayloads('me', [])]).toEqual([])
})

it.each(['', 'null', '{}', '[]', '["me"]', '[1, []]', '["me", {}]'])(
  'takes %j for nobody of ours',
  (payload) => {
    expect(parseNotifyPayload(payload)).toBeUndefined()
  },
)
