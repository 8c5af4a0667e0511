import { expect, it } from 'vitest'
import { englishStrings } from './english-strings.ts'

it('says what was kept before the number of an error', () => {
  const failed = (message: string) =>
    englishStrings.ending({ kind: 'failed', error: { code: 'provider-down', message } })
  expect(failed('The provider has a problem. (error 84cb2d9e.1)')).toBe(
    'The provider has a problem. Everything above is saved. (error 84cb2d9e.1)',
  )
  expect(failed('It broke (as ever).')).toBe('It broke (as ever). Everything above is saved.')
})
