import { describe, it } from 'vitest'
import { storeRules } from '../../src/testing/index.ts'
import { engineVariants } from './engines.ts'

describe.each(engineVariants)('the rules of stores on $name', ({ name, createFixture }) => {
  for (const { id, claim, check } of storeRules) {
    it(`[${id}] ${name}: ${claim}`, async () => {
      const fixture = await createFixture()
      try {
        await check(fixture)
      } finally {
        await fixture.cleanUp()
      }
    })
  }
})
