import { expect, it } from 'vitest'
import { turnsDuring } from '../../test/support/turns-during.ts'
import { parseCallId, parseThreadId } from '../core/ids.ts'
import { readOutputs } from './large-outputs.ts'

it('[OP7b] results that one statement reads are parsed one by one, and others have their turn between them', async () => {
  const ids = ['a', 'b', 'c'].map((id) => parseCallId(id))
  const row = { output: '[1]', modelOutput: null }
  const { turns, result: outputs } = await turnsDuring(() =>
    readOutputs(
      parseThreadId('t'),
      ids,
      { outputOf: () => ({ outputBytes: 3 }) },
      { readOutputs: async (_, portion) => new Map(portion.map((id) => [id, row])) },
    ),
  )
  expect([...outputs.values()].map(({ value }) => value)).toEqual([[1], [1], [1]])
  expect(turns).toBe(3)
})
