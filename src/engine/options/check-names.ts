import { describeValue, unknownName } from '../../core/check-options.ts'
import { badRequestFault } from '../../core/holdfast-error.ts'
import { isJsonObject } from '../../core/json.ts'

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
  if (!isObject(value)) {
    throw badRequestFault(`${where} takes an object, not ${describeValue(value)}.`)
  }
  const known: readonly string[] = names
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) throw badRequestFault(unknownName(where, name, known))
  }
}

/** The field names of every member of a union. */
type NameOf<Given> = Given extends unknown ? keyof Given & string : never

/** Refuses a value that is none of these words; an absent one is left to the caller. */
export function checkWord(name: string, value: unknown, words: readonly string[]): void {
  if (words.some((word) => word === value)) return
  throw badRequestFault(`"${name}" is ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`)
}

/** Refuses a value that is not a list. */
export function checkList(what: string, value: unknown): void {
  if (!Array.isArray(value)) throw badRequestFault(`${what} a list.`)
}

/** The id of the person is stored permanently, so it must not be empty. */
export function checkBy(by: unknown): void {
  if (typeof by !== 'string' || by === '')
    throw badRequestFault('"by" must be a non-empty string: the person who acts.')
}

/** As `isJsonObject`, for what the host application's code gives: its fields may be anything. */
export const isObject: (value: unknown) => value is Readonly<Record<string, unknown>> = isJsonObject
