import { expect, it } from 'vitest'
import type { MessagePart } from './old-message.ts'
import { addListedCalls, toSteps } from './steps.ts'

/** Calls that count how often they are looked at. */
function countedCalls(count: number) {
  const looks = { count: 0 }
  const calls = Array.from({ length: count }, (_, nth) => ({
    get type() {
      looks.count++
      return 'call' as const
    },
    get id() {
      looks.count++
      return `c${nth}`
    },
    name: 'look_up',
    input: { kind: 'complete', value: {} } as const,
    outcome: 'none' as const,
  }))
  return { looks, calls: calls as unknown as readonly Extract<MessagePart, { type: 'call' }>[] }
}

it.each(['loose', 'exact'] as const)(
  '[OP7] the work for a turn grows with its calls, not with their square (%s)',
  (rule) => {
    const { looks, calls } = countedCalls(5_000)
    expect(toSteps(calls, rule)).toHaveLength(1)
    expect(looks.count).toBeLessThan(20 * 5_000)
  },
)

it('[OP7] so does the work for calls that are listed beside the parts', () => {
  const { looks, calls } = countedCalls(5_000)
  expect(addListedCalls([{ parts: calls }], calls.toReversed())[0]?.parts).toHaveLength(5_000)
  expect(looks.count).toBeLessThan(20 * 5_000)
})
