import { describe, it } from 'vitest'
import { storeRules } from '../../src/testing/index.ts'
import { storeVariants } from './stores-under-test.ts'

describe.each(storeVariants)(
  'the rules of stores on $name',
  ({ name, rules = /./, createFixture }) => {
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
  },
)
