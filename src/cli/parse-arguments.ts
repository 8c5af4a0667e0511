import { parseArgs, type ParseArgsConfig } from 'node:util'
import { nearestName } from '../core/check-options.ts'
import { CliError } from './cli-error.ts'

type Options = NonNullable<ParseArgsConfig['options']>
type Values<Chosen extends Options> = ReturnType<typeof parse<Chosen>>['values']

export interface Arguments<Chosen extends Options> {
  readonly values: Values<Chosen>
  readonly positionals: readonly string[]
}

const parse = <Chosen extends Options>(args: readonly string[], options: Chosen) =>
  parseArgs({ args: [...args], options, allowPositionals: true, strict: true })

/** The options of a command; an unknown option is an error that names the help. */
export function parseArguments<Chosen extends Options>(
  command: string,
  args: readonly string[],
  options: Chosen,
): Arguments<Chosen> {
  try {
    return parse(args, options)
  } catch (error) {
    const [what = ''] = (error as Error).message.split('. ')
    throw new CliError(
      `${what.replace(/\.$/, '')}.${hintOf(what, Object.keys(options))} Run \`holdfast ${command} --help\` for its options.`,
    )
  }
}

/** A suggestion for a misspelled option. */
function hintOf(problem: string, known: readonly string[]): string {
  const [, name] = /^Unknown option '--([^'=]+)/.exec(problem) ?? []
  const nearest = name === undefined ? undefined : nearestName(name, known)
  return nearest === undefined ? '' : ` Did you mean "--${nearest}"?`
}

/** A positional argument that a command does not use was most likely meant for an option: it must not be ignored. */
export function refusePositionals(
  command: string,
  positionals: readonly string[],
  hint: string,
): void {
  const [word] = positionals
  if (word === undefined) return
  throw new CliError(
    `\`holdfast ${command}\` has no use for "${word}". ${hint} Run \`holdfast ${command} --help\` for its options.`,
  )
}

export function parseChoice<Word extends string>(
  name: string,
  value: string | undefined,
  words: readonly Word[],
): Word | undefined {
  if (value === undefined) return undefined
  const word = words.find((known) => known === value)
  if (word === undefined)
    throw new CliError(`${name} is one of ${words.join(', ')}, not "${value}".`)
  return word
}

export function parseNumber(
  name: string,
  value: string | undefined,
  least: number,
  most: number,
): number | undefined {
  if (value === undefined || value === '') return undefined
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN
  if (!(number >= least && number <= most)) {
    throw new CliError(`${name} is a whole number from ${least} to ${most}, not "${value}".`)
  }
  return number
}
