import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runToEnd } from '../core/pausable-work.ts'
import { sameJson } from '../views/same-json.ts'
import { hasEnded, type OldCall } from './old-message.ts'
import { mergeRepeatedCalls } from './repeated-calls.ts'

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
