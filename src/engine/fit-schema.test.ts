import { jsonSchema } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { systemClock } from './clock.ts'
import { fitSchema } from './fit-schema.ts'

const fit = (schema: Parameters<typeof fitSchema>[1]) =>
  fitSchema({ clock: systemClock, options: { agentTimeoutMs: 1_000 } }, schema, { tone: 7 })

it('[AP3] findings about a value are told, of zod and of any other Standard Schema', async () => {
  expect(await fit(z.object({ tone: z.literal('calm') }))).toEqual({
    kind: 'refused',
    message: 'tone: Invalid input: expected "calm"',
  })
  // The AI SDK has the findings as the cause of its own error.
  const issues = [
    { message: 'expected a text', path: ['look', { key: 'tone' }] },
    { message: 'no' },
  ]
  const jsonOf = { input: () => ({ type: 'object' }), output: () => ({}) }
  const own = {
    version: 1,
    vendor: 'own',
    validate: () => ({ issues }),
    jsonSchema: jsonOf,
  } as const
  expect(await fit({ '~standard': own })).toEqual({
    kind: 'refused',
    message: 'look.tone: expected a text; no',
  })
})

it('[HT6] an error that lists none may say anything, and is the host’s own', async () => {
  const error = new Error('10.0.0.7 refused')
  expect(await fit(jsonSchema({}, { validate: () => ({ success: false, error }) }))).toEqual({
    kind: 'failed',
    error,
  })
})
