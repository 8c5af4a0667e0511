import { describe, it } from 'vitest'
import { storeRules } from '../../src/testing/index.ts'
import { engines } from './engines.ts'

describe.each(engines)('the store rules', ({ name, createFixture }) => {
  it.each(storeRules)(`[$id] ${name}: $claim`, async ({ check }) => {
    const fixture = await createFixture()
    try {
      await check(fixture)
    } finally {
      await fixture.cleanUp()
    }
  })
})
