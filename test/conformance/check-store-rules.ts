import { describe, it } from 'vitest'
import { storeRules } from '../../src/testing/index.ts'
import type { StoreUnderTest } from './stores-under-test.ts'

/** Every rule of stores on one store. Each store has a test file of its own, so that several are tested at a time. */
export function checkStoreRules({ name, rules = /./, createFixture }: StoreUnderTest): void {
  describe(`the rules of stores on ${name}`, () => {
    for (const { id, claim, check } of storeRules.filter((rule) => rules.test(rule.id))) {
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
}
