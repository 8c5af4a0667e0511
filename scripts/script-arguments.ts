import { parseArgs, type ParseArgsConfig } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>

interface ScriptArguments<Chosen extends Options> {
  /** What --help prints: how it is called, a blank line, what it does. */
  readonly usage: string
  readonly options?: Chosen
  /** How many words without a dash it takes. @default 0 */
  readonly words?: number
}

const parse = <Chosen extends Options>(options: Chosen, args: readonly string[]) =>
  parseArgs({ args: [...args], options, allowPositionals: true, strict: true })

/**
 * What a script was called with. `--help` prints the usage and ends the process; so does, with exit code
 * 2, what the script does not know: nothing is done by a call that was not understood.
 */
export function parseScriptArguments<const Chosen extends Options>({
  usage,
  options,
  words = 0,
}: ScriptArguments<Chosen>): ReturnType<typeof parse<Chosen>> {
  const args = process.argv.slice(2)
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usage)
    process.exit(0)
  }
  try {
    const parsed = parse(options ?? ({} as Chosen), args)
    const tooMuch = parsed.positionals[words]
    if (tooMuch !== undefined) throw new Error(`Unexpected argument '${tooMuch}'`)
    return parsed
  } catch (error) {
    // The rest of Node's message is about words that begin with a dash.
    const [reason = ''] = (error as Error).message.split('. ')
    refuseArguments(`${reason}.`, usage)
  }
}

/** For values that a script itself finds wrong. */
export function refuseArguments(reason: string, usage: string): never {
  console.error(`${reason}\n\n${usage}`)
  process.exit(2)
}
