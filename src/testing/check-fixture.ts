import { checkOptions, type OptionTable } from '../core/check-options.ts'

/**
 * The same rules, whose `check` rejects with the name of what its fixture lacks: otherwise a misspelled field surfaces
 * as a `TypeError` somewhere inside a rule, as if the store or the server had broken it. A fixture may have more than
 * a rule needs, such as a method that cleans up.
 */
export const withCheckedFixtures = <
  Fixture extends object,
  Rule extends { readonly check: (fixture: Fixture) => Promise<void> },
>(
  rules: readonly Rule[],
  describe: (rule: Rule) => { readonly where: string; readonly table: OptionTable<Fixture> },
): readonly Rule[] =>
  rules.map((rule) => ({
    ...rule,
    async check(fixture: Fixture) {
      const { where, table } = describe(rule)
      checkOptions(where, onlyKnown(fixture, table), table)
      await rule.check(fixture)
    },
  }))

function onlyKnown<Fixture extends object>(fixture: Fixture, table: OptionTable<Fixture>): Fixture {
  // What is no object is refused by the caller.
  if (typeof fixture !== 'object' || fixture === null) return fixture
  const names = Object.keys(table) as (keyof Fixture)[]
  return Object.fromEntries(names.map((name) => [name, fixture[name]])) as Fixture
}
