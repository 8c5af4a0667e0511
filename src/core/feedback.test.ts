import { expect, it } from 'vitest'
import { foldFeedback, splitFeedback } from './feedback.ts'

const ana = { by: 'ana', rating: 'up', at: 1 } as const
const ben = { by: 'ben', rating: 'down', comment: 'no', at: 2 } as const

it('[FK4] keeps the last feedback of each person', () => {
  const both = foldFeedback(foldFeedback(undefined, ana), ben)
  expect(both).toEqual([ana, ben])
  const changed = foldFeedback(both, { ...ana, rating: 'down', at: 3 })
  expect(changed).toEqual([ben, { ...ana, rating: 'down', at: 3 }])
  expect(foldFeedback(changed, { by: 'ana', rating: null, at: 4 })).toEqual([ben])
  expect(foldFeedback([ben], { by: 'ben', rating: null, at: 5 })).toBeUndefined()
})

it('[FK4] parses the feedback that a view wrote, and leaves what is the host’s own', () => {
  const date = '2026-01-02T03:04:05.006Z'
  const shown = { by: 'ana', rating: 'up', at: date }
  const read = { by: 'ana', rating: 'up', at: Date.parse(date) }
  expect(splitFeedback({ feedback: [shown], own: 1 })).toEqual({
    ...{ metadata: { own: 1 }, feedback: [read] },
  })
  expect(splitFeedback({ feedback: [shown] })).toEqual({ metadata: undefined, feedback: [read] })
  for (const own of [
    ...['good', [1], [{ ...shown, rating: 'good' }], [{ ...shown, at: 'now' }]],
    ...[[{ ...shown, by: '' }], [shown, null]],
  ]) {
    const metadata = { feedback: own }
    expect(splitFeedback(metadata)).toEqual({ metadata, feedback: undefined })
  }
  const long = splitFeedback({ feedback: [{ ...shown, comment: 'x'.repeat(3_000) }] })
  expect(long.feedback?.[0]?.comment).toHaveLength(2_000)
})
