import { expect, it } from 'vitest'
import { parseThreadId } from '../../core/ids.ts'
import type { Hint } from '../store.ts'
import { parseHintPayload } from './hint-payload.ts'
import { createHintSender } from './hint-sender.ts'

const hint = (id: string, seq: number, more: { readonly stop?: true } = {}): Hint => ({
  threadId: parseThreadId(id),
  seq,
  ...more,
})

/** What was sent, one list for each notice; `send` fails as often as it is told to. */
function createFixture(failures = 0) {
  const sent: (readonly Hint[])[] = []
  const errors: unknown[] = []
  let left = failures
  const sender = createHintSender({
    from: 'me',
    notify: async (payloads) => {
      if (left-- > 0) throw new Error('lost')
      sent.push(payloads.flatMap((payload) => parseHintPayload(payload)?.hints ?? []))
    },
    onError: (error) => errors.push(error),
  })
  return { sender, sent, errors }
}

it('sends what comes in one moment together, and the newest of each thread only', async () => {
  const { sender, sent } = createFixture()
  sender.send([hint('a', 1), hint('b', 1)])
  sender.send([hint('a', 2)])
  await Promise.resolve()
  sender.send([hint('a', 3)])
  await sender.settle()
  expect(sent).toEqual([[hint('a', 3), hint('b', 1)]])
})

it('does not lose a stop behind a later change', async () => {
  const { sender, sent } = createFixture()
  sender.send([hint('a', 1, { stop: true })])
  sender.send([hint('a', 2)])
  await sender.settle()
  expect(sent).toEqual([[hint('a', 2, { stop: true })]])
})

it('sends what comes while it sends', async () => {
  const { sender, sent } = createFixture()
  sender.send([hint('a', 1)])
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  sender.send([hint('a', 2)])
  await sender.settle()
  expect(sent).toEqual([[hint('a', 1)], [hint('a', 2)]])
})

it('tries again on another connection, and gives up without harm', async () => {
  const twice = createFixture(2)
  twice.sender.send([hint('a', 1)])
  await twice.sender.settle()
  expect(twice).toMatchObject({ sent: [[hint('a', 1)]], errors: [] })

  const always = createFixture(Number.POSITIVE_INFINITY)
  always.sender.send([hint('a', 1)])
  await always.sender.settle()
  expect(always.sent).toEqual([])
  expect(always.errors).toHaveLength(1)
})
