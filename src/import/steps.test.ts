import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hasEnded, type MessagePart, type OldCall } from './old-message.ts'
import { addListedCalls, containsText, mergeRepeatedCalls, toSteps } from './steps.ts'
import { runToEnd } from '../core/pausable-work.ts'
import { sameJson } from '../views/same-json.ts'

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

/** The same by comparing each call with those before it. */
function mergeBySearch(calls: readonly OldCall[]): readonly OldCall[] {
  const merged: OldCall[] = []
  for (const call of calls) {
    const at = merged.findIndex((other) => other.id === call.id && isSameCall(other, call))
    if (at < 0) merged.push(call)
    else if (hasEnded(call) || !hasEnded(merged[at] as OldCall)) merged[at] = call
  }
  return merged
}

function isSameCall(left: OldCall, right: OldCall): boolean {
  if (left.name !== right.name) return false
  if (!hasEnded(left)) return true
  return (
    left.input.kind !== right.input.kind ||
    (left.input.kind === 'complete' &&
      right.input.kind === 'complete' &&
      sameJson(left.input.value, right.input.value))
  )
}

const input = fc.constantFrom<OldCall['input']>(
  { kind: 'partial', text: '{"a' },
  { kind: 'complete', value: { a: 1, b: [2] } },
  { kind: 'complete', value: { b: [2], a: 1 } },
  { kind: 'complete', value: { a: 1, b: ['2'] } },
  { kind: 'complete', value: 'a' },
)
const outcome = fc.constantFrom<OldCall['outcome']>('open', { state: 'stopped', cause: 'stopped' })
const call = fc.record({
  ...{ type: fc.constant('call' as const), id: fc.constantFrom('c', 'd') },
  ...{ name: fc.constantFrom('f', 'g'), input, outcome, step: fc.nat() },
})

it('[CD5 CL2] calls are merged as if each were compared with every other', () => {
  fc.assert(
    fc.property(fc.array(call, { maxLength: 14 }), (calls) => {
      const mended: string[] = []
      const merged = runToEnd(mergeRepeatedCalls(calls, (what) => mended.push(what)))
      expect(merged).toEqual(mergeBySearch(calls))
      expect(mended).toHaveLength(calls.length - merged.length)
    }),
    { numRuns: 2_000, seed: 7 },
  )
})

it('[LE2] finds what `includes` finds', () => {
  const text = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b'), maxLength })
  let found = 0
  fc.assert(
    fc.property(text(30), text(6), (whole, part) => {
      expect(runToEnd(containsText(whole, part))).toBe(whole.includes(part))
      if (whole.includes(part)) found++
    }),
    { numRuns: 2_000, seed: 7 },
  )
  expect(found).toBeGreaterThan(100)
})
