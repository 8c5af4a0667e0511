import { HoldfastError } from './holdfast-error.ts'

/**
 * What one option accepts. A test compares the guide of all options with these rules, so `range` is also the
 * guide's text.
 */
export interface OptionRule {
  /** What a valid value is: the end of the sentence "… must be". */
  readonly range: string
  readonly fits: (value: unknown) => boolean
  /** The default, as the guide prints it. Absent: the option is required. */
  readonly default?: string
}

/** A rule for each option and for no other: adding an option without one does not compile. */
export type OptionTable<Options> = { readonly [Name in keyof Options]-?: OptionRule }

/** Names of the same options in other libraries, and their names here. */
type OtherNames = Readonly<Record<string, string>>

/**
 * Throws on options with an unknown name or a value out of range, before anything is built from them: a limit of 0 or NaN
 * would otherwise surface much later, as a loop that never ends or never begins. `undefined` counts as absent. The error
 * names the option, its value and its range.
 *
 * @param where the function that the options were passed to, as the error prints it: `createHoldfast`, `sqlite`.
 */
export function checkOptions<Options extends object>(
  where: string,
  options: Options,
  table: OptionTable<Options>,
  otherNames: OtherNames = {},
): void {
  const given: unknown = options
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw badOption(`${where} takes an object of options, not ${describeValue(given)}.`)
  }
  const rules = table as Readonly<Record<string, OptionRule>>
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(rules, name)) {
      throw badOption(unknownName(where, name, Object.keys(rules), otherNames))
    }
  }
  for (const [name, rule] of Object.entries(rules)) {
    const value = (given as Readonly<Record<string, unknown>>)[name]
    if (value === undefined && rule.default !== undefined) continue
    if (!rule.fits(value)) {
      throw badOption(
        value === undefined
          ? `${where} needs the option "${name}": ${rule.range}.`
          : `${where}: the option "${name}" must be ${rule.range}, not ${describeWrong(name, value, rule)}.`,
      )
    }
  }
}

/** "A list" says nothing where a list is expected: the entry that is wrong is named. */
function describeWrong(name: string, value: unknown, { range, fits }: OptionRule): string {
  if (!Array.isArray(value) || !/\blist\b/.test(range)) return describeValue(value)
  if (value.length === 0) return 'an empty list'
  const index = value.findIndex((entry) => !fits([entry]))
  if (index < 0) return 'a list'
  return `a list in which ${name}[${index}] is ${describeValue(value[index])}`
}

export const badOption = (message: string): HoldfastError =>
  new HoldfastError('bad-option', message)

/** The longest delay that a timer accepts: with a longer one it fires at once. */
export const longestTimerMs = 2_147_483_647

export function wholeNumber(from: number, to: number, byDefault?: string): OptionRule {
  const range = `a whole number from ${grouped(from)} to ${grouped(to)}`
  const fits = (value: unknown) =>
    Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to
  return withDefault({ range, fits }, byDefault)
}

export function milliseconds(from: number, to: number, byDefault?: string): OptionRule {
  const { range, fits } = wholeNumber(from, to)
  return withDefault({ range: range.replace('number', 'number of milliseconds'), fits }, byDefault)
}

export function oneOfWords(words: readonly string[], byDefault?: string): OptionRule {
  const range = words.map((word) => `"${word}"`).join(' or ')
  return withDefault({ range, fits: (value) => words.includes(value as string) }, byDefault)
}

export const text = (byDefault?: string): OptionRule =>
  withDefault(
    {
      range: 'a string that is not empty',
      fits: (value) => typeof value === 'string' && value !== '',
    },
    byDefault,
  )

export const flag = (byDefault?: string): OptionRule =>
  withDefault({ range: 'true or false', fits: (value) => typeof value === 'boolean' }, byDefault)

export const callback = (byDefault?: string): OptionRule =>
  withDefault({ range: 'a function', fits: (value) => typeof value === 'function' }, byDefault)

/** An object that has these methods. */
export function having(what: string, methods: readonly string[], byDefault?: string): OptionRule {
  const fits = (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    methods.every(
      (name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function',
    )
  return withDefault({ range: what, fits }, byDefault)
}

/** An object whose content is checked on its own. */
export const record = (what: string, byDefault?: string): OptionRule =>
  withDefault(
    {
      range: what,
      fits: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    },
    byDefault,
  )

/** A value as an error message prints it: short, and without its content where that may be a secret. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length <= 60 ? value : `${value.slice(0, 60)}…`)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'function') return 'a function'
  return typeof value === 'bigint' ? `${value}n` : String(value)
}

/** The one of these that a name was probably meant to be. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let least = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) {
      best = candidate
      least = distance
    }
  }
  return best
}

/** The error text for an unknown name: with the name that was probably meant, or else with all that exist. */
export function unknownName(
  where: string,
  name: string,
  known: readonly string[],
  otherNames: OtherNames = {},
): string {
  const meant = Object.hasOwn(otherNames, name) ? otherNames[name] : nearestName(name, known)
  const hint =
    meant === undefined ? `Its options are ${known.join(', ')}.` : `Did you mean "${meant}"?`
  return `${where} has no option "${name}". ${hint}`
}

const withDefault = (rule: OptionRule, byDefault: string | undefined): OptionRule =>
  byDefault === undefined ? rule : { ...rule, default: byDefault }

const grouped = (value: number): string =>
  Number.isInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, ',') : String(value)

/** Levenshtein; names are short. */
function editDistance(left: string, right: string): number {
  let above = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const line = [row]
    for (let column = 1; column <= right.length; column++) {
      const change = left[row - 1] === right[column - 1] ? 0 : 1
      line.push(
        Math.min(
          (above[column] as number) + 1,
          (line[column - 1] as number) + 1,
          (above[column - 1] as number) + change,
        ),
      )
    }
    above = line
  }
  return above[right.length] as number
}
