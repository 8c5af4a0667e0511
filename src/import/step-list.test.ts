import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { OldPart, OldStep } from './old-message.ts'
import { createStepList } from './step-list.ts'
import { hasCall, squeeze, textOfStep } from './steps.ts'

/** What `add` does, by comparing a step with every other. */
function addBySearch(steps: OldStep[], step: OldStep): void {
  const text = squeeze(textOfStep(step))
  const find = (fits: (known: string) => boolean) =>
    steps.findIndex(
      (other) => text !== '' && other.at === step.at && fits(squeeze(textOfStep(other))),
    )
  const equal = find((known) => known === text)
  const same = equal < 0 ? find((known) => known.startsWith(text) || text.startsWith(known)) : equal
  const found = steps[same]
  const isKept = ({ type }: OldPart) => type === 'call' || type === 'steering'
  if (found === undefined) {
    const at = steps.findIndex((other) => comesBefore(step, other))
    if (step.parts.length > 0) steps.splice(at < 0 ? steps.length : at, 0, step)
  } else if (text.length > squeeze(textOfStep(found)).length) {
    steps[same] = { ...step, parts: [...step.parts, ...found.parts.filter(isKept)] }
  } else {
    const { flaw, ...whole } = found
    const base = flaw === 'broken' && step.flaw === undefined ? whole : found
    steps[same] = { ...base, parts: [...base.parts, ...step.parts.filter(isKept)] }
  }
}

function comesBefore(step: OldStep, other: OldStep): boolean {
  if (step.at === undefined || other.at === undefined) return false
  return step.at < other.at || (step.at === other.at && hasCall(step) && !hasCall(other))
}

const input = { kind: 'complete', value: {} } as const
const part = fc.oneof(
  fc
    .constantFrom('a', 'ab', 'abc', 'b', 'a b', ' ', 'ba')
    .map((text): OldPart => ({ type: 'text', text })),
  fc.constant<OldPart>({ type: 'call', name: 'f', input, outcome: 'open' }),
  fc.constant<OldPart>({ type: 'steering', id: 's', parts: [] }),
  fc.constant<OldPart>({ type: 'data', name: 'd', data: 1 }),
)
const step = fc.record(
  {
    parts: fc.array(part, { maxLength: 3 }),
    at: fc.integer({ min: 1, max: 4 }),
    flaw: fc.constantFrom('draft' as const, 'broken' as const),
  },
  { requiredKeys: ['parts'] },
)

it('[LE8] steps are found and placed as if each were compared with every other', () => {
  let changed = 0
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 12 }),
      fc.array(step, { maxLength: 12 }),
      (old, more) => {
        const expected: OldStep[] = [...old]
        const list = createStepList(old)
        for (const one of more) {
          addBySearch(expected, one)
          list.add(one)
        }
        expect(list.steps()).toEqual(expected)
        if (expected.length !== old.length + more.length) changed++
      },
    ),
    { numRuns: 1_000, seed: 7 },
  )
  expect(changed).toBeGreaterThan(100)
})

it('[LE8] their order holds where there is no number left between two of them', () => {
  const at = (date: number, text: string): OldStep => ({
    at: date,
    parts: [{ type: 'text', text }],
  })
  const list = createStepList([at(0, 'first'), at(1_000, 'last')])
  const texts = Array.from({ length: 200 }, (_, nth) => `x${nth}y`)
  for (const [nth, text] of texts.entries()) list.add(at(nth + 1, text))
  expect(list.steps().map(textOfStep)).toEqual(['first', ...texts, 'last'])
})
