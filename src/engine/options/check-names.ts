import { describeValue, unknownName } from '../../core/check-options.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'

/**
 * Refuses a value that is no object, and unknown fields: a misspelled field would otherwise be ignored silently, and
 * with it an owner check, for example (CF1).
 */
export function checkNames<Given extends object>(
  where: string,
  given: Given,
  names: readonly NameOf<Given>[],
): void {
  const value: unknown = given
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad(`${where} takes an object, not ${describeValue(value)}.`)
  }
  const known: readonly string[] = names
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) throw bad(unknownName(where, name, known))
  }
}

/** The field names of every member of a union. */
type NameOf<Given> = Given extends unknown ? keyof Given & string : never

/** Refuses a value that is none of these words; an absent one is left to the caller. */
export function checkWord(name: string, value: unknown, words: readonly string[]): void {
  if (words.some((word) => word === value)) return
  throw bad(`"${name}" is ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`)
}

/** Refuses a value that is not a list. */
export function checkList(what: string, value: unknown): void {
  if (!Array.isArray(value)) throw bad(`${what} a list.`)
}

/** The id of the person is stored permanently, so it must not be empty. */
export function checkBy(by: unknown): void {
  if (typeof by !== 'string' || by === '')
    throw bad('"by" must be a non-empty string: the person who acts.')
}

export const bad = (message: string): HoldfastError => new HoldfastError('bad-request', message)
