import { describeValue, unknownName } from '../core/check-options.ts'
import { HoldfastError } from '../core/holdfast-error.ts'

/**
 * Refuses what is no object, and a field that is not one of these: a misspelled one would otherwise be passed over in
 * silence, and with it whose thread it has to be (CF1).
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

/** Of every member of a union. */
type NameOf<Given> = Given extends unknown ? keyof Given & string : never

/** Refuses a value that is none of these words; absent is left to whoever asks. */
export function checkWord(name: string, value: unknown, words: readonly string[]): void {
  if (words.some((word) => word === value)) return
  throw bad(`"${name}" is ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`)
}

/** Refuses a list that is none. */
export function checkList(what: string, value: unknown): void {
  if (!Array.isArray(value)) throw bad(`${what} a list.`)
}

/** Who says something is stored with it for good. */
export function checkBy(by: unknown): void {
  if (typeof by !== 'string' || by === '') throw bad('"by" says who it is: a text, not empty.')
}

export const bad = (message: string): HoldfastError => new HoldfastError('bad-request', message)
