import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runToEnd } from '../core/pausable-work.ts'
import { containsText } from './contains-text.ts'

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
