import { checkOptions, type OptionRule } from '../core/check-options.ts'

const anything: OptionRule = { range: 'anything', fits: () => true, default: 'none' }

/** Refuses a field that is not one of these: a misspelled one would otherwise be passed over in silence (CF1). */
export function checkNames<Given extends object>(
  where: string,
  given: Given,
  names: readonly (keyof Given & string)[],
): void {
  const rules: Record<string, OptionRule> = Object.fromEntries(
    names.map((name) => [name, anything]),
  )
  checkOptions<Record<string, unknown>>(where, given as Record<string, unknown>, rules)
}
